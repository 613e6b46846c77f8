"""One request to a model and its answer as JSON data, as cassettes store them.

The answer is written as the steps of a script: what was recorded can be pasted into one. A request is written
without what changes from run to run: the ids of calls are numbered in the order in which they appear.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import cut, to_text
from dovetail.errors import ModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProgressDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from dovetail.lazy import lazy
from dovetail.testing.script import ERRORS

difflib = lazy("difflib")

Clean = Callable[[str], str]
"""Removes secrets, and whatever else must not be stored, from a text."""

_REQUEST = ("model", "messages", "tools", "tool_choice", "schema", "options", "thinking", "longest")
_NAMES = {
    ToolCallDelta: "tool_call",
    ProviderPartDelta: "provider_part",
    ProgressDelta: "progress",
    FinishDelta: "finish",
}
_WIDEST = 100
_MOST_LINES = 40


def write_request(request: ModelRequest, clean: Clean) -> dict[str, Any]:
    """Return a request as data; what it does not set is left out."""
    usual = ModelRequest(messages=())
    given = {name: getattr(request, name) for name in _REQUEST}
    kept = {name: value for name, value in given.items() if value and value != getattr(usual, name)}
    return clean_texts(_number_calls(json.loads(json.dumps(kept, default=_to_plain))), clean)


def _to_plain(value: Any) -> Any:
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) else str(value)  # type: ignore[arg-type]


def _number_calls(request: dict[str, Any]) -> dict[str, Any]:
    numbers: dict[str, str] = {}

    def rename(call_id: Any) -> str:
        return numbers.setdefault(str(call_id), f"call-{len(numbers) + 1}")

    for message in request.get("messages", ()):
        for call in message.get("tool_calls") or ():
            call["id"] = rename(call.get("id"))
        if "tool_call_id" in message:
            message["tool_call_id"] = rename(message["tool_call_id"])
    return request


def clean_texts(value: Any, clean: Clean) -> Any:
    """Return data with all its texts cleaned."""
    if isinstance(value, str):
        return clean(value)
    if is_mapping(value):
        return {name: clean_texts(item, clean) for name, item in value.items()}
    return [clean_texts(item, clean) for item in value] if is_list(value) else value


def write_answer(deltas: Sequence[Delta], error: ModelError | None, clean: Clean) -> list[Any]:
    """Return the deltas of an answer as the steps of a script, and the error that ended it, if any."""
    steps = [write_step(delta, clean) for delta in _join_secrets(deltas, clean)]
    if error is not None:
        fields = {name: value for name, value in vars(error).items() if value is not None and name[0] != "_"}
        kind = next(parent.__name__ for parent in type(error).__mro__ if parent.__name__ in ERRORS)
        steps.append({"error": clean_texts({"type": kind, **fields}, clean)})
    return steps


def write_step(delta: Delta, clean: Clean) -> Any:
    """Return one delta as a step of a script."""
    if isinstance(delta, TextDelta):
        return clean(delta.text)
    if isinstance(delta, ReasoningDelta):
        return {"reasoning": clean(delta.text)}
    fields = {
        field.name: dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value  # type: ignore[arg-type]
        for field in dataclasses.fields(delta)
        if (value := getattr(delta, field.name)) not in ("", None)
    }
    return {_NAMES[type(delta)]: clean_texts(json.loads(json.dumps(fields, default=str)), clean)}


def _join_secrets(deltas: Iterable[Delta], clean: Clean) -> Iterator[Delta]:
    """Join neighbours in which a secret is spread over several deltas; it would not be found in each."""
    for _, group in groupby(deltas, _tell_apart):
        several = list(group)
        texts = [getattr(delta, "text", None) or getattr(delta, "arguments", "") for delta in several]
        whole = "".join(texts)
        if len(several) == 1 or "".join(map(clean, texts)) == clean(whole):
            yield from several
        elif isinstance(first := several[0], ToolCallDelta):
            yield dataclasses.replace(first, arguments=whole)
        else:
            yield type(first)(whole)  # type: ignore[call-arg]


def _tell_apart(delta: Delta) -> tuple[type, int]:
    return type(delta), delta.index if isinstance(delta, ToolCallDelta) else 0


def find_nearest(request: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the request that is most like this one, if there is any."""
    lines = _list_lines(request)

    def compare(other: Mapping[str, Any]) -> float:
        return difflib.SequenceMatcher(None, _list_lines(other), lines, autojunk=False).ratio()

    return max(others, key=compare, default=None)


def explain_difference(recorded: Mapping[str, Any], request: Mapping[str, Any]) -> str:
    """Return what differs between two requests, line by line, `-` recorded and `+` now."""
    before, after = _list_lines(recorded), _list_lines(request)
    shown = list(difflib.unified_diff(before, after, "recorded", "now", n=1, lineterm=""))
    rest = len(shown) - _MOST_LINES
    return "\n".join([*shown[:_MOST_LINES], *([f"… ({rest} more lines)"] if rest > 0 else [])])


def _list_lines(request: Mapping[str, Any]) -> list[str]:
    """Return a request as people read it, in lines short enough to show where a difference is."""
    lines: list[str] = []
    for name, value in request.items():
        if name == "messages":
            for message in value:
                rest = {key: part for key, part in message.items() if key not in ("role", "content")}
                lines += [f"{message.get('role')}:", *_fold(to_text(message.get("content")))]
                lines += _fold(to_text(rest)) if rest else ()
        elif name == "tools":
            lines += [line for spec in value for line in _fold(f"tool {to_text(spec)}")]
        else:
            lines += _fold(f"{name}: {to_text(value)}")
    return lines


def _fold(text: str) -> Iterator[str]:
    for line in text.splitlines() or [""]:
        for start in range(0, len(line) or 1, _WIDEST):
            yield cut(line[start : start + _WIDEST], _WIDEST)
