"""What a call would do, shown before it is approved: a diff, a command, a request or a text.

A tool declares `preview(arguments, context)`, sync or async, which returns one of these, a text, or None:

    {"kind": "diff", "path": …, "diff": …, "is_new": …}      {"kind": "command", "command": …, "folder": …}
    {"kind": "request", "method": …, "url": …}               {"kind": "text", "text": …}

The arguments are those that a person may see: the value of a key that names a secret is a label such as
`*** (secret 1, 8 characters)`.

Promises: a preview never delays an approval for long, and one that fails, or has another form, is left out.
"""

import asyncio
import copy
import inspect
import logging
from collections.abc import Mapping
from typing import Any

from dovetail.data.clean import clean_data
from dovetail.data.shapes import is_mapping
from dovetail.events.tool_context import ToolContext
from dovetail.tools.threads import contain_exits, run_in_thread
from dovetail.tools.tool import Preview, Tool

logger = logging.getLogger(__name__)

SECONDS = 3.0
"""How long a preview may take; the approval is then asked for without it."""
LONGEST = 60_000
"""The most characters of a text in a preview; it is stored with the question."""

_FORMS: Mapping[str, Mapping[str, type]] = {
    "diff": {"path": str, "diff": str, "is_new": bool},
    "command": {"command": str, "folder": str},
    "request": {"method": str, "url": str},
    "text": {"text": str},
}


async def make_preview(tool: Tool, args: Mapping[str, Any], context: ToolContext) -> dict[str, Any] | None:
    """Return what a call would do, if its tool says so in time."""
    if tool.preview is None:
        return None
    try:
        async with asyncio.timeout(SECONDS):
            with contain_exits():
                value = await _call(tool.preview, copy.deepcopy(dict(args)), context)
        return read_preview(value)
    except Exception as error:
        logger.warning("tool %r has no preview of a call: %r", tool.name, error)
        return None


def read_preview(value: Any) -> dict[str, Any] | None:
    """Return a preview in its stored form, with long texts cut.

    Raises:
        ValueError: it has none of the known forms.
    """
    if value is None:
        return None
    if isinstance(value, str):
        value = {"kind": "text", "text": value}
    kind = value.get("kind") if is_mapping(value) else None
    form = _FORMS.get(kind) if isinstance(kind, str) else None
    if form is None or not is_mapping(value):
        raise ValueError(f"a preview must be a text or have one of the kinds {', '.join(_FORMS)}")
    preview: dict[str, Any] = {"kind": kind}
    for name, expected in form.items():
        given = value.get(name, expected())
        if not isinstance(given, expected):
            raise ValueError(f"`{name}` of a preview must be {expected.__name__}, got {given!r}")
        preview[name] = given
    return clean_data({name: _cut(given) for name, given in preview.items()})


async def _call(preview: Preview, args: dict[str, Any], context: ToolContext) -> Any:
    if inspect.iscoroutinefunction(preview):
        return await preview(args, context)
    value = await run_in_thread(lambda: preview(args, context))
    return await value if inspect.isawaitable(value) else value


def _cut(value: Any) -> Any:
    if not isinstance(value, str) or len(value) <= LONGEST:
        return value
    return f"{value[:LONGEST]}\n… ({len(value) - LONGEST} more characters)"
