"""The messages of a loop: as the model reads them, shortened to fit, and the new ones in full."""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.events.call import ChatMessage, ToolCall, ToolSpec
from dovetail.events.run_context import RunContext
from dovetail.loop.compaction import Fitted, Summaries, shorten
from dovetail.loop.repetition import WARNING
from dovetail.loop.tokens import FULL, estimate_message, estimate_tokens, estimate_tools
from dovetail.requesters.requester import Requester

_SHRUNK = 0.6  # of a conversation that was refused; the estimate of its size was too low, after all


class Conversation:
    """Messages, growing turn by turn; the model may read them shortened, `added` has the new ones in full."""

    def __init__(self, messages: Sequence[ChatMessage], summaries: Summaries | None = None) -> None:
        self.messages = list(messages)
        self._summaries = summaries or Summaries()
        self._tokens: int | None = None
        self.added: list[ChatMessage] = []
        self.call_ids = {call_id for message in messages for call_id in _read_call_ids(message)}
        """The ids of all calls so far, including calls that were left out to make room."""

    @property
    def tokens(self) -> int:
        """The estimated size of the messages as the model reads them."""
        if self._tokens is None:
            self._tokens = estimate_tokens(self.messages)
        return self._tokens

    def add(self, message: ChatMessage) -> None:
        """Append a message."""
        self.messages.append(message)
        if self._tokens is not None:
            self._tokens += estimate_message(message)
        self.added.append(message)
        self.call_ids.update(_read_call_ids(message))

    def say(self, text: str) -> None:
        """Append a message with the role of the user."""
        self.add({"role": "user", "content": text})

    def find_limit(self, window: int, tools: Sequence[ToolSpec]) -> int | None:
        """Return the size that the messages must be shortened to if the window is nearly full; None if not.

        Tools take room, too, but at most half of the window.
        """
        most, reserved = int(window * FULL), window // 2
        if self.tokens <= most - reserved:
            return None
        limit = most - min(estimate_tools(tools), reserved)
        return limit if self.tokens > limit else None

    async def make_room(self, limit: int, requester: Requester | None) -> Fitted:
        """Shorten old messages until they have at most `limit` tokens; return what that took."""
        fitted = await shorten(self.messages, limit, requester, self._summaries)
        self.messages = fitted.messages
        self._tokens = None
        return fitted

    async def shrink(self, window: int | None, requester: Requester | None) -> Fitted | None:
        """Shorten a conversation that the model has refused as too long; None if that is not possible."""
        limit = int(self.tokens * _SHRUNK)
        before = self.tokens
        fitted = await self.make_room(limit if window is None else min(limit, int(window * FULL)), requester)
        return fitted if self.tokens < before else None


def find_open_calls(messages: Sequence[ChatMessage]) -> list[ToolCall]:
    """Return the calls of the last answer that have no result, as after a crash."""
    answered: set[str] = set()
    for message in reversed(messages):
        if message["role"] == "tool":
            answered.add(message["tool_call_id"])
        elif message["role"] == "assistant":
            return [_read_call(call) for call in message.get("tool_calls", ()) if call["id"] not in answered]
        else:
            break
    return []


def list_past_calls(messages: Sequence[ChatMessage]) -> list[list[ToolCall]]:
    """Return the calls of each finished turn since the last message of the user, warnings left out."""
    turns: list[list[ToolCall]] = []
    for message in reversed(messages):
        if message["role"] == "user" and not str(message["content"]).startswith(WARNING):
            break
        if message["role"] == "assistant":
            turns.insert(0, [_read_call(call) for call in message.get("tool_calls", ())])
    return turns[:-1] if find_open_calls(messages) else turns


async def read_mail(context: RunContext) -> list[ChatMessage]:
    """Take the messages that have reached the run as events; return them as the model reads them."""
    inbox = context.inbox
    if inbox is None or not inbox.has_mail:
        return []
    taken = await inbox.take()
    for message in taken:
        context.emit(message)
    return [dict(content) for message in taken for content in message.content]


def _read_call(call: Mapping[str, Any]) -> ToolCall:
    function = call["function"]
    return ToolCall(call_id=call["id"], name=function["name"], arguments=function["arguments"])


def _read_call_ids(message: ChatMessage) -> list[str]:
    return [call["id"] for call in message.get("tool_calls") or ()]
