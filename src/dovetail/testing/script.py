"""A script: the replies of a scripted model, taken in order, also as plain data from a JSON file.

`ScriptedRequester` plays a script without a network, `ScriptedServer` plays it over HTTP.
"""

import base64
import dataclasses
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, cast

from dovetail.data.shapes import is_mapping
from dovetail.data.text import explain_choices, to_text
from dovetail.errors import ConfigError, ContextLengthError, ModelError, TransientModelError
from dovetail.events.call import ModelRequest, ToolCall
from dovetail.events.delta import (
    FinishDelta,
    ProgressDelta,
    ProviderPartDelta,
    ReasoningDelta,
    ToolCallDelta,
    Usage,
)
from dovetail.testing.replies import Break, Gate, Reply, Step

Scripted: TypeAlias = (
    str
    | Sequence[Step | Mapping[str, Any]]
    | Mapping[str, Any]
    | Exception
    | Reply
    | Callable[[ModelRequest], Any]
)
"""A reply in a script: text, a list of steps, the fields of a `Reply`, an error, or a function."""
FindGate = Callable[[str], Gate]
T = TypeVar("T")
_FIELDS = [*Reply.__dataclass_fields__, "error"]
_STEPS: dict[str, Callable[[Any, FindGate], Step]] = {
    "text": lambda value, find_gate: str(value),
    "reasoning": lambda value, find_gate: ReasoningDelta(value),
    "tool_call": lambda value, find_gate: read_fields(ToolCallDelta, value),
    "provider_part": lambda value, find_gate: read_fields(ProviderPartDelta, value),
    "progress": lambda value, find_gate: read_fields(ProgressDelta, value),
    "finish": lambda value, find_gate: _read_finish(value),
    "hold": lambda value, find_gate: find_gate(value),
    "break": lambda value, find_gate: Break(value),
    "raw": lambda value, find_gate: str(value).encode(),
    "bytes": lambda value, find_gate: base64.b64decode(value),
    "error": lambda value, find_gate: read_error(value),
}


class Script:
    """The replies of a model: first those whose `when` matches, otherwise the next one in order."""

    def __init__(self, replies: Iterable[Scripted]) -> None:
        self._lock = threading.Lock()
        self._replies = list(replies)
        self._gates: dict[str, Gate] = {}
        self._taken = 0

    def add(self, *replies: Scripted) -> None:
        """Append replies."""
        with self._lock:
            self._replies.extend(replies)

    def clear(self) -> int:
        """Drop the remaining replies and return their number; gates that were opened are closed again."""
        with self._lock:
            left = len(self._replies)
            self._replies.clear()
            self._gates.clear()
        return left

    def gate(self, name: str) -> Gate:
        """Return the gate at which steps of the form `{"hold": name}` wait."""
        return self._gates.setdefault(name, Gate(name))

    @property
    def unused(self) -> list[Scripted]:
        """The replies that were not requested."""
        return [reply for reply in self._replies if not _read_option(reply, "repeat")]

    def take(self, request: ModelRequest) -> Reply:
        """Return the reply for this request."""
        said = last_text(request)
        with self._lock:
            self._taken += 1
            place = self._find(said)
            if place is None:
                raise ConfigError(
                    f"The script has no reply for request {self._taken}; its last message is {said[:200]!r}.",
                    hint="Add a reply to the script, or check why one more request was made.",
                )
            repeat = _read_option(self._replies[place], "repeat")
            value = self._replies[place] if repeat else self._replies.pop(place)
        return self._read(value, request)

    def _find(self, said: str) -> int | None:
        plain = None
        for place, reply in enumerate(self._replies):
            when = _read_option(reply, "when")
            if when is None:
                plain = place if plain is None else plain
            elif when in said:
                return place
        return plain

    def _read(self, value: Scripted, request: ModelRequest) -> Reply:
        if isinstance(value, Reply):
            return value
        if isinstance(value, str):
            return Reply(text=value)
        if isinstance(value, Exception):
            return Reply(steps=[value])
        if is_mapping(value):
            return read_reply(value, self.gate)
        if callable(value):
            return self._read(value(request), request)
        return Reply(steps=[read_step(step, self.gate) for step in value])


