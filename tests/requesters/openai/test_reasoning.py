"""Reasoning of chat answers is collected as it came, and separated from text in tags."""

import json
from typing import Any

import pytest

from dovetail.errors import ModelError
from dovetail.events.delta import Delta, ProviderPartDelta, ReasoningDelta, TextDelta, ToolCallDelta
from dovetail.requesters.openai.answer import ChatReader, TaggedChatReader


def complain(message: str, status: int | None) -> ModelError:
    return ModelError(message, provider="test", status=status)


def read(*deltas: dict[str, Any], has_tags: bool = False) -> list[Delta]:
    reader = (TaggedChatReader if has_tags else ChatReader)(complain, "me")
    choices: list[dict[str, Any]] = [{"delta": delta} for delta in deltas]
    choices.append({"delta": {}, "finish_reason": "stop"})
    events = [b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n" for choice in choices]
    whole = [delta for event in events for delta in reader.feed(event)]
    return [*whole, *reader.end()]


def join(deltas: list[Delta]) -> tuple[str, str]:
    texts = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    return "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)), "".join(texts)


def find_parts(deltas: list[Delta]) -> list[Any]:
    return [delta.data for delta in deltas if isinstance(delta, ProviderPartDelta)]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_one_part_before_the_text(field: str) -> None:
    thoughts = [{field: text} for text in ("Let", " me", " see", "!")]
    deltas = read(*thoughts, {"content": "Yes"}, {"content": "."})
    assert [type(delta) for delta in deltas] == [
        *[ReasoningDelta] * 4,
        ProviderPartDelta,
        TextDelta,
        TextDelta,
    ]
    assert find_parts(deltas) == [{"field": field, "text": "Let me see!"}]


def test_reasoning_stands_before_a_call_and_in_an_answer_without_text() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}
    deltas = read({"reasoning_content": "Hm"}, {"tool_calls": [call]})
    assert [type(delta) for delta in deltas] == [ReasoningDelta, ProviderPartDelta, ToolCallDelta]
    assert find_parts(read({"reasoning_content": "Hm"})) == [{"field": "reasoning_content", "text": "Hm"}]


def test_reasoning_in_several_places_is_several_parts() -> None:
    deltas = read(
        {"reasoning": "a"}, {"content": "b"}, {"reasoning": "c"}, {"reasoning": "d"}, {"content": "e"}
    )
    assert [part["text"] for part in find_parts(deltas)] == ["a", "cd"]


def test_reasoning_details_are_joined_piece_by_piece_and_otherwise_unchanged() -> None:
    first = {"type": "reasoning.text", "text": "Let ", "format": "anthropic-claude-v1", "index": 0}
    deltas = read(
        {"reasoning": "Let ", "reasoning_details": [first]},
        {"reasoning": "Let ", "reasoning_details": [first]},
        {"reasoning_details": [{**first, "text": "", "signature": "sig"}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "id": "e1", "index": 1}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "y", "id": "e2", "index": 2}]},
        {"content": "Yes"},
    )
    assert find_parts(deltas) == [
        {
            "reasoning_details": [
                {**first, "text": "Let Let ", "signature": "sig"},
                {"type": "reasoning.encrypted", "data": "x", "id": "e1", "index": 1},
                {"type": "reasoning.encrypted", "data": "y", "id": "e2", "index": 2},
            ]
        }
    ]


@pytest.mark.parametrize("details", [None, "x", {"text": "x"}, [None, "x"], [{"text": 5}, {"text": "y"}]])
def test_reasoning_details_of_an_odd_shape_do_not_end_the_answer(details: Any) -> None:
    assert join(read({"content": "Yes", "reasoning_details": details})) == ("", "Yes")


def test_thinking_parts_of_the_content_are_kept_as_such() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
    deltas = read({"content": [thought]}, {"content": [{"type": "text", "text": "Yes"}]})
    assert find_parts(deltas) == [{"field": "content.thinking", "text": "Hm"}]


def test_signature_next_to_a_call_precedes_it() -> None:
    extra = {"google": {"thought_signature": "abc"}}
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}, "extra_content": extra}
    deltas = read({"tool_calls": [call, {**call, "id": "d", "extra_content": None}]})
    assert [type(delta) for delta in deltas] == [ProviderPartDelta, ToolCallDelta, ToolCallDelta]
    assert find_parts(deltas) == [{"extra_content": extra}]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    ("text", "thought", "rest"),
    [
        ("<think>\nHm <b> </thin\n</think>\n\nYes </think>", "\nHm <b> </thin\n", "Yes </think>"),
        ("\n<think>Hm</think>Yes", "Hm", "Yes"),
        ("<think></think>Yes", "", "Yes"),
        ("<thin air>", "", "<thin air>"),
        ("Yes <think>no</think>", "", "Yes <think>no</think>"),
        ("<think>cut off", "cut off", ""),
        ("<thi", "", "<thi"),
        ("", "", ""),
    ],
)
def test_tags_at_the_beginning_are_reasoning(text: str, thought: str, rest: str, size: int) -> None:
    pieces = [{"content": text[place : place + size]} for place in range(0, len(text), size)]
    deltas = read(*pieces, has_tags=True)
    assert join(deltas) == (thought, rest)
    if thought and rest:
        assert find_parts(deltas) == [{"field": "content.think", "text": thought}]


def test_tags_are_text_unless_the_settings_say_otherwise() -> None:
    assert join(read({"content": "<think>a</think>b"})) == ("", "<think>a</think>b")
