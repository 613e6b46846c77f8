"""Deltas of one answer become events, text and calls."""

from collections.abc import AsyncIterator

import pytest

from dovetail.errors import ModelError
from dovetail.events.call import ToolCall
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProgressDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from dovetail.events.model_events import (
    ModelProgress,
    ReasoningDeltaEvent,
    ReasoningEnd,
    ReasoningStart,
    TextDeltaEvent,
    TextEnd,
    TextStart,
    ToolInputDeltaEvent,
    ToolInputEnd,
    ToolInputStart,
)
from dovetail.events.run_events import Event, ToolEnd
from dovetail.loop.turn import Turn


async def play(*deltas: Delta | Exception) -> AsyncIterator[Delta]:
    for delta in deltas:
        if isinstance(delta, Exception):
            raise delta
        yield delta


async def test_reasoning_and_text_are_separate_segments() -> None:
    events: list[Event] = []
    turn = Turn(1, events.append)
    await turn.read(play(ReasoningDelta("hm"), TextDelta("a"), TextDelta("b"), FinishDelta()))
    assert events == [
        ReasoningStart("reasoning-1-1"),
        ReasoningDeltaEvent("reasoning-1-1", "hm"),
        ReasoningEnd("reasoning-1-1"),
        TextStart("text-1-2"),
        TextDeltaEvent("text-1-2", "a"),
        TextDeltaEvent("text-1-2", "b"),
        TextEnd("text-1-2"),
    ]
    assert turn.message == {"role": "assistant", "content": "ab"}


async def test_how_far_the_model_is_comes_a_few_times_per_second_and_stays_out_of_the_answer() -> None:
    events: list[Event] = []
    moments = iter(number / 100 for number in range(1000))
    turn = Turn(1, events.append, clock=lambda: next(moments))
    download = [ProgressDelta("download", done, 60) for done in range(61)]
    reading = [ProgressDelta("read", done, 5) for done in (1, 2, 5, 5)]
    await turn.read(play(*download, *reading, TextDelta("a"), FinishDelta()))
    assert events == [
        *(ModelProgress("download", done, 60) for done in (0, 25, 50, 60)),
        *(ModelProgress("read", done, 5) for done in (1, 5)),
        TextStart("text-1-1"),
        TextDeltaEvent("text-1-1", "a"),
        TextEnd("text-1-1"),
    ]
    assert turn.message == {"role": "assistant", "content": "a"}


async def test_parts_for_the_provider_keep_their_place_between_text_and_calls() -> None:
    events: list[Event] = []
    turn = Turn(1, events.append)
    first, second = ProviderPartDelta("a", {"n": 1}), ProviderPartDelta("a", {"n": 2})
    await turn.read(
        play(first, TextDelta("héé"), second, ToolCallDelta(0, "c0", "add", "{}"), FinishDelta("tool-calls"))
    )
    places = [{"text": 0, "calls": 0}, {"text": 3, "calls": 0}]
    assert turn.message["provider_parts"] == [
        {"source": "a", "data": {"n": number}, **place} for number, place in enumerate(places, start=1)
    ]
    assert [event.type for event in events][:1] == ["provider-part"]


async def test_parallel_calls_are_put_together_by_index() -> None:
    events: list[Event] = []
    turn = Turn(1, events.append)
    await turn.read(
        play(
            ToolCallDelta(0, "c0", "add", '{"a":'),
            ToolCallDelta(1, "c1", "find", ""),
            ToolCallDelta(0, arguments=" 1}"),
            FinishDelta("tool-calls"),
        )
    )
    assert turn.calls == [
        ToolCall(call_id="c0", name="add", arguments='{"a": 1}'),
        ToolCall(call_id="c1", name="find", arguments=""),
    ]
    assert events == [
        ToolInputStart("c0", "add"),
        ToolInputDeltaEvent("c0", '{"a":'),
        ToolInputStart("c1", "find"),
        ToolInputDeltaEvent("c0", " 1}"),
        ToolInputEnd("c0", "add", {"a": 1}),
        ToolInputEnd("c1", "find", {}),
    ]


@pytest.mark.parametrize(("reason", "arguments"), [("length", "{"), ("tool-calls", "")])
async def test_arguments_that_an_answer_had_no_room_for_are_not_none(reason: str, arguments: str) -> None:
    turn = Turn(1, list[Event]().append)
    await turn.read(
        play(ToolCallDelta(0, "c0", "find", ""), ToolCallDelta(1, "c1", "find", ""), FinishDelta(reason))
    )
    assert [call.arguments for call in turn.calls] == ["", arguments]


async def test_broken_answer_keeps_its_text_and_ends_its_open_call() -> None:
    events: list[Event] = []
    turn = Turn(2, events.append)
    failure = ModelError("the connection was lost", provider="openai")
    with pytest.raises(ModelError):
        await turn.read(play(TextDelta("half"), ToolCallDelta(0, "c0", "add", '{"a'), failure))
    assert turn.text == "half"
    assert turn.calls == []
    assert [event.type for event in events[-2:]] == ["tool-input-delta", "tool-end"]
    assert isinstance(events[-1], ToolEnd)
    assert events[-1].status == "interrupted"


async def test_a_call_without_an_id_or_with_one_that_is_taken_gets_its_own() -> None:
    deltas = (
        ToolCallDelta(0, None, "add", "{}"),
        ToolCallDelta(1, "old", "add", "{}"),
        ToolCallDelta(2, "new", "add", "{}"),
        ToolCallDelta(3, "new", "add", "{}"),
        ToolCallDelta(3, None, None, " "),
    )
    ids: set[str] = set()
    for _ in range(2):
        turn = Turn(1, lambda event: None, {"old"})
        await turn.read(play(*deltas, FinishDelta()))
        assert [call.call_id == "new" for call in turn.calls] == [False, False, True, False]
        ids |= {call.call_id for call in turn.calls}
    assert len(ids) == 7
    assert "old" not in ids
