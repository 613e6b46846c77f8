"""Conversations in blocks: calls without thinking, answers that broke off, thinking that is left out."""

from typing import Any

import pytest

from dovetail.requesters.anthropic.content import MessagesWriter
from dovetail.requesters.bedrock.messages import ConverseWriter
from dovetail.requesters.blocks import BlockWriter

WRITERS = [MessagesWriter, ConverseWriter]
QUESTION = {"role": "user", "content": "hi"}
RESULT = {"role": "tool", "tool_call_id": "t", "content": "3"}
SAID = {"role": "assistant", "content": "Hello"}
CALL = {"id": "t", "type": "function", "function": {"name": "add", "arguments": "{}"}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
DATA = {
    "type": "thinking",
    "thinking": "hm",
    "signature": "s",
    "reasoningText": {"text": "hm", "signature": "s"},
}
PART = {"source": "mine", "text": 0, "calls": 0, "data": DATA}
THOUGHT: dict[str, Any] = {"role": "assistant", "content": None, "provider_parts": [PART]}


def write(make: Any, messages: list[Any], **options: Any) -> BlockWriter:
    return make("mine", **options).write(messages)


@pytest.mark.parametrize("make", WRITERS)
@pytest.mark.parametrize(
    ("messages", "lacks"),
    [
        ([QUESTION], False),
        ([QUESTION, SAID, QUESTION], False),
        ([QUESTION, CALLED, RESULT], True),
        ([QUESTION, {**CALLED, **THOUGHT}, RESULT], False),
        ([QUESTION, {**CALLED, **THOUGHT}, RESULT, CALLED, RESULT], False),
        ([QUESTION, CALLED, RESULT, {**CALLED, **THOUGHT}, RESULT], True),
        ([QUESTION, CALLED, RESULT, SAID, QUESTION], False),
    ],
)
def test_calls_that_began_without_thinking_continue_without(
    make: Any, messages: list[Any], lacks: bool
) -> None:
    assert write(make, messages).lacks_thinking is lacks


@pytest.mark.parametrize("make", WRITERS)
def test_thinking_that_leads_to_nothing_is_left_out(make: Any) -> None:
    roles = [message["role"] for message in write(make, [QUESTION, THOUGHT, QUESTION]).messages]
    assert roles == ["user"]


@pytest.mark.parametrize("make", WRITERS)
def test_earlier_thinking_can_be_left_out(make: Any) -> None:
    messages = [QUESTION, {**CALLED, **THOUGHT}, RESULT]
    assert len(write(make, messages).messages[1]["content"]) == 2
    assert len(write(make, messages, thinks=False).messages[1]["content"]) == 1


@pytest.mark.parametrize("make", WRITERS)
def test_called_tools_are_named_once(make: Any) -> None:
    assert write(make, [QUESTION, CALLED, RESULT, CALLED, RESULT]).called_tools == ["add"]


@pytest.mark.parametrize("make", WRITERS)
def test_empty_texts_are_left_out(make: Any) -> None:
    writer = write(make, [{"role": "system", "content": " "}, QUESTION, {"role": "user", "content": "\n"}])
    assert (writer.system, len(writer.messages[0]["content"])) == ([], 1)
