"""Mark the unchanging beginning of a request, so that the API need not read it again (prompt caching)."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dovetail.data.shapes import is_list

SHORTEST = 2000
"""Characters of a beginning that may be worth marking; the API ignores marks on beginnings that are shorter
than the model's limit (512 tokens or more)."""


def mark_prefixes(body: dict[str, Any], time_to_live: str) -> None:
    """Add the marks: after the tools, after the system prompt, and after the last two messages of the user.

    Each later request of a conversation repeats these parts. A single question without tools has no later
    request, so its messages are not marked. Marks that the user has set are left alone.
    """
    if any(_list_marks(body)):
        return
    mark = {"type": "ephemeral"} if time_to_live == "5m" else {"type": "ephemeral", "ttl": time_to_live}
    size = 0
    for name in ("tools", "system"):
        if blocks := body.get(name):
            size = measure(blocks, size)
            if size >= SHORTEST:
                body[name] = _mark_last(blocks, mark)
    messages = body["messages"]
    is_single = not body.get("tools") and len(messages) == 1
    if not is_single and measure(messages, size) >= SHORTEST:
        _mark_messages(messages, mark)


def measure(items: Iterable[Any], size: int = 0) -> int:
    """Return the characters so far and those of the items as JSON; what follows the limit is not counted."""
    for item in items:
        if size >= SHORTEST:
            return size
        size += len(json.dumps(item, ensure_ascii=False))
    return size


def _mark_messages(messages: list[dict[str, Any]], mark: Mapping[str, str]) -> None:
    said = [message for message in messages if message["role"] == "user"]
    for message in said[-2:]:
        message["content"] = _mark_last(message["content"], mark)


def _mark_last(blocks: Any, mark: Mapping[str, str]) -> Any:
    """Return the blocks with a mark on the last one; the user's own ones may be plain text."""
    return [*blocks[:-1], {**blocks[-1], "cache_control": mark}] if is_list(blocks) else blocks


def _list_marks(body: Mapping[str, Any]) -> Iterator[Any]:
    if "cache_control" in body:
        yield body["cache_control"]
    for name in ("tools", "system"):
        yield from (block["cache_control"] for block in body.get(name, ()) if "cache_control" in block)
    for message in body["messages"]:
        yield from (block["cache_control"] for block in message["content"] if "cache_control" in block)
