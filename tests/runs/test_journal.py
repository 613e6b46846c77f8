"""Numbers, stretches of deltas and reading from any number on."""

import time

import pytest

from dovetail.events.model_events import TextDeltaEvent, TextEnd, TextStart, ToolInputEnd
from dovetail.events.run_events import (
    AskAnswer,
    AskRequest,
    ChildEvent,
    Event,
    RunEnd,
    RunStart,
    ToolEnd,
    ToolStart,
)
from dovetail.runs.journal import Block, Journal
from dovetail.runs.rows import decode_block, encode_block

ROOT = ("r",)
STORY: list[Event] = [
    TextStart("t"),
    TextDeltaEvent("t", "one "),
    TextDeltaEvent("t", ""),
    TextDeltaEvent("t", "two "),
    TextDeltaEvent("u", "other"),
    TextDeltaEvent("t", "three"),
    TextEnd("t"),
    RunEnd("goal"),
]


def write(events: list[Event], journal: Journal | None = None) -> Journal:
    journal = journal or Journal("r")
    for event in events:
        journal.append(event, ROOT)
    return journal


def text_of(journal: Journal, after: int = 0) -> str:
    return "".join(
        entry.event.delta for entry in journal.after(after) if isinstance(entry.event, TextDeltaEvent)
    )


def test_deltas_of_one_text_are_one_stretch_and_keep_the_last_number() -> None:
    entries = write(STORY).after(0)
    assert [(entry.number, entry.event) for entry in entries] == [
        (1, TextStart("t")),
        (4, TextDeltaEvent("t", "one two ")),
        (5, TextDeltaEvent("u", "other")),
        (6, TextDeltaEvent("t", "three")),
        (7, TextEnd("t")),
        (8, RunEnd("goal")),
    ]


@pytest.mark.parametrize("after", range(len(STORY) + 1))
@pytest.mark.parametrize("cut", range(1, len(STORY)))
def test_reading_on_from_any_number_returns_exactly_the_rest(after: int, cut: int) -> None:
    journal = write(STORY[:cut])
    blocks = journal.take_unsaved()
    journal.mark_saved(blocks[-1].last)
    write(STORY[cut:], journal)
    wanted = "".join(event.delta for event in STORY[after:] if isinstance(event, TextDeltaEvent))
    assert text_of(journal, after) == wanted
    numbers = [entry.number for entry in journal.after(after)]
    assert numbers == sorted(set(numbers))
    assert (numbers[-1] if numbers else len(STORY)) == len(STORY)


@pytest.mark.parametrize("after", range(len(STORY) + 1))
def test_stored_blocks_read_the_same(after: int) -> None:
    journal = write(STORY)
    rows = [encode_block(block) for block in journal.take_unsaved()]
    copy = Journal("r")
    copy.extend(decode_block(row) for row in rows)
    assert copy.closed
    assert copy.last == journal.last
    assert copy.after(after) == journal.after(after)


def test_only_what_is_stored_leaves_memory() -> None:
    journal = Journal("r", memory_limit=2000)
    for number in range(50):
        journal.append(TextDeltaEvent(f"t{number}", "x" * 100), ROOT)
    assert (journal.dropped, len(journal.after(0))) == (0, 50)
    journal.take_unsaved()
    journal.mark_saved(40)
    assert 30 < journal.dropped < 40
    assert [entry.number for entry in journal.after(journal.dropped)][-1] == 50


def test_nothing_comes_after_the_end() -> None:
    journal = write([RunEnd("goal"), TextDeltaEvent("t", "late")])
    assert [entry.event for entry in journal.after(0)] == [RunEnd("goal")]


def test_the_end_is_seen_once_it_is_stored() -> None:
    journal = write([TextDeltaEvent("t", "one")])
    journal.end(RunEnd("goal"))
    journal.append(TextDeltaEvent("t", "late"), ROOT)
    assert ([entry.number for entry in journal.after(0)], journal.closed) == ([1], False)
    assert [block.last for block in journal.take_unsaved()] == [1, 2]
    journal.mark_saved(2)
    assert (journal.after(1)[0].event, journal.closed) == (RunEnd("goal"), True)


