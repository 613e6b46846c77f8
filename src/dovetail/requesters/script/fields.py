"""Reads replies and steps that are written as plain data, as script files write them."""

import base64
from collections.abc import Callable, Mapping
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError, ModelError
from dovetail.messages.call import ToolCall
from dovetail.messages.delta import ReasoningDelta, Usage
from dovetail.requesters.script.gate import Gate
from dovetail.requesters.script.reply import Break, Reply, Step

FindGate = Callable[[str], Gate]

_FIELDS = [*Reply.__dataclass_fields__, "error"]

_STEPS: dict[str, Callable[[Any, FindGate], Step]] = {
    "text": lambda value, find_gate: str(value),
    "reasoning": lambda value, find_gate: ReasoningDelta(value),
    "hold": lambda value, find_gate: find_gate(value),
    "break": lambda value, find_gate: Break(value),
    "raw": lambda value, find_gate: str(value).encode(),
    "bytes": lambda value, find_gate: base64.b64decode(value),
    "error": lambda value, find_gate: read_error(value),
}


def read_reply(fields: Mapping[str, Any], find_gate: FindGate) -> Reply:
    """The reply that a mapping describes; `error` is raised after everything else was said."""
    if unknown := [name for name in fields if name not in _FIELDS]:
        raise ConfigError(f"a reply has no field {unknown[0]!r}; there are: {', '.join(_FIELDS)}")
    values: dict[str, Any] = {name: value for name, value in fields.items() if name != "error"}
    if "tool_calls" in values:
        calls = enumerate(values["tool_calls"], start=1)
        values["tool_calls"] = [_read_call(call, number) for number, call in calls]
    if "steps" in values:
        values["steps"] = [read_step(step, find_gate) for step in values["steps"]]
    if is_mapping(values.get("usage")):
        values["usage"] = _read_usage(values["usage"])
    if "error" in fields:
        values["steps"] = [*Reply(**values).plan(), read_error(fields["error"])]
    return Reply(**values)


def read_step(step: Step | Mapping[str, Any], find_gate: FindGate) -> Step:
    """The step that a mapping with one key describes; anything else is a step already."""
    if not isinstance(step, Mapping):
        return step
    name, value = next(iter(step.items()), ("", None))
    if len(step) != 1 or name not in _STEPS:
        raise ConfigError(f"{dict(step)!r} is no step; a step has one of the keys {', '.join(_STEPS)}")
    return _STEPS[name](value, find_gate)


def read_error(value: Exception | str) -> Exception:
    """The error that a text describes."""
    return ModelError(value, provider="scripted") if isinstance(value, str) else value


def _read_usage(fields: Mapping[str, Any]) -> Usage:
    known = list(Usage.__dataclass_fields__)
    if unknown := [name for name in fields if name not in known]:
        raise ConfigError(f"usage has no field {unknown[0]!r}; there are: {', '.join(known)}")
    return Usage(**fields)


def _read_call(call: ToolCall | Mapping[str, Any], number: int) -> ToolCall:
    if isinstance(call, ToolCall):
        return call
    if not isinstance(call.get("name"), str):
        raise ConfigError(f"call {number} names no tool: {dict(call)!r}", hint='Write {"name": "add"}.')
    call_id = call.get("call_id", f"call_{number}")
    return ToolCall(call_id=call_id, name=call["name"], arguments=call.get("arguments", {}))
