"""Keeps a conversation within the model's window.

Old tool results are shortened first, then a summary replaces what is old. Calls and their results always stay
together.
"""

import json
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from dovetail.messages.delta import FinishDelta, TextDelta, Usage
from dovetail.messages.request import ChatMessage, ModelRequest
from dovetail.requesters.requester import Requester

_FULL = 0.8  # of the window; above it there would be no room for the answer
_KEPT = 6  # messages at the end that stay as they are
_SHORT = 400  # characters that stay of an old tool result
_SUMMARIZE = (
    "Below is the beginning of a conversation between a user and an assistant with tools. Write down what "
    "the assistant needs to go on without it: the task, what was found out (with names, numbers and paths), "
    "what was tried, what is left to do. Write only that, in the language of the conversation."
)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A conversation that fits, and what fitting it has cost; `asked` is the request for a summary."""

    messages: list[ChatMessage]
    usage: Usage
    asked: ModelRequest | None = None


async def fit(messages: Sequence[ChatMessage], window: int, requester: Requester) -> Fitted:
    """The conversation made to fit into `window` tokens."""
    limit = int(window * _FULL)
    fitted = list(messages)
    if estimate_tokens(fitted) <= limit:
        return Fitted(fitted, Usage())
    fitted = _shorten_results(fitted)
    if estimate_tokens(fitted) <= limit:
        return Fitted(fitted, Usage())
    return await _summarize(fitted, limit, requester)


def estimate_tokens(messages: Sequence[ChatMessage]) -> int:
    """About how many tokens the messages are: a third of a token per ASCII character, one for any other."""
    text = json.dumps(list(messages), ensure_ascii=False, default=str)
    plain = sum(character.isascii() for character in text) if not text.isascii() else len(text)
    return plain // 3 + (len(text) - plain)


def _shorten_results(messages: list[ChatMessage]) -> list[ChatMessage]:
    old, recent = messages[:-_KEPT], messages[-_KEPT:]
    return [_shorten(message) if message["role"] == "tool" else message for message in old] + recent


def _shorten(message: ChatMessage) -> ChatMessage:
    content: Any = message["content"]
    if not isinstance(content, str) or len(content) <= 2 * _SHORT:
        return message
    note = f"… ({len(content) - _SHORT} more characters were here; call the tool again if they are needed)"
    return {**message, "content": content[:_SHORT] + note}


async def _summarize(messages: list[ChatMessage], limit: int, requester: Requester) -> Fitted:
    start = _end_of_task(messages)
    cut = _find_cut(messages, start)
    if cut <= start:
        return Fitted(messages, Usage())
    old = json.dumps(messages[start:cut], ensure_ascii=False, default=str)[: limit * 2]
    request = ModelRequest(
        messages=[{"role": "system", "content": _SUMMARIZE}, {"role": "user", "content": old}]
    )
    pieces: list[str] = []
    usage = Usage()
    async with aclosing(requester.stream(request)) as deltas:
        async for delta in deltas:
            if isinstance(delta, TextDelta):
                pieces.append(delta.text)
            elif isinstance(delta, FinishDelta):
                usage = delta.usage
    summary = {"role": "user", "content": f"[What happened so far]\n{''.join(pieces)}"}
    return Fitted([*messages[:start], summary, *messages[cut:]], usage, request)


def _end_of_task(messages: list[ChatMessage]) -> int:
    """After the system prompt and the first message of the user, which always stay."""
    first = next((place for place, message in enumerate(messages) if message["role"] == "user"), -1)
    return first + 1


def _find_cut(messages: list[ChatMessage], start: int) -> int:
    """Where the recent part begins: never between a call and its results."""
    cut = max(start, len(messages) - _KEPT)
    while cut > start and messages[cut]["role"] == "tool":
        cut -= 1
    return cut
