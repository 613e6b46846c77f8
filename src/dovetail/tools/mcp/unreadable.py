"""Messages of MCP servers that the package refuses to read: half characters, deep nesting.

The package leaves such a message out, and whoever waits for that answer would wait until the time limit. A
JavaScript program that cuts a text inside of an emoji is enough for it.
"""

import json
import re
from typing import Any

from dovetail.data.clean import clean_data
from dovetail.data.shapes import is_dict
from dovetail.lazy import lazy

mcp_types = lazy("mcp.types", extra="mcp")
mcp_message = lazy("mcp.shared.message", extra="mcp")

REASON = "its answer cannot be read, it may be nested too deeply"
_PARSE_ERROR = -32700
_ID = re.compile(r'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"')


def read_again(error: Exception) -> tuple[Any, bool]:
    """Read the message behind an error once more, cleaned.

    Returns:
        What to hand on (the message, an error in place of the answer, or the error given), and whether it is
        the whole message.
    """
    data = _parse(error)
    try:
        return _make(clean_data(data)), True
    except Exception:  # the package checks the message and raises what it likes
        pass
    request_id = data.get("id")
    if not isinstance(request_id, int | str) or "method" in data:
        return error, False
    answer = {"jsonrpc": "2.0", "id": request_id, "error": {"code": _PARSE_ERROR, "message": REASON}}
    return _make(answer), False


def _parse(error: Exception) -> dict[str, Any]:
    """Return the message; of one that is nested beyond all limits its id alone, where it begins with that."""
    read: Any = getattr(error, "errors", None)
    text: Any = read()[0].get("input") if read is not None else None
    try:
        data: Any = json.loads(text)
    except RecursionError:
        found = _ID.match(text)
        return {"id": int(found[1])} if found else {}
    except (TypeError, ValueError):  # not an error of the validator, or not JSON
        return {}
    return data if is_dict(data) else {}


def _make(data: Any) -> Any:
    return mcp_message.SessionMessage(mcp_types.jsonrpc_message_adapter.validate_python(data, by_name=False))
