"""The parts of OpenAI's chat format that several modules read or write: tool calls in pieces, and usage."""

import json
from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_mapping, is_number, read_count
from dovetail.events.delta import ToolCallDelta, Usage
from dovetail.ids import new_id

STATUSES = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 402,
    "server_error": 500,
    "vector_store_timeout": 504,
    "server_is_overloaded": 503,
    "overloaded": 503,
    "overloaded_error": 503,
    "slow_down": 503,
}
"""The statuses that errors inside an answer stand for; any other one stays an error."""


class CallPieces:
    """Assign each call one index, and its id and name to the first piece only.

    Some servers omit the index, send every call under index 0, repeat the id with every piece, or never
    send one.
    """

    __slots__ = ("_current", "_ids")

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._current: dict[int, int] = {}

    @property
    def seen(self) -> bool:
        """Whether the answer has any call."""
        return bool(self._ids)

    def read(self, piece: Mapping[str, Any]) -> ToolCallDelta:
        """Return the delta of one piece of a call."""
        function: Mapping[str, Any] = piece.get("function") or {}
        arguments = _read_arguments(function.get("arguments"))
        call_id, name = _read_name(piece.get("id")), _read_name(function.get("name"))
        wire_index = self._read_index(piece, is_new=name is not None)
        index = self._current.get(wire_index)
        if index is not None and (call_id is None or call_id == self._ids[index]):
            return ToolCallDelta(index, arguments=arguments)
        index = self._current[wire_index] = len(self._ids)
        self._ids.append(call_id or new_id("call"))
        return ToolCallDelta(index, self._ids[index], name, arguments)

    def _read_index(self, piece: Mapping[str, Any], *, is_new: bool) -> int:
        index = piece.get("index")
        if isinstance(index, int):
            return index
        return len(self._ids) if is_new else max(len(self._ids) - 1, 0)


def _read_arguments(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _read_name(value: Any) -> str | None:
    """Read an id or a name; some servers number their calls and send an integer as the id."""
    if not value:
        return None
    if not isinstance(value, str | int):
        raise TypeError("expected an id or a name")
    return str(value)


def read_usage(usage: Any) -> Usage:
    """Read the tokens of one request; missing or invalid counts are 0."""
    if not is_mapping(usage):
        return Usage()
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    return Usage(
        input_tokens=count(usage, "prompt_tokens"),
        output_tokens=count(usage, "completion_tokens"),
        cached_tokens=count(prompt, "cached_tokens") or count(usage, "prompt_cache_hit_tokens"),
        reasoning_tokens=count(completion, "reasoning_tokens"),
        cost=_read_cost(usage.get("cost")),
        cache_write_tokens=count(prompt, "cache_write_tokens"),
    )


def write_usage(usage: Usage) -> dict[str, Any]:
    """Write tokens under OpenAI's names, as `read_usage` reads them."""
    written: dict[str, Any] = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }
    return written if usage.cost is None else {**written, "cost": usage.cost}


def _read_cost(cost: Any) -> float | None:
    """Return the cost that a provider reports: a number (OpenRouter) or a table (Perplexity)."""
    total = cost.get("total_cost") if is_mapping(cost) else cost
    return float(total) if is_number(total) and total >= 0 else None


def count(counts: Any, name: str) -> int:
    """Return one of the counts of a usage; 0 if it is missing or invalid."""
    return read_count(counts.get(name) if is_mapping(counts) else None)
