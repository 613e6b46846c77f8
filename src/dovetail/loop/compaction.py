"""Make a long conversation fit into a model's context window.

Old tool results are shortened first; if that is not enough, a summary replaces the beginning. The system
prompt, the first message of the user and the newest messages stay. Summaries are remembered by what they
summarize: the next answer of a long chat builds on the last summary and does not ask for it again.
"""

import hashlib
import json
import logging
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from dovetail.data.shapes import is_list
from dovetail.errors import ModelError
from dovetail.events.call import ChatMessage, ModelRequest
from dovetail.events.delta import FinishDelta, TextDelta, Usage
from dovetail.loop.tokens import estimate_text, estimate_tokens, is_attachment
from dovetail.requesters.border import clean_deltas
from dovetail.requesters.requester import Requester

logger = logging.getLogger(__name__)

_KEPT = 6  # messages at the end that stay as they are
_SHORT = 400  # characters that stay of an old tool result
_MOST_SUMMARIES = 256
_SUMMARIZE = (
    "Below is the beginning of a conversation between a user and an assistant with tools. Write down what "
    "the assistant needs to continue without it: the task, what was found out (with names, numbers and "
    "paths), what was tried, what is left to do. Write only that, in the language of the conversation."
)
_NO_SUMMARY = "(The beginning of the conversation no longer fits and was left out.)"


class Summaries:
    """Summaries of the beginnings of conversations, by digest; the oldest is dropped first."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()

    def get(self, digest: str) -> str:
        """Return a summary; empty if there is none."""
        return self._texts.get(digest, "")

    def add(self, digest: str, text: str) -> None:
        """Remember a summary."""
        self._texts[digest] = text
        while len(self._texts) > _MOST_SUMMARIES:
            self._texts.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A conversation that fits, and the tokens that this took; `asked` is the request for a summary."""

    messages: list[ChatMessage]
    usage: Usage = field(default_factory=Usage)
    asked: ModelRequest | None = None


