"""Reads calls that are nearly right; each repair is logged as `[tool-repair]`."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from dovetail.data.clean import clean_texts
from dovetail.data.shapes import is_dict
from dovetail.errors import ToolError
from dovetail.response.parser import InstantParser
from dovetail.tools.registry import ToolSnapshot
from dovetail.tools.tool import Tool

logger = logging.getLogger(__name__)

DEEPEST = 64
"""How deeply arguments may be nested; validators and tools recurse into them."""
MOST = 1000
"""Arguments of one call; each that the tool does not know is looked at for what it may mean."""
LONGEST_REPAIRED = 100_000
"""Characters of arguments that are read leniently, which is much slower than reading JSON."""


def find_by_near_name(name: str, snapshot: ToolSnapshot) -> Tool | None:
    """The one tool whose name differs only in case, `-` for `_`, or a prefix such as `functions.`."""
    wanted = _normalize(name)
    found = [tool for tool in snapshot if _normalize(tool.name) == wanted]
    if len(found) != 1:
        return None
    logger.info("[tool-repair] name %r read as %r", name, found[0].name)
    return found[0]


def read_arguments(tool: Tool, arguments: str | Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call as an object, from JSON text or a mapping.

    Raises:
        ToolError: the text is no object, not even when it is read leniently, or it is nested too deeply.
    """
    args = _read_text(tool, arguments) if isinstance(arguments, str) else dict(arguments)
    if len(args) > MOST:
        raise _wrong(tool, f"are {len(args)} at once, at most {MOST} are read")
    try:
        return clean_texts(args, DEEPEST + 1)
    except ValueError as error:
        raise _wrong(tool, f"are nested deeper than {DEEPEST} levels") from error


def _read_text(tool: Tool, text: str) -> dict[str, Any]:
    try:
        value: Any = json.loads(text or "{}")
    except RecursionError as error:
        raise _wrong(tool, f"are nested deeper than {DEEPEST} levels") from error
    except ValueError as error:
        return _read_leniently(tool, text, error)
    if is_dict(value):
        return value
    if value is None:
        return {}
    if isinstance(value, str) and value.lstrip().startswith("{"):
        logger.info("[tool-repair] %s: arguments inside of a string read as an object", tool.name)
        return _read_text(tool, value)
    raise _wrong(tool, f"must be an object, not {text[:80]!r}")


def _read_leniently(tool: Tool, text: str, error: ValueError) -> dict[str, Any]:
    """Read code fences, comments, single quotes and their like; but never half a value."""
    if not text.strip():
        return {}
    if len(text) > LONGEST_REPAIRED:
        raise _wrong(tool, f"are not JSON: {error}") from error
    parser = InstantParser(tool.parameters.get("properties"))
    parser.feed(text)
    is_found = parser.data is not None
    completed_late = parser.finish()
    if is_found and completed_late:
        raise _wrong(
            tool, f"are cut off inside of `{completed_late[0].path}`: send them again, whole"
        ) from error
    if not is_dict(parser.data):
        raise _wrong(tool, f"are not JSON: {error}") from error
    logger.info("[tool-repair] %s: arguments read leniently, they are not JSON: %s", tool.name, error)
    return parser.data


def _wrong(tool: Tool, what: str) -> ToolError:
    return ToolError(f"the arguments of {tool.name!r} {what}", type="invalid_tool_params")


def _normalize(name: str) -> str:
    return name.rpartition(".")[2].strip().replace("-", "_").casefold()
