"""Options under OpenAI's names, for APIs that know only some of them.

`model.options` are sent with every request, also after a change of model and to fallbacks: each API gets the
ones that it knows, and the others are left out with a warning.
"""

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.events.call import ModelRequest
from dovetail.requesters.warn import warn_once
from dovetail.settings.model import Thinking

OPENAI_ONLY = {
    *("audio", "frequency_penalty", "include", "logit_bias", "logprobs", "metadata", "min_p", "modalities"),
    *("n", "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key", "reasoning"),
    *("prompt_cache_retention", "reasoning_effort", "repetition_penalty", "response_format", "user"),
    *("safety_identifier", "seed", "service_tier", "store", "stream_options", "text", "top_logprobs"),
    *("truncation", "verbosity", "web_search_options"),
}
"""Options of OpenAI-compatible servers that other APIs reject, unless they say that they have them too."""

_DEFAULTS: Mapping[str, Any] = {
    "frequency_penalty": 0,
    "logprobs": False,
    "n": 1,
    "parallel_tool_calls": True,
    "presence_penalty": 0,
    "store": False,
}
_LEVELS: Mapping[str, Thinking] = {
    "none": "off",
    "minimal": "off",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
}


def translate_options(request: ModelRequest, *, known: Set[str]) -> ModelRequest:
    """Return a request without the options that only OpenAI's API has; an effort sets the thinking.

    `known` are those of them that the API has under the same name.
    """
    foreign = {name: request.options[name] for name in OPENAI_ONLY - known if name in request.options}
    if not foreign:
        return request
    inner = foreign.get("reasoning")
    effort = foreign.get("reasoning_effort") or (inner.get("effort") if is_mapping(inner) else None)
    level = _LEVELS.get(str(effort))
    if level is not None:
        foreign.pop("reasoning_effort", None)
        foreign.pop("reasoning", None)
    lost = [name for name, value in foreign.items() if value is not None and value != _DEFAULTS.get(name)]
    if lost:
        warn_once(f"{request.model} does not take {', '.join(sorted(lost))}; left out.")
    kept = {name: value for name, value in request.options.items() if name not in OPENAI_ONLY - known}
    return replace(request, options=kept, thinking=request.thinking if level is None else level)