async def shorten(
    messages: Sequence[ChatMessage], limit: int, requester: Requester | None, summaries: Summaries
) -> Fitted:
    """Shorten a conversation until it has at most `limit` tokens, or as far as that is possible.

    Without a requester no summary is written: little is left of the beginning.
    """
    whole = list(messages)
    if estimate_tokens(whole) <= limit:
        return Fitted(whole)
    whole = _shorten_task(whole, limit // 3)
    beginning = _Beginning(requester.model if requester else "", whole, summaries)
    for fitted in (
        beginning.put_in(whole),
        beginning.put_in(_shorten_old(whole)),
        beginning.put_in(_share_room(_shorten_old(whole), limit)),
    ):
        if estimate_tokens(fitted) <= limit:
            return Fitted(fitted)
    return await _summarize(_share_room(_shorten_old(whole), limit), beginning, limit, requester)


def _shorten_task(messages: list[ChatMessage], most: int) -> list[ChatMessage]:
    """Cut the middle out of a first message that takes more than `most` tokens of a longer conversation."""
    place = _end_of_task(messages) - 1
    content: Any = messages[place]["content"] if 0 <= place < len(messages) - 1 else None
    tokens = estimate_text(content) if isinstance(content, str) else 0
    if tokens <= most:
        return messages
    room = len(content) * most // tokens
    note = f"\n… ({len(content) - room} characters were left out)\n"
    cut = content[: room - room // 4] + note + content[len(content) - room // 4 :]
    return [*messages[:place], {**messages[place], "content": cut}, *messages[place + 1 :]]


def _share_room(messages: list[ChatMessage], limit: int) -> list[ChatMessage]:
    """Shorten the results of tools such that all of them fit next to the recent messages."""
    recent = messages[-_KEPT:]
    results = [place for place in range(len(messages)) if messages[place]["role"] == "tool"]
    last = next((place for place in reversed(range(len(messages))) if place not in results), 0)
    together = max(len(messages) - 1 - last, 1)
    others = estimate_tokens([message for message in recent if message["role"] != "tool"])
    room = max(limit * 3 // 4 - others, 0) * 2 // together
    return _shorten_results(messages, max(min(limit // 2, room), _SHORT), slack=1)


def _shorten_old(messages: list[ChatMessage]) -> list[ChatMessage]:
    return _shorten_results(messages[:-_KEPT], _SHORT) + messages[-_KEPT:]


def _shorten_results(messages: list[ChatMessage], longest: int, slack: int = 2) -> list[ChatMessage]:
    """Cut results that are longer than `slack` times what is left of them."""
    return [
        _shorten(message, longest, slack) if message["role"] == "tool" else message for message in messages
    ]


def _shorten(message: ChatMessage, longest: int, slack: int) -> ChatMessage:
    content: Any = message["content"]
    if not isinstance(content, str) or len(content) <= slack * longest:
        return message
    note = f"… ({len(content) - longest} more characters were here; call the tool again if they are needed)"
    return {**message, "content": content[:longest] + note}


class _Beginning:
    """The beginning of a conversation, and the summary of as much of it as possible that is remembered.

    `start` is the position after the messages that always stay; `end` is where the summarized part ends.
    """

    def __init__(self, model: str, messages: Sequence[ChatMessage], summaries: Summaries) -> None:
        self._summaries = summaries
        self.start = self.end = _end_of_task(messages)
        self.text = ""
        self._digests: list[str] = []
        running = hashlib.sha256(model.encode("utf-8", "replace"))
        for place in range(self.start, len(messages) - 1):  # the newest message always stays
            running.update(json.dumps(messages[place], ensure_ascii=True, default=repr).encode())
            self._digests.append(running.hexdigest())
            text = summaries.get(self._digests[-1])
            if text and messages[place + 1]["role"] != "tool":
                self.text, self.end = text, place + 1

    def put_in(self, messages: list[ChatMessage]) -> list[ChatMessage]:
        """Return the messages with the summary in place of the part that it summarizes."""
        return [*messages[: self.start], *self.list_old(messages, self.end), *messages[self.end :]]

    def list_old(self, messages: list[ChatMessage], end: int) -> list[ChatMessage]:
        """Return the messages from `start` to `end`, those that are summarized as their summary."""
        summary = [_write_summary(self.text)] if self.text else []
        return [*summary, *messages[self.end : end]]

    def remember(self, text: str, end: int) -> None:
        """Remember the summary of everything from `start` to `end`."""
        self._summaries.add(self._digests[end - 1 - self.start], text)


async def _summarize(
    messages: list[ChatMessage], beginning: _Beginning, limit: int, requester: Requester | None
) -> Fitted:
    room = limit - limit // 16 - estimate_tokens(messages[: beginning.start])
    cut = _find_cut(messages, beginning.end, room)
    if cut <= beginning.end:
        return Fitted(beginning.put_in(messages))
    if requester is None:
        rest = _write_summary(_write(beginning.list_old(messages, cut), limit // 16))
        return Fitted([*messages[: beginning.start], rest, *messages[cut:]])
    old = _write(beginning.list_old(messages, cut), limit * 2 // 3)
    request = ModelRequest(
        messages=[{"role": "system", "content": _SUMMARIZE}, {"role": "user", "content": old}]
    )
    text, usage = await _ask(request, requester)
    text = text[: max(room, _SHORT)]  # it must fit as well
    if text:
        beginning.remember(text, cut)
    summary = _write_summary(text or _NO_SUMMARY)
    return Fitted([*messages[: beginning.start], summary, *messages[cut:]], usage, request)


def _write_summary(text: str) -> ChatMessage:
    return {"role": "user", "content": f"[What happened so far]\n{text}"}


async def _ask(request: ModelRequest, requester: Requester) -> tuple[str, Usage]:
    """Return the summary; empty if the model fails, and the run continues without the old messages."""
    pieces: list[str] = []
    usage = Usage()
    try:
        async with aclosing(clean_deltas(requester.stream(request), request.sizes)) as deltas:
            async for delta in deltas:
                if isinstance(delta, TextDelta):
                    pieces.append(delta.text)
                elif isinstance(delta, FinishDelta):
                    usage = delta.usage
    except ModelError as error:
        logger.warning("Failed to summarize old messages; leaving them out: %s", error)
    return "".join(pieces), usage


def _write(messages: Sequence[ChatMessage], limit: int) -> str:
    """Return messages as text for a summary, without attachments, of at most `limit` tokens."""
    text = json.dumps([_describe(message) for message in messages], ensure_ascii=False, default=str)
    tokens = estimate_text(text)
    if tokens <= limit:
        return text
    room = len(text) * limit // tokens
    return f"{text[: room // 4]}\n… (left out)\n{text[-(room - room // 4) :]}"


def _describe(message: ChatMessage) -> ChatMessage:
    shown = {key: value for key, value in message.items() if key != "provider_parts"}
    content = shown.get("content")
    if is_list(content):
        shown["content"] = [_describe_part(part) for part in content]
    return shown


def _describe_part(part: Any) -> Any:
    return {"type": part["type"], "note": "An attachment was here."} if is_attachment(part) else part


def _end_of_task(messages: Sequence[ChatMessage]) -> int:
    """Return the position after the system prompt and the first message of the user, which always stay."""
    first = next((place for place, message in enumerate(messages) if message["role"] == "user"), -1)
    return first + 1


def _find_cut(messages: list[ChatMessage], start: int, room: int) -> int:
    """Return where the recent part begins: small enough, and never between a call and its results."""
    cut = max(start, len(messages) - _KEPT)
    while cut < len(messages) - 1 and estimate_tokens(messages[cut:]) > room * 5 // 8:
        cut += 1
    while cut > start and messages[cut]["role"] == "tool":
        cut -= 1
    return cut
