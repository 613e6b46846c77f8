"""How long a model thinks: `model.thinking` in the words of each server."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from dovetail.requesters.thinking import count_tokens, name_level, warn_always
from dovetail.requesters.warn import warn_once

Style: TypeAlias = Literal[
    "effort", "switch", "switch and effort", "reasoning", "template", "enable", "high", "groq"
]
"""The ways in which servers are asked to think; each has a writer in `_WRITERS`."""

_REASONING = re.compile(r"o[1-9]|gpt-[5-9]|codex-|computer-use|grok-(3-mini|[4-9]|code|build)")
_MINIMAL = re.compile(r"gpt-5(-mini|-nano)?(-\d{4}.*)?$")
_ALWAYS = re.compile(r"o[1-9]|gpt-5-(codex|pro)|gpt-oss|computer-use|grok-(3-mini|4-0709)")


def is_reasoning_model(model: str) -> bool:
    """Return whether a model of OpenAI or xAI thinks before it answers, by its name."""
    name = model.rpartition("/")[2]
    return bool(_REASONING.match(name)) and "-chat" not in name and "non-reasoning" not in name


def name_effort(thinking: str | int, model: str) -> str:
    """Return the effort in OpenAI's words; the least that the model can do stands for off."""
    level = name_level(thinking)
    if level != "off":
        return level
    name = model.rpartition("/")[2]
    if _MINIMAL.match(name):
        return "minimal"
    if _ALWAYS.match(name):
        warn_always(model)
        return "low"
    return "none"


def write_thinking(style: Style, thinking: str | int, model: str) -> dict[str, Any]:
    """Return the fields of a chat request that set how long the model thinks."""
    return _WRITERS[style](thinking, model)


def _write_effort(thinking: str | int, model: str) -> dict[str, Any]:
    return {"reasoning_effort": name_effort(thinking, model)}


def _write_switch(thinking: str | int, model: str) -> dict[str, Any]:
    _warn_if_limited(thinking, model)
    return _switch(thinking)


def _switch(thinking: str | int) -> dict[str, Any]:
    return {"thinking": {"type": "disabled" if thinking == "off" else "enabled"}}


def _warn_if_limited(thinking: str | int, model: str) -> None:
    """Warn if less than all thinking is asked for, of a server that can only turn it on and off."""
    if thinking not in ("off", "high"):
        warn_once(f"{model} can only think or not think; {thinking!r} lets it think as long as it wants.")


def _write_switch_and_effort(thinking: str | int, model: str) -> dict[str, Any]:
    effort = {} if thinking == "off" else {"reasoning_effort": name_level(thinking)}
    return {**_switch(thinking), **effort}


def _write_reasoning(thinking: str | int, model: str) -> dict[str, Any]:
    if thinking == "off":
        return {"reasoning": {"enabled": False}}
    return {"reasoning": {"effort": thinking} if isinstance(thinking, str) else {"max_tokens": thinking}}


def _write_template(thinking: str | int, model: str) -> dict[str, Any]:
    effort = {} if thinking == "off" else {"reasoning_effort": name_level(thinking)}
    return {"chat_template_kwargs": {"enable_thinking": thinking != "off"}, **effort}


def _write_enable(thinking: str | int, model: str) -> dict[str, Any]:
    budget = {} if thinking == "off" else {"thinking_budget": count_tokens(thinking)}
    return {"enable_thinking": thinking != "off", **budget}


def _write_high(thinking: str | int, model: str) -> dict[str, Any]:
    _warn_if_limited(thinking, model)
    return {"reasoning_effort": "none" if thinking == "off" else "high"}


def _write_groq(thinking: str | int, model: str) -> dict[str, Any]:
    if "gpt-oss" in model:
        return _write_effort(thinking, model)
    _warn_if_limited(thinking, model)
    return {"reasoning_effort": "none" if thinking == "off" else "default"}


_WRITERS: Mapping[Style, Callable[[str | int, str], dict[str, Any]]] = {
    "effort": _write_effort,
    "switch": _write_switch,
    "switch and effort": _write_switch_and_effort,
    "reasoning": _write_reasoning,
    "template": _write_template,
    "enable": _write_enable,
    "high": _write_high,
    "groq": _write_groq,
}