def _read_option(value: Scripted, name: Literal["when", "repeat"]) -> Any:
    if isinstance(value, Reply):
        return getattr(value, name)
    return value.get(name) if is_mapping(value) else None


def last_text(request: ModelRequest) -> str:
    """Return the text of the last message; other content as JSON."""
    content = request.messages[-1].get("content") if request.messages else ""
    return to_text(content)


def read_reply(fields: Mapping[str, Any], find_gate: FindGate) -> Reply:
    """Read a reply from a mapping; `error` is raised after everything else."""
    if unknown := [name for name in fields if name not in _FIELDS]:
        raise ConfigError(explain_choices("reply field", unknown[0], _FIELDS))
    values: dict[str, Any] = {name: value for name, value in fields.items() if name != "error"}
    if "tool_calls" in values:
        calls = enumerate(values["tool_calls"], start=1)
        values["tool_calls"] = [_read_call(call, number) for number, call in calls]
    if "steps" in values:
        values["steps"] = [read_step(step, find_gate) for step in values["steps"]]
    if is_mapping(values.get("usage")):
        values["usage"] = read_fields(Usage, values["usage"])
    if "error" in fields:
        values["steps"] = [*Reply(**values).plan(), read_error(fields["error"])]
    return Reply(**values)


def read_step(step: Step | Mapping[str, Any], find_gate: FindGate) -> Step:
    """Read a step from a mapping with one key; anything else is already a step."""
    if not isinstance(step, Mapping):
        return step
    name, value = next(iter(step.items()), ("", None))
    if len(step) != 1 or name not in _STEPS:
        raise ConfigError(f"Invalid step {dict(step)!r}: expected one of the keys {', '.join(_STEPS)}.")
    return _STEPS[name](value, find_gate)


ERRORS = {kind.__name__: kind for kind in (ModelError, TransientModelError, ContextLengthError)}


def read_error(value: Exception | str | Mapping[str, Any]) -> Exception:
    """Return the error for a text, or for its data: `{"message", "type", "provider", "status", …}`."""
    if isinstance(value, Exception):
        return value
    if isinstance(value, str):
        return ModelError(value, provider="scripted")
    if not is_mapping(value):
        raise ConfigError(
            f"The error of a reply must be text, a mapping or an exception, got {value!r}.",
            hint="For a status, write {'error': {'message': '…', 'status': 401}}.",
        )
    data: dict[str, Any] = {"type": "ModelError", "message": "", "provider": "scripted", **value}
    name = data.pop("type")
    if name not in ERRORS:
        raise ConfigError(explain_choices("type of an error", name, ERRORS))
    return ERRORS[name](data.pop("message"), **data)


def read_fields(kind: type[T], fields: Mapping[str, Any]) -> T:
    """Return a usage or a delta from its fields."""
    known = [field.name for field in dataclasses.fields(cast("Any", kind))]
    if unknown := [name for name in fields if name not in known]:
        raise ConfigError(explain_choices(f"{kind.__name__.lower()} field", unknown[0], known))
    return kind(**fields)


def _read_finish(fields: Mapping[str, Any]) -> FinishDelta:
    return read_fields(FinishDelta, {**fields, "usage": read_fields(Usage, fields.get("usage") or {})})


def _read_call(call: ToolCall | Mapping[str, Any], number: int) -> ToolCall:
    if isinstance(call, ToolCall):
        return call
    if not isinstance(call.get("name"), str):
        raise ConfigError(f"Call {number} has no tool name: {dict(call)!r}.", hint='Write {"name": "add"}.')
    call_id = call.get("call_id", f"call_{number}")
    return ToolCall(call_id=call_id, name=call["name"], arguments=call.get("arguments", {}))
