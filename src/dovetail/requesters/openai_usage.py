"""Reads token counts, in the shapes that OpenAI-compatible servers send them."""

from collections.abc import Mapping
from typing import Any

from dovetail.messages.delta import Usage


def read_usage(usage: Mapping[str, Any] | None) -> Usage:
    """The tokens of one request; what the server did not count is 0."""
    if usage is None:
        return Usage()
    prompt: Mapping[str, Any] = usage.get("prompt_tokens_details") or {}
    completion: Mapping[str, Any] = usage.get("completion_tokens_details") or {}
    return Usage(
        input_tokens=usage.get("prompt_tokens") or 0,
        output_tokens=usage.get("completion_tokens") or 0,
        cached_tokens=prompt.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0,
        reasoning_tokens=completion.get("reasoning_tokens") or 0,
    )
