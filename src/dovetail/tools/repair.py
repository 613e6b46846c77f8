"""Makes sense of calls that are nearly right; each repair is logged as `[tool-repair]`."""

import json
import logging
from typing import Any

from dovetail.data.shapes import is_dict
from dovetail.errors import ToolError
from dovetail.messages.call import ToolCall
from dovetail.tools.registry import ToolSnapshot
from dovetail.tools.tool import Tool

logger = logging.getLogger(__name__)


def find_name(name: str, snapshot: ToolSnapshot) -> Tool | None:
    """The one tool whose name differs only in case, `-` for `_`, or a prefix such as `functions.`."""
    wanted = _normalize(name)
    found = [tool for tool in snapshot if _normalize(tool.name) == wanted]
    if len(found) != 1:
        return None
    logger.info("[tool-repair] name %r read as %r", name, found[0].name)
    return found[0]


def read_arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call as an object, from JSON text or a mapping."""
    arguments = call.arguments
    if not isinstance(arguments, str):
        return dict(arguments)
    try:
        value: Any = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ToolError(
            f"the arguments of {call.name!r} are not JSON: {error}", type="invalid_tool_params"
        ) from error
    if is_dict(value):
        return value
    if value is None:
        return {}
    raise ToolError(
        f"the arguments of {call.name!r} must be an object, not {arguments[:80]!r}",
        type="invalid_tool_params",
    )


def repair_arguments(tool: Tool, args: dict[str, Any]) -> dict[str, Any]:
    """The arguments with what can be repaired repaired; what cannot stays as it is."""
    return args


def _normalize(name: str) -> str:
    return name.rpartition(".")[2].strip().replace("-", "_").casefold()
