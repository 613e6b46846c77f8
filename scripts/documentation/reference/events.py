"""docs/reference/events.md: the events of a run's journal."""

from collections.abc import Iterator
from typing import get_args

import griffe

from documentation.markdown import code, head, join, table
from documentation.reference.source import find, list_members, read_docstring
from dovetail.events.run_events import EndReason, Event

INTRODUCTION = """\
Whatever happens in a run is an event, numbered in the run's journal. `GET /api/v1/runs/{run_id}/events`
([HTTP](http.md)) streams the journal. In JSON an event has, next to its own fields, `number`, `run_id`,
`path` (the runs from the root to this one), `time` and `type`. Ignore unknown types: new ones may be added.

The stream of a chat has [chunks](chunks.md) instead, which are made of these events.
"""


def write() -> str:
    """Return the page."""
    events = [
        find(event.__module__.removeprefix("dovetail.") + "." + event.__name__) for event in get_args(Event)
    ]
    reasons = ", ".join(code(reason) for reason in get_args(EndReason))
    return join(
        head("Events", "src/dovetail/events", INTRODUCTION),
        *(_describe_class(event, _read_type(event)) for event in events if isinstance(event, griffe.Class)),
        "## Usage",
        *_describe_body(find("events.delta.Usage")),
        "## Why a run ends",
        f"The `reason` of a `run-end` is one of {reasons}.",
    )


def _read_type(event: griffe.Class) -> str:
    declared = event.members["type"]
    return str(declared.value).strip("'\"") if isinstance(declared, griffe.Attribute) else event.name


def _describe_class(event: griffe.Class, title: str) -> str:
    return join(f"## {code(title)}", *_describe_body(event), f"In Python: {code(event.path)}.")


def _describe_body(described: griffe.Object) -> Iterator[str]:
    yield read_docstring(described)
    if isinstance(described, griffe.Class):
        yield table(["Field", "Type", "Default"], _list_fields(described))


def _list_fields(described: griffe.Class) -> Iterator[tuple[str, str, str]]:
    for name, field in list_members(described):
        if isinstance(field, griffe.Attribute) and name != "type" and "property" not in field.labels:
            default = "" if field.value is None or "field(" in str(field.value) else code(str(field.value))
            yield code(name), code(str(field.annotation or "")), default
