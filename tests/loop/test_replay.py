"""The state and the usage of a run, read from its journal after a crash."""

import pytest

from dovetail.events.call import ToolCall
from dovetail.events.delta import Usage
from dovetail.events.model_events import (
    ModelRequestEvent,
    ModelResponseEvent,
    ProviderPartEvent,
    TextDeltaEvent,
    ToolInputEnd,
)
from dovetail.events.run_events import (
    AskAnswer,
    AskKind,
    AskRequest,
    Entry,
    Event,
    RunEnd,
    RunResume,
    RunStart,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnReset,
    UserMessage,
)
from dovetail.loop.budget import Spent
from dovetail.loop.replay import Replay, replay

ADD = ToolInputEnd("c1", "add", {"a": 1})
FIND = ToolInputEnd("c2", "find", "not json")
MESSAGE = {
    "role": "assistant",
    "content": "let me see",
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}},
        {"id": "c2", "type": "function", "function": {"name": "find", "arguments": "not json"}},
    ],
}


def fold(*events: Event) -> Replay:
    entries = [Entry(number, "r", ("r",), 0.0, event) for number, event in enumerate(events, start=1)]
    child = Entry(99, "r", ("r", "child"), 0.0, TextDeltaEvent("t", "the child's"))
    return replay([*entries, child], ("r",))


def test_parts_for_the_provider_come_back_with_their_message_and_not_with_a_later_one() -> None:
    part = ProviderPartEvent("anthropic", {"signature": "s"}, 0, 0)
    done = fold(
        part,
        TextDeltaEvent("t", "let me see"),
        ADD,
        FIND,
        ToolEnd("c1", "ok", {"llm_content": "2", "data": 2}),
        ToolEnd("c2", "ok", {"llm_content": "3", "data": 3}),
        TurnEnd(1, Usage(), "tool-calls"),
        TextDeltaEvent("t", "It is 2."),
        TurnEnd(2, Usage(), "stop"),
    )
    stored = {"source": "anthropic", "data": {"signature": "s"}, "text": 0, "calls": 0}
    assert done.messages[0] == {**MESSAGE, "provider_parts": [stored]}
    assert "provider_parts" not in done.messages[-1]


def test_finished_turns_become_messages() -> None:
    done = fold(
        TextDeltaEvent("t", "let me "),
        TextDeltaEvent("t", "see"),
        ADD,
        FIND,
        ToolStart("c1", "read", "Add"),
        ToolEnd("c1", "ok", {"llm_content": "2", "data": 2}),
        ToolEnd("c2", "error", None, {"type": "x", "message": "no such thing"}),
        TurnEnd(1, Usage(5, 6), "tool-calls"),
        TextDeltaEvent("t", "It is 2."),
        TurnEnd(2, Usage(1, 1), "stop"),
    )
    assert done == Replay(
        messages=(
            MESSAGE,
            {"role": "tool", "tool_call_id": "c1", "content": "2"},
            {"role": "tool", "tool_call_id": "c2", "content": "no such thing"},
            {"role": "assistant", "content": "It is 2."},
        ),
        turns=2,
        text="It is 2.",
        spent=Spent(turns=2, calls=2, usage=Usage(6, 7)),
    )


def test_a_call_under_way_is_pending_and_a_finished_one_keeps_its_result() -> None:
    done = fold(
        TextDeltaEvent("t", "let me see"),
        ADD,
        FIND,
        ToolStart("c1", "read", "Add"),
        ToolEnd("c1", "ok", 2),
        ToolStart("c2", "read", "Find"),
    )
    assert done.messages == (MESSAGE, {"role": "tool", "tool_call_id": "c1", "content": "2"})
    assert done.pending == (ToolCall(call_id="c2", name="find", arguments="not json"),)
    assert done.started == {"c2"}
    assert not done.has_partial


def test_a_call_that_waits_for_an_approval_has_not_started() -> None:
    done = fold(ADD, AskRequest("a", "approval", "c1", {}))
    assert [call.call_id for call in done.pending] == ["c1"]
    assert done.started == frozenset()


def test_an_answer_that_broke_off_is_void() -> None:
    assert fold(TextDeltaEvent("t", "Once upon")) == Replay(has_partial=True)
    assert fold(TextDeltaEvent("t", "Once upon"), ADD) == Replay(has_partial=True)
    assert fold(TextDeltaEvent("t", "Once upon"), TurnReset()) == Replay(spent=Spent(calls=1))