def test_the_end_of_a_run_that_was_left_is_seen_only_if_it_is_stored_all_the_same() -> None:
    journal = write([TextDeltaEvent("t", "one")])
    journal.end(RunEnd("goal"))
    journal.freeze()
    assert (journal.after(1), journal.closed) == ([], False)
    assert [block.last for block in journal.take_unsaved()] == [1, 2]
    journal.mark_saved(2)
    assert (journal.after(1)[0].event, journal.closed) == (RunEnd("goal"), True)


def test_the_end_of_a_child_is_not_the_end() -> None:
    journal = Journal("r")
    journal.append(RunEnd("goal"), ("r", "child"))
    assert not journal.closed


def test_an_event_of_a_child_is_kept_under_its_path() -> None:
    journal = write(
        [ChildEvent("c", ChildEvent("d", TextDeltaEvent("t", "deep"))), TextDeltaEvent("t", "flat")]
    )
    assert [(entry.path, entry.event) for entry in journal.after(0)] == [
        (("r", "c", "d"), TextDeltaEvent("t", "deep")),
        (ROOT, TextDeltaEvent("t", "flat")),
    ]


def test_a_call_has_one_result_and_an_open_call_gets_one() -> None:
    journal = write([ToolInputEnd("c", "add", {}), ToolInputEnd("d", "add", {}), ToolEnd("c", "ok", 1)])
    journal.append(ToolEnd("c", "error", 2), ROOT)
    journal.append(ToolInputEnd("c", "add", {}), ("r", "child"))
    journal.close_calls()
    ends = [entry for entry in journal.after(0) if isinstance(entry.event, ToolEnd)]
    assert [(entry.path, entry.event.call_id, entry.event.status) for entry in ends] == [
        (ROOT, "c", "ok"),
        (("r", "child"), "c", "interrupted"),
        (ROOT, "d", "interrupted"),
    ]


def test_a_block_keeps_half_a_surrogate_pair() -> None:
    journal = write([TextDeltaEvent("t", "\ud83d"), TextDeltaEvent("t", "\ude00")])
    (block,) = journal.take_unsaved()
    assert isinstance(block, Block)
    assert decode_block(encode_block(block)).entry("r", 1).event == TextDeltaEvent("t", "\ude00")


def test_a_question_and_its_answer_are_recorded_once_although_both_are_repeated_after_a_crash() -> None:
    journal = Journal("r")
    question, answer = AskRequest("a", "approval", "c", {}), AskAnswer("a", {"approved": True})
    for event in (question, answer, question, answer):
        journal.append(event, ROOT)
    assert [entry.event for entry in journal.after(0)] == [question, answer]


def test_calls_that_only_waited_end_as_not_started() -> None:
    journal = Journal("r")
    journal.append(ToolInputEnd("c1", "add", {}), ("r",))
    journal.append(ToolInputEnd("c2", "add", {}), ("r",))
    journal.append(ToolStart("c1", "write", "Add"), ("r",))
    last = journal.last
    journal.close_calls()
    errors = [entry.event.error for entry in journal.after(last) if isinstance(entry.event, ToolEnd)]
    assert [error and error["type"] for error in errors] == ["interrupted", "not_started"]
    assert "not known" in str(errors[0])
    assert "had no effect" in str(errors[1])


def test_children_to_be_kept_stay_open_with_all_below_them() -> None:
    journal = Journal("r")
    start = RunStart("a", "", 0, None)
    for path in (("r", "a"), ("r", "a", "x"), ("r", "b"), ("r", "b", "y")):
        journal.append(start, path)
    last = journal.last
    journal.close_children(("r",), keep={"a"})
    assert [entry.path for entry in journal.after(last)] == [("r", "b", "y"), ("r", "b")]
    assert journal.open_runs == [("r",), ("r", "a"), ("r", "a", "x")]
    assert journal.is_over(("r", "b"), "c")
    assert not journal.is_over(("r", "a"), "c")


@pytest.mark.parametrize("jump", [86_400.0, -86_400.0])
def test_a_clock_that_is_set_while_a_run_works_does_not_change_how_long_it_worked(
    monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    now, journal = time.time, Journal("r")
    journal.append(RunStart("a", "", 0, None), ROOT)
    monkeypatch.setattr(time, "time", lambda: now() + jump)
    journal.append(ToolInputEnd("c", "add", {}), ROOT)
    journal.append(TextStart("t"), ROOT)
    journal.append(TextDeltaEvent("t", "x"), ROOT)
    times = [entry.time for entry in journal.after(0)]
    assert times == sorted(times)
    assert times[-1] - times[0] < 3600
