"""A journal that was left behind is brought to a state from which its run can go on."""

import pytest

from dovetail.events.delta import Usage
from dovetail.events.model_events import (
    ModelResponseEvent,
    ReasoningDeltaEvent,
    ReasoningStart,
    TextDeltaEvent,
    TextStart,
    ToolInputDeltaEvent,
    ToolInputEnd,
    ToolInputStart,
)
from dovetail.events.run_events import (
    Event,
    RunEnd,
    RunResume,
    RunStart,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnReset,
)
from dovetail.runs.journal import Journal
from dovetail.runs.recovery import repair

LEAP = 1000
ROOT = ("r",)
START = RunStart("master", "", 0, None)


def leave_behind(*events: Event, child: tuple[Event, ...] = ()) -> Journal:
    journal = Journal("r")
    for event in (START, *events):
        journal.append(event, ROOT)
    for event in child:
        journal.append(event, ("r", "child"))
    left = Journal("r")
    left.extend(journal.take_unsaved())
    return left


def added(journal: Journal, number: int) -> list[Event]:
    return [entry.event for entry in journal.after(number)]


@pytest.mark.parametrize(
    "spoken",
    [
        [TextStart("t"), TextDeltaEvent("t", "half a sent")],
        [ReasoningStart("r"), ReasoningDeltaEvent("r", "hm")],
        [ToolInputStart("c", "add"), ToolInputDeltaEvent("c", '{"a"')],
        [ToolInputStart("c", "add"), ToolInputEnd("c", "add", {"a": 1})],
    ],
)
def test_an_answer_that_broke_off_is_void(spoken: list[Event]) -> None:
    journal = leave_behind(*spoken)
    last = journal.last
    done = repair(journal, LEAP)
    assert added(journal, last) == [RunResume(last), TurnReset()]
    assert (done.messages, done.pending, done.has_partial) == ((), (), False)
    journal.close_calls()
    assert added(journal, last) == [RunResume(last), TurnReset()]


def test_no_number_is_given_twice_although_readers_saw_more_than_was_stored() -> None:
    journal = leave_behind(TextStart("t"))
    repair(journal, LEAP)
    assert [entry.number for entry in journal.after(0)] == [1, 2, LEAP + 1, LEAP + 2]


def test_a_turn_whose_calls_have_all_ended_is_over() -> None:
    call = (ToolInputEnd("c", "add", {"a": 1}), ToolStart("c", "read", "Add"), ToolEnd("c", "ok", "2"))
    journal = leave_behind(*call)
    last = journal.last
    done = repair(journal, LEAP)
    assert added(journal, last) == [RunResume(last), TurnEnd(1, Usage(), "tool-calls")]
    assert [message["role"] for message in done.messages] == ["assistant", "tool"]
    killed_again = leave_behind(*call, TurnEnd(1, Usage(), "tool-calls"), TextDeltaEvent("t", "half"))
    assert repair(killed_again, LEAP).messages == done.messages


def test_a_call_that_was_under_way_stays_open_for_the_one_who_knows_its_tool() -> None:
    journal = leave_behind(ToolInputEnd("c", "add", {"a": 1}), ToolStart("c", "read", "Add"))
    last = journal.last
    done = repair(journal, LEAP)
    assert added(journal, last) == [RunResume(last)]
    assert [call.call_id for call in done.pending] == ["c"]
    assert done.started == {"c"}


def test_children_end_with_everything_they_had_open() -> None:
    call = (ToolInputEnd("c", "helper", {}), ToolStart("c", "think", "Helper"))
    journal = leave_behind(*call, child=(START, ToolInputEnd("x", "note", {})))
    last = journal.last
    repair(journal, LEAP)
    entries = journal.after(last)
    assert [entry.path for entry in entries] == [ROOT, ("r", "child"), ("r", "child")]
    ended, over = entries[1].event, entries[2].event
    assert isinstance(ended, ToolEnd)
    assert (ended.call_id, ended.status) == ("x", "interrupted")
    assert over == RunEnd("interrupted")
    assert not journal.closed


def test_what_an_answer_has_used_is_told_although_its_turn_broke_off() -> None:
    answer = (ToolInputEnd("c", "add", {"a": 1}), ModelResponseEvent(1, Usage(10, 5)))
    done = repair(leave_behind(*answer), LEAP)
    assert [call.call_id for call in done.pending] == ["c"]
    assert (done.open_usage, done.spent.usage, done.spent.turns) == (Usage(10, 5), Usage(10, 5), 1)
    journal = leave_behind(*answer, ToolEnd("c", "ok", "2"))
    done = repair(journal, LEAP)
    assert added(journal, LEAP + 1) == [TurnEnd(1, Usage(10, 5), "tool-calls")]
    assert (done.open_usage, done.spent.usage, done.spent.turns) == (Usage(), Usage(10, 5), 1)
