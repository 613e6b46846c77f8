"""Writes `web/src/protocol/events.gen.ts` from the events in `dovetail.events.run_events`.

python web/scripts/generate_events.py
"""

import dataclasses
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from dovetail.events.delta import RequestTiming, Usage
from dovetail.events.run_events import ChildEvent, Entry, Event

TARGET = Path(__file__).parent.parent / "src" / "protocol" / "events.gen.ts"
HEAD = """// Made from src/dovetail/events/run_events.py by web/scripts/generate_events.py; do not edit.
"""
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", Any: "unknown"}


def main() -> None:
    """Write the file."""
    TARGET.write_text(generate(), encoding="utf-8")


def generate() -> str:
    """The TypeScript for every event and the envelope around it."""
    kinds = [kind for kind in get_args(Event) if kind is not ChildEvent]  # that one never leaves the process
    names = [f"{kind.__name__.removesuffix('Event')}Event" for kind in kinds]
    parts = [HEAD, write_interface("Usage", Usage), write_interface("RequestTiming", RequestTiming)]
    parts += [write_interface(name, kind) for name, kind in zip(names, kinds, strict=True)]
    parts.append("export type RunEvent =\n" + "\n".join(f"  | {name}" for name in names) + ";\n")
    envelope = [field for field in dataclasses.fields(Entry) if field.name != "event"]
    hints = get_type_hints(Entry)
    lines = [f"  {field.name}: {write_type(hints[field.name])};" for field in envelope]
    parts.append(
        f"/** {first_line(Entry)} */\nexport type RunEntry = RunEvent & {{\n" + "\n".join(lines) + "\n};\n"
    )
    return "\n".join(parts)


def write_interface(name: str, kind: Any) -> str:
    """One dataclass as an interface; a ClassVar `type` becomes its literal."""
    hints = get_type_hints(kind)
    lines = [f'  type: "{kind.type}";'] if hasattr(kind, "type") else []
    lines += [f"  {field.name}: {write_type(hints[field.name])};" for field in dataclasses.fields(kind)]
    return f"/** {first_line(kind)} */\nexport interface {name} {{\n" + "\n".join(lines) + "\n}\n"


def write_type(hint: Any) -> str:
    """A Python annotation as a TypeScript type; a type without a JSON form is `unknown`."""
    if hint in PLAIN:
        return PLAIN[hint]
    if dataclasses.is_dataclass(hint):
        return str(getattr(hint, "__name__", "unknown"))
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in arguments)
    if origin in (Union, types.UnionType):
        return " | ".join(write_type(argument) for argument in arguments)
    if origin is tuple or origin is list:
        return f"{write_type(arguments[0])}[]"
    if origin is not None and issubclass(origin, Mapping):
        return f"Record<{write_type(arguments[0])}, {write_type(arguments[1])}>"
    raise TypeError(
        f"no TypeScript is known for the annotation {hint!r}; teach web/scripts/generate_events.py"
    )


def first_line(kind: Any) -> str:
    """The sentence that says what a class is."""
    return (kind.__doc__ or "").strip().splitlines()[0]


if __name__ == "__main__":
    main()
