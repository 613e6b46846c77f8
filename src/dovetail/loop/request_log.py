"""Tells what a model is asked, for those who inspect a run; nothing is told twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.data.secrets import hide
from dovetail.data.shapes import is_list, is_mapping
from dovetail.events.call import ChatMessage, ModelRequest
from dovetail.events.model_events import ModelRequestEvent
from dovetail.events.run_events import Emit
from dovetail.requesters.content import build_messages
from dovetail.requesters.requester import Requester

LONGEST_DATA = 2000
"""Characters of an attachment that are told; a picture would fill the journal and tell nobody anything."""


@dataclass(frozen=True, slots=True)
class StoredMessages:
    """The beginning of a conversation, kept elsewhere under a name: `{"stored": name}` stands for all of it.

    Else a chat would be told whole with each of its answers, and grow with the square of their number.
    """

    name: str
    messages: Sequence[ChatMessage]

    def find(self, messages: Sequence[ChatMessage]) -> int | None:
        """Where they begin in a request that has them all as they are."""
        if not self.messages:
            return None
        for place, message in enumerate(messages):
            if message is self.messages[0]:
                is_whole = _count_shared(self.messages, messages[place:]) == len(self.messages)
                return place if is_whole else None
        return None


class RequestLog:
    """Remembers the last request of one way through the loop, so that the next one tells only what is new."""

    def __init__(self, emit: Emit, requester: Requester, stored: StoredMessages | None = None) -> None:
        self._emit = emit
        self._stored = stored
        self._model = requester.model
        self._secrets: Sequence[str] = getattr(requester, "secrets", ())
        self._last: Sequence[ChatMessage] = ()

    def tell(self, turn: int, request: ModelRequest) -> None:
        """Tell a request of the conversation itself."""
        kept = _count_shared(self._last, request.messages)
        self._last = request.messages
        self._emit(
            ModelRequestEvent(
                turn,
                self._model,
                self._show(request.messages[kept:]),
                kept,
                tuple([tool.name for tool in request.tools]),
                request.tool_choice,
            )
        )

    def tell_summary(self, turn: int, request: ModelRequest) -> None:
        """Tell a request that shortens what is old."""
        self._emit(ModelRequestEvent(turn, self._model, self._show(request.messages), purpose="summary"))

    def _show(self, messages: Sequence[ChatMessage]) -> tuple[Mapping[str, Any], ...]:
        stored = self._stored
        place = None if stored is None else stored.find(messages)
        if stored is None or place is None:
            return tuple(self._show_whole(messages))
        rest = self._show_whole(messages[place + len(stored.messages) :])
        return (*self._show_whole(messages[:place]), {"stored": stored.name}, *rest)

    def _show_whole(self, messages: Sequence[ChatMessage]) -> list[Mapping[str, Any]]:
        shown = show_messages(messages)
        return [_hide(message, self._secrets) for message in shown] if self._secrets else shown


def show_messages(messages: Sequence[ChatMessage]) -> list[Mapping[str, Any]]:
    """Messages as those see them who inspect a run: attachments are cut."""
    shown = build_messages(messages)
    for message in shown:
        content = message.get("content")
        if is_list(content):
            message["content"] = [_shorten(part) for part in content]
    return list[Mapping[str, Any]](shown)


def _count_shared(last: Sequence[ChatMessage], now: Sequence[ChatMessage]) -> int:
    """How many messages at the beginning are the very same."""
    count = 0
    for before, after in zip(last, now, strict=False):
        if before is not after:
            break
        count += 1
    return count


def _shorten(part: Any) -> Any:
    """A part of a message with its data cut; text stays whole."""
    if not is_mapping(part) or part.get("type") == "text":
        return part
    return {key: _cut(value) for key, value in part.items()}


def _cut(value: Any) -> Any:
    if is_mapping(value):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, str) and len(value) > LONGEST_DATA:
        return f"{value[:60]}… ({len(value)} characters)"
    return value


def _hide(value: Any, secrets: Sequence[str]) -> Any:
    if isinstance(value, str):
        return hide(value, secrets)
    if is_mapping(value):
        return {key: _hide(item, secrets) for key, item in value.items()}
    return [_hide(item, secrets) for item in value] if is_list(value) else value
