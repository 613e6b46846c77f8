"""Record the requests of a run as events, for inspection; each message is recorded once."""

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
"""Characters of an attachment that are recorded; whole images would fill the journal."""


@dataclass(frozen=True, slots=True)
class StoredMessages:
    """The beginning of a conversation that is stored elsewhere: `{"stored": name}` stands for it.

    Otherwise each answer of a chat would record the whole chat, and the journal would grow quadratically.
    """

    name: str
    messages: Sequence[ChatMessage]

    def find(self, messages: Sequence[ChatMessage]) -> int | None:
        """Return where they begin in a request that has all of them unchanged."""
        if not self.messages:
            return None
        for place, message in enumerate(messages):
            if message is self.messages[0]:
                is_whole = _count_shared(self.messages, messages[place:]) == len(self.messages)
                return place if is_whole else None
        return None


class RequestLog:
    """Remember the last request of a run, so that the next record has only the new messages."""

    def __init__(self, emit: Emit, requester: Requester, stored: StoredMessages | None = None) -> None:
        self._emit = emit
        self._stored = stored
        self._model = requester.model
        self._secrets: Sequence[str] = getattr(requester, "secrets", ())
        self._last: Sequence[ChatMessage] = ()

    def record(self, turn: int, request: ModelRequest) -> None:
        """Record a request of the conversation itself."""
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

    def record_summary(self, turn: int, request: ModelRequest) -> None:
        """Record a request for a summary of old messages."""
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
    """Return messages for inspection: attachments are cut."""
    shown = build_messages(messages)
    for message in shown:
        content = message.get("content")
        if is_list(content):
            message["content"] = [_shorten(part) for part in content]
    return list[Mapping[str, Any]](shown)


def _count_shared(last: Sequence[ChatMessage], now: Sequence[ChatMessage]) -> int:
    """Count the messages at the beginning that are the same objects."""
    count = 0
    for before, after in zip(last, now, strict=False):
        if before is not after:
            break
        count += 1
    return count


def _shorten(part: Any) -> Any:
    """Return a part of a message with its data cut; text stays whole."""
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
