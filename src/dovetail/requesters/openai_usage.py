"""Reads and writes token counts, in the shapes that OpenAI-compatible servers send them."""

from typing import Any

from dovetail.data.numbers import read_count
from dovetail.data.shapes import is_mapping
from dovetail.messages.delta import Usage


def read_usage(usage: Any) -> Usage:
    """The tokens of one request; what the server did not count, or in no way we know, is 0."""
    if not is_mapping(usage):
        return Usage()
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    return Usage(
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        cached_tokens=_count(prompt, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens"),
        reasoning_tokens=_count(completion, "reasoning_tokens"),
    )


def write_usage(usage: Usage) -> dict[str, Any]:
    """Tokens under OpenAI's names; what `read_usage` reads."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def _count(counts: Any, name: str) -> int:
    value = counts.get(name) if is_mapping(counts) else None
    return read_count(value)
