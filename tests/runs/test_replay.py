"""What is taken from a journal after a crash."""

from dovetail.events.call import ToolCall
from dovetail.events.delta import Usage
from dovetail.events.model_events import TextDeltaEvent, ToolInputEnd
from dovetail.events.run_events import (
    AskRequest,
    Entry,
    Event,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnReset,
)
from dovetail.loop.budget import Spent
from dovetail.runs.replay import Replay, replay

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
        spent=Spent(turns=2, usage=Usage(6, 7)),
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
    assert fold(TextDeltaEvent("t", "Once upon"), TurnReset()) == Replay()


def test_nothing_happened_yet() -> None:
    assert fold() == Replay()
