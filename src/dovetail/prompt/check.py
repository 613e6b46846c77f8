"""Find problems of a prompt configuration, with their lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dovetail.data.paths import split_path
from dovetail.data.shapes import is_mapping, is_sequence
from dovetail.data.template import find_placeholders
from dovetail.data.text import did_you_mean, explain_choices
from dovetail.errors import EmptyPromptError, PromptError
from dovetail.prompt.prompt import Prompt
from dovetail.prompt.slots import STANDARD, read_slots, require_content
from dovetail.prompt.source import KeyPath, Source, find_nearest, find_positions

_FORMATS = ("json", "markdown", "text")
_LISTS = ("tools", "chat_history", "attachment")
_HARMLESS: dict[str | int, Any] = {
    "role": "user",
    "content": "x",
    "part": {"type": "text", "text": "x"},
    "tools": {"name": "x", "desc": "x", "kwargs": {}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptProblem:
    """One problem: an `error`, or a `warning` about a likely mistake."""

    message: str
    kind: Literal["error", "warning"] = "error"
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f"{self.line}:{self.column}: "
        return f"{place}{self.kind}: {self.message}"


def find_problems(source: Source, prompt: Prompt, prompt_key_path: str | None = None) -> list[PromptProblem]:
    """Return the problems of the prompt that a configuration produced."""
    positions = find_positions(source)
    root = _find_root(prompt_key_path)
    problems: list[PromptProblem] = []
    for kind, message, path in _judge(prompt):
        line, column = _locate(positions, root, path) or (None, None)
        problems.append(PromptProblem(message=message, kind=kind, line=line, column=column))
    return problems


def find_alias_problems(
    source: Source,
    wrong: Mapping[str, str],
    prompt_key_path: str | None = None,
    kind: Literal["error", "warning"] = "warning",
) -> list[PromptProblem]:
    """Return a problem for each alias that cannot be called."""
    return _place(source, wrong, (*_find_root(prompt_key_path), ".alias"), kind)


def find_doubts(
    source: Source, doubts: Mapping[str, str], prompt_key_path: str | None = None
) -> list[PromptProblem]:
    """Return a problem for each key that may be a mistake."""
    return _place(source, doubts, _find_root(prompt_key_path), "warning")


def _find_root(prompt_key_path: str | None) -> KeyPath:
    return tuple(split_path(prompt_key_path)) if prompt_key_path else ()


def _place(
    source: Source, wrong: Mapping[str, str], root: KeyPath, kind: Literal["error", "warning"]
) -> list[PromptProblem]:
    positions = find_positions(source)
    problems: list[PromptProblem] = []
    for name, message in wrong.items():
        line, column = find_nearest(positions, (*root, name)) or (None, None)
        problems.append(PromptProblem(message=message, kind=kind, line=line, column=column))
    return problems


_Verdict = tuple[Literal["error", "warning"], str, KeyPath]


def _judge(prompt: Prompt) -> Iterator[_Verdict]:
    data: dict[str, Any] = prompt.get()
    yield from _judge_slots(data)
    yield from _judge_names(data)
    output_format = data.get("output_format")
    if output_format is not None and str(output_format) not in _FORMATS:
        yield "warning", explain_choices("output_format", output_format, _FORMATS), ("output_format",)
    for path, name in _find_unfilled(data, ()):
        yield "warning", f"Missing value for the placeholder {name!r}.", path


def _judge_slots(data: dict[str, Any]) -> Iterator[_Verdict]:
    is_broken = False
    for key, value in data.items():
        for verdict in _judge_slot(key, value):
            is_broken = True
            yield verdict
    if not is_broken:
        try:
            require_content(read_slots(data))
        except EmptyPromptError as error:
            yield "error", error.message, ()


def _judge_slot(key: str, value: Any) -> Iterator[_Verdict]:
    """Yield every error of a slot: each wrong value is replaced by a harmless one and the slot read again."""
    found: set[KeyPath] = set()
    if key in _LISTS:
        value = [_copy(item) for item in (value if is_sequence(value) else [value])]
    while True:
        try:
            Prompt({"input": "x", key: value}).to_messages(rich_content=True)
            return
        except PromptError as error:
            location: Any = getattr(error, "errors")()[0]["loc"][0]  # noqa: B009 (pydantic's own)
            path = tuple(split_path(location))
            if path in found:
                return
            found.add(path)
            yield "error", error.message, path
            if key not in _LISTS:
                return
            _put_harmless(value, path)


def _put_harmless(items: list[Any], path: KeyPath) -> None:
    """Replace the value at an error's path with one that the slot accepts."""
    *steps, last = path[1:]
    holder: Any = items
    for step in steps:
        holder = holder[step]
    holder[last] = _HARMLESS.get(last) or _HARMLESS[str(path[0]) if path[0] == "tools" else "part"]


def _copy(value: Any) -> Any:
    if is_mapping(value):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if is_sequence(value) else value


def _judge_names(data: dict[str, Any]) -> Iterator[_Verdict]:
    for key in data:
        near = did_you_mean(key, STANDARD, most=1, cutoff=0.75)
        if key not in STANDARD and near:
            yield "warning", f"Unknown slot {key!r} becomes a block of its own. {near}", (key,)


def _find_unfilled(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, str):
        yield from ((path, name) for name in find_placeholders(value))
    elif is_mapping(value):
        for key, item in value.items():
            yield from _find_unfilled(str(key), (*path, str(key)))
            yield from _find_unfilled(item, (*path, str(key)))
    elif is_sequence(value):
        for index, item in enumerate(value):
            yield from _find_unfilled(item, (*path, index))


def _locate(
    positions: dict[KeyPath, tuple[int, int]], root: KeyPath, path: KeyPath
) -> tuple[int, int] | None:
    """Return the paths of a slot's value: its name, `$slot`, or inside `.request`, `.agent` or `.alias`."""
    if not path:
        return None
    slot, *rest = path
    for start in ((slot,), (".request", slot), (f"${slot}",), (".agent", slot), (".alias", slot)):
        if (*root, *start) in positions:
            return find_nearest(positions, (*root, *start, *rest))
    return None
