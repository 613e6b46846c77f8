"""The messages of a loop: as the model reads them, shortened to fit, and the new ones in full."""

import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any

from dovetail.errors import ModelError
from dovetail.events.call import ChatMessage, ModelRequest, ToolCall
from dovetail.events.delta import FinishDelta, TextDelta, Usage
from dovetail.requesters.border import clean_deltas
from dovetail.requesters.requester import Requester

logger = logging.getLogger(__name__)

_FULL = 0.8  # of the window; above it there would be no room for the answer
_KEPT = 6  # messages at the end that stay as they are
_SHORT = 400  # characters that stay of an old tool result
_SUMMARIZE = (
    "Below is the beginning of a conversation between a user and an assistant with tools. Write down what "
    "the assistant needs to continue without it: the task, what was found out (with names, numbers and "
    "paths), what was tried, what is left to do. Write only that, in the language of the conversation."
)
_NO_SUMMARY = "(The beginning of the conversation no longer fits and was left out.)"


@dataclass(frozen=True, slots=True)
class Fitted:
    """A conversation that fits, and the tokens that this took; `asked` is the request for a summary."""

    messages: list[ChatMessage]
    usage: Usage
    asked: ModelRequest | None = None


async def fit(messages: Sequence[ChatMessage], window: int, requester: Requester) -> Fitted:
    """Shorten a conversation until it fits into `window` tokens."""
    limit = int(window * _FULL)
    fitted = list(messages)
    for shorten in (_keep_all, _shorten_old, partial(_shorten_results, longest=limit // 2)):
        fitted = shorten(fitted)
        if estimate_tokens(fitted) <= limit:
            return Fitted(fitted, Usage())
    return await _summarize(fitted, limit, requester)


def fits(messages: Sequence[ChatMessage], window: int) -> bool:
    """Whether the messages leave room for an answer in `window` tokens."""
    return estimate_tokens(messages) <= int(window * _FULL)


def estimate_tokens(messages: Sequence[ChatMessage]) -> int:
    """Estimate the tokens of messages: a third of a token per ASCII character, one for any other."""
    text = json.dumps(list(messages), ensure_ascii=False, default=str)
    plain = sum(character.isascii() for character in text) if not text.isascii() else len(text)
    return plain // 3 + (len(text) - plain)


def _keep_all(messages: list[ChatMessage]) -> list[ChatMessage]:
    return messages


def _shorten_old(messages: list[ChatMessage]) -> list[ChatMessage]:
    return _shorten_results(messages[:-_KEPT], _SHORT) + messages[-_KEPT:]


def _shorten_results(messages: list[ChatMessage], longest: int) -> list[ChatMessage]:
    return [_shorten(message, longest) if message["role"] == "tool" else message for message in messages]


def _shorten(message: ChatMessage, longest: int) -> ChatMessage:
    content: Any = message["content"]
    if not isinstance(content, str) or len(content) <= 2 * longest:
        return message
    note = f"… ({len(content) - longest} more characters were here; call the tool again if they are needed)"
    return {**message, "content": content[:longest] + note}


async def _summarize(messages: list[ChatMessage], limit: int, requester: Requester) -> Fitted:
    start = _end_of_task(messages)
    cut = _find_cut(messages, start)
    if cut <= start:
        return Fitted(messages, Usage())
    old = json.dumps(messages[start:cut], ensure_ascii=False, default=str)[: limit * 2]
    request = ModelRequest(
        messages=[{"role": "system", "content": _SUMMARIZE}, {"role": "user", "content": old}]
    )
    text, usage = await _ask(request, requester)
    summary = {"role": "user", "content": f"[What happened so far]\n{text}"}
    return Fitted([*messages[:start], summary, *messages[cut:]], usage, request)


async def _ask(request: ModelRequest, requester: Requester) -> tuple[str, Usage]:
    """Return the summary; if the model fails, the run continues without the old messages."""
    pieces: list[str] = []
    usage = Usage()
    try:
        async with aclosing(clean_deltas(requester.stream(request))) as deltas:
            async for delta in deltas:
                if isinstance(delta, TextDelta):
                    pieces.append(delta.text)
                elif isinstance(delta, FinishDelta):
                    usage = delta.usage
    except ModelError as error:
        logger.warning("Failed to summarize old messages; leaving them out: %s", error)
    return "".join(pieces) or _NO_SUMMARY, usage


def _end_of_task(messages: list[ChatMessage]) -> int:
    """Return the position after the system prompt and the first message of the user, which always stay."""
    first = next((place for place, message in enumerate(messages) if message["role"] == "user"), -1)
    return first + 1


def _find_cut(messages: list[ChatMessage], start: int) -> int:
    """Return where the recent part begins: never between a call and its results."""
    cut = max(start, len(messages) - _KEPT)
    while cut > start and messages[cut]["role"] == "tool":
        cut -= 1
    return cut


class Conversation:
    """Messages, growing turn by turn; the model may read them shortened, `added` has the new ones in full."""

    def __init__(self, messages: Sequence[ChatMessage]) -> None:
        self.messages = list(messages)
        self.added: list[ChatMessage] = []
        self.call_ids = {call_id for message in messages for call_id in _read_call_ids(message)}
        """The ids of all calls so far, including calls that were left out to make room."""

    def add(self, message: ChatMessage) -> None:
        """Append a message."""
        self.messages.append(message)
        self.added.append(message)
        self.call_ids.update(_read_call_ids(message))

    def say(self, text: str) -> None:
        """Append a message with the role of the user."""
        self.add({"role": "user", "content": text})

    async def make_room(self, window: int | None, requester: Requester) -> Fitted | None:
        """Shorten old messages if the model's window is nearly full, and return what that took."""
        if window is None:
            return None
        fitted = await fit(self.messages, window, requester)
        self.messages = fitted.messages
        return fitted


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


def _read_call(call: Mapping[str, Any]) -> ToolCall:
    function = call["function"]
    return ToolCall(call_id=call["id"], name=function["name"], arguments=function["arguments"])


def _read_call_ids(message: ChatMessage) -> list[str]:
    return [call["id"] for call in message.get("tool_calls") or ()]
