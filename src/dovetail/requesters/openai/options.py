"""Options of a request that a server rejects, and how a request does without them.

What a server rejected is remembered by name, such as `temperature` or `reasoning.summary`, and is left out of
later requests.
"""

import re
from collections.abc import Mapping, Set
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.requesters.refusal import Refusal
from dovetail.requesters.warn import warn_once

OURS = {
    "response_format": ("response_format", "json_schema", "text.format"),
    "stream_options": ("stream_options", "include_usage"),
    "reasoning.summary": ("reasoning.summary", "reasoning summaries"),
    "encrypted_content": ("Encrypted content is not supported", "reasoning.encrypted_content"),
    "strict": ("Invalid schema for function",),
}
"""Parts that we add on our own, and the words by which servers reject them."""

THINKING = {
    "reasoning_effort": ("reasoning_effort", "reasoningEffort", "reasoning effort", "support thinking"),
    "reasoning": ("reasoning.", "'reasoning'", "reasoningEffort", "Reasoning is mandatory"),
    "thinking": ("thinking",),
    "chat_template_kwargs": ("chat_template_kwargs", "enable_thinking"),
    "enable_thinking": ("enable_thinking",),
    "thinking_budget": ("thinking_budget",),
}
"""The ways to set how long a model thinks."""

RENAMED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""Two names of one option; servers know one of them or both."""

SAMPLING = {
    *("temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty", "logit_bias"),
    *("logprobs", "top_logprobs", "seed", "stop", "n", "parallel_tool_calls", "service_tier", "verbosity"),
    *("truncation", "prompt_cache_key", "user", "metadata", "repetition_penalty"),
    *RENAMED,
}
"""Options that a request can do without."""

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
"""All efforts, from the least to the greatest; a model may know only some of them."""

_SUPPORTED = re.compile(r"(?is)(?<!un)supported values?\b(.*)")
_REJECTS = re.compile(
    r"(?i)unsupported|not supported?|does(n't| not) support|not permitted|not allowed|unknown|unrecognized"
    r"|unexpected|extra (field|input)|only the default|one of|mandatory"
)
_HUMP = re.compile(r"_(.)")


def find_refused_option(refusal: Refusal, body: Mapping[str, Any]) -> str | None:
    """Return the option in a body that the server rejected, if any."""
    if (choice := _name_choice(body)) and refusal.refuses_tool_choice:
        return choice
    if refusal.status not in (400, 422):
        return None
    for name, words in OURS.items():
        if refusal.mentions(words) and _is_in(body, name):
            return name
    if not rejects(refusal):
        return None
    if nearest := _find_nearest_effort(refusal, body):
        return f"effort {_read_effort(body)} {nearest}"
    field = refusal.param.partition(".")[0]
    found = [name for name, words in THINKING.items() if name in body and refusal.mentions(words)]
    found += [name for name in THINKING if name in body and name == field]
    found += [name for name in body if name in SAMPLING and (name == field or _names(refusal.message, name))]
    return next(iter(found), None)


def rejects(refusal: Refusal) -> bool:
    """Return whether the server says that something in the request is not supported."""
    return refusal.status in (400, 422) and _REJECTS.search(refusal.message) is not None


def leave_out(body: Mapping[str, Any], without: Set[str]) -> dict[str, Any]:
    """Return a body without the options that the server rejects; one with another name gets that name."""
    kept = dict(body)
    for name in without & ({*OURS, *THINKING, *SAMPLING} - {"strict", "encrypted_content"}):
        outer, _, inner = name.partition(".")
        if inner and is_mapping(kept.get(outer)):
            kept[outer] = {key: value for key, value in kept[outer].items() if key != inner}
        elif name in kept and name in RENAMED and RENAMED[name] not in without:
            kept.setdefault(RENAMED[name], kept.pop(name))
        else:
            kept.pop(name, None)
    if _name_choice(kept) in without:
        del kept["tool_choice"]
    replaced = dict(part.split()[1:] for part in without if part.startswith("effort "))
    return _replace_effort(kept, replaced)


def _replace_effort(body: dict[str, Any], replaced: Mapping[str, str]) -> dict[str, Any]:
    """Return a body with an effort that the model knows instead of one that it has rejected."""
    asked = _read_effort(body)
    if asked not in replaced:
        return body
    effort = replaced[asked]
    warn_once(f"{body.get('model')} does not know the effort {asked!r} of thinking; it is set to {effort!r}.")
    if "reasoning_effort" in body:
        return {**body, "reasoning_effort": effort}
    return {**body, "reasoning": {**body["reasoning"], "effort": effort}}


def _read_effort(body: Mapping[str, Any]) -> str:
    inner = body.get("reasoning")
    return str(body.get("reasoning_effort") or (inner.get("effort") if is_mapping(inner) else ""))


def _find_nearest_effort(refusal: Refusal, body: Mapping[str, Any]) -> str | None:
    """Return the effort nearest to the rejected one, if the server lists those that the model knows."""
    asked, listed = _read_effort(body), _SUPPORTED.search(refusal.message)
    names_effort = refusal.param.endswith("effort") or "effort" in refusal.message
    if asked not in EFFORTS or listed is None or not names_effort:
        return None
    known = [effort for effort in EFFORTS if effort != asked and f"'{effort}'" in listed[1]]
    place = EFFORTS.index(asked)
    return min(known, key=lambda effort: abs(EFFORTS.index(effort) - place), default=None)


def _name_choice(body: Mapping[str, Any]) -> str:
    """Return the name of the body's `tool_choice`, as each of its values may be rejected alone; or nothing.

    Kimi, DeepSeek and Qwen reject `required` while they think, but `none` is fine.
    """
    choice = body.get("tool_choice")
    named = choice if isinstance(choice, str) else "specified"
    return "" if choice is None else f"tool_choice.{named}"


def _is_in(body: Mapping[str, Any], name: str) -> bool:
    if name == "response_format":
        return name in body or (is_mapping(body.get("text")) and "format" in body["text"])
    if name == "strict":
        return "tools" in body
    if name == "encrypted_content":
        return "include" in body
    outer, _, inner = name.partition(".")
    return outer in body and (not inner or (is_mapping(body[outer]) and inner in body[outer]))


def _names(message: str, option: str) -> bool:
    """Return whether a message names an option, as it is sent or as `topP`."""
    hump = _HUMP.sub(lambda match: match[1].upper(), option)
    return re.search(rf"(?<![\w-])({option}|{hump})(?![\w-])", message) is not None