def test_nothing_happened_yet() -> None:
    assert fold() == Replay()


ROOT, CHILD = ("r",), ("r", "child")
TOKENS = Usage(10, 5)


def count(*told: tuple[float, Event] | tuple[float, Event, tuple[str, ...]]) -> Spent:
    entries = [
        Entry(number, "r", rest[0] if rest else ROOT, time, event)
        for number, (time, event, *rest) in enumerate(told, start=1)
    ]
    return replay(entries, ROOT).spent


def ask(ask_id: str, kind: AskKind = "approval") -> AskRequest:
    return AskRequest(ask_id, kind, f"call of {ask_id}", {})


def test_tokens_of_children_count_too_and_their_turns_do_not() -> None:
    spent = count(
        (0, TurnEnd(1, TOKENS, "tool-calls")),
        (0, RunStart("helper", "m"), CHILD),
        (0, TurnEnd(1, TOKENS, "stop"), CHILD),
        (0, RunStart("deeper", "m"), (*CHILD, "below")),
    )
    assert spent == Spent(turns=1, calls=2, usage=Usage(20, 10), children=1, descendants=2)


def test_an_answer_whose_turn_has_not_ended_counts_once() -> None:
    answered = (0.0, ModelResponseEvent(1, TOKENS))
    assert count(answered) == Spent(turns=1, calls=1, usage=TOKENS)
    assert count(answered, (0, TurnEnd(1, TOKENS, "tool-calls"))) == Spent(turns=1, calls=1, usage=TOKENS)


def test_a_summary_is_not_a_turn_and_its_tokens_outlive_an_answer_that_is_void() -> None:
    summary = (0.0, ModelResponseEvent(1, TOKENS, "summary"))
    void = ((0.0, TextDeltaEvent("t", "half")), (0.0, TurnReset()))
    assert count(summary, *void) == Spent(calls=2, usage=TOKENS)
    end = TurnEnd(1, Usage(11, 6), "stop")  # it tells the summary's too
    assert count(summary, *void, (0, end)) == Spent(turns=1, calls=3, usage=Usage(11, 6))


def test_the_clock_stands_still_while_a_person_is_asked_and_the_run_is_dead() -> None:
    spent = count(
        (100, RunStart("master", "m")),
        (103, ask("a")),
        (110, ask("b")),
        (150, AskAnswer("a", {})),
        (160, AskAnswer("b", {})),
        (162, TextDeltaEvent("t", "on")),
        (900, RunResume(6)),
        (901, TextDeltaEvent("t", "on")),
    )
    assert spent.seconds == 3 + 2 + 1


@pytest.mark.parametrize(
    "end", [(110, ToolEnd("call of a", "interrupted", None), CHILD), (110, RunEnd("interrupted"), CHILD)]
)
def test_a_question_without_a_waiter_stops_no_clock(
    end: tuple[float, Event, tuple[str, ...]],
) -> None:
    assert count((100, ask("a"), CHILD), end, (115, TextDeltaEvent("t", "on"))).seconds == 5


def test_a_browser_uses_the_time_of_the_run_and_a_clock_set_back_adds_none() -> None:
    spent = count((100, ask("a", "browser")), (107, AskAnswer("a", {})), (20, TextDeltaEvent("t", "on")))
    assert spent.seconds == 7


def test_a_request_without_an_answer_counts_after_a_crash() -> None:
    asked = (0, ModelRequestEvent(1, "m", ()))
    assert count(asked).calls == 1
    assert count(asked, asked, asked).calls == 3
    assert count(asked, (0, TurnReset()), asked, (0, TurnEnd(1, TOKENS, "stop"))).calls == 2
    assert count(asked, (0, ModelResponseEvent(1, TOKENS))).calls == 1


def test_a_message_that_reached_the_run_keeps_its_place_between_the_turns() -> None:
    told = {"role": "user", "content": "In metres!"}
    done = fold(
        TextDeltaEvent("t", "It is 2."),
        TurnEnd(1, Usage(), "stop"),
        UserMessage("m1", "steer", ({"type": "text", "text": "In metres!"},), (told,)),
        TextDeltaEvent("t", "void"),
        TurnReset(),
        TextDeltaEvent("t", "Two metres."),
        TurnEnd(2, Usage(), "stop"),
    )
    assert done.messages == (
        {"role": "assistant", "content": "It is 2."},
        told,
        {"role": "assistant", "content": "Two metres."},
    )
