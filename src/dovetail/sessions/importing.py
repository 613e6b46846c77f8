"""A conversation that was exported, made a session again.

The export holds what people saw; what a model reads is made of that, so that no history comes in that a model
would refuse: each call has exactly one result, right behind it.
"""

from collections.abc import Sequence

from dovetail.data.text import to_text
from dovetail.errors import ConfigError
from dovetail.messages.call import ToolCall
from dovetail.messages.request import ChatMessage, write_answer, write_result
from dovetail.sessions.message import Message, Part
from dovetail.sessions.request import to_chat_messages

MOST_MESSAGES = 10_000
"""Messages of one session that comes in at once."""
_ROUGH_ENDS = {"output-denied": "The user declined the call."}
_CUT_OFF = "The call was interrupted; whether it had an effect is not known."


def check_tree(messages: Sequence[Message], head: str | None) -> None:
    """See that ids differ, that parents come before their children, and that the head is one of them."""
    seen: set[str] = set()
    for message in messages:
        if message.id in seen:
            raise ConfigError(f"two messages have the id {message.id!r}")
        if message.parent_id is not None and message.parent_id not in seen:
            raise ConfigError(
                f"message {message.id!r} names a parent {message.parent_id!r} that does not come before it",
                hint="Send the messages in the order of the export, parents first.",
            )
        seen.add(message.id)
    if head is not None and head not in seen:
        raise ConfigError(f"the head {head!r} is none of the messages", hint="Leave it out for the last one.")


def make_content(role: str, parts: Sequence[Part]) -> list[ChatMessage]:
    """What a model reads of a message that people see as these parts."""
    if role != "assistant":
        return [{**message, "role": role} for message in to_chat_messages(parts)]
    fold = _Fold()
    for part in parts:
        fold.take(part)
    return fold.end()


class _Fold:
    """Gathers one turn after the other."""

    def __init__(self) -> None:
        self._messages: list[ChatMessage] = []
        self._texts: list[str] = []
        self._calls: dict[str, Part] = {}

    def take(self, part: Part) -> None:
        kind = part.get("type")
        if kind == "step-start":
            self._flush()
        elif kind == "text":
            self._texts.append(str(part.get("text", "")))
        elif kind == "dynamic-tool":
            self._calls.setdefault(str(part.get("toolCallId", "")), part)

    def end(self) -> list[ChatMessage]:
        self._flush()
        return self._messages

    def _flush(self) -> None:
        text = "\n\n".join(self._texts)
        if text or self._calls:
            calls = [_make_call(call_id, part) for call_id, part in self._calls.items()]
            self._messages.append(write_answer(text, calls))
        for call_id, part in self._calls.items():
            self._messages.append(write_result(call_id, _make_result(part)))
        self._texts, self._calls = [], {}


def _make_call(call_id: str, part: Part) -> ToolCall:
    name, arguments = str(part.get("toolName", "")), to_text(part.get("input") or {})
    return ToolCall(call_id=call_id, name=name, arguments=arguments)


def _make_result(part: Part) -> str:
    if part.get("state") == "output-available":
        return to_text(part.get("output"))
    return str(part.get("errorText") or _ROUGH_ENDS.get(str(part.get("state")), _CUT_OFF))
