"""What is told of a tool call that a request has made: to its readers, on the bus and on the console."""

import json
import sys
from typing import TYPE_CHECKING, Any

from dovetail.agent.runtime import Runtime
from dovetail.data.json_data import to_json_data
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.settings import Settings

if TYPE_CHECKING:
    from dovetail.tools.outcome import CallOutcome

_result = lazy("dovetail.tools.result")

TOPIC = "TOOL"
EVENTS = "request.tool_events"
"""The setting of a request that holds what is told of its calls, as `(event, data)`."""


def write_log(outcome: "CallOutcome", purpose: str | None = None) -> dict[str, Any]:
    """The log of a call: `name` (also as `tool_name`), `kwargs`, `purpose`, `result` or the error's text."""
    error = outcome.result.error
    return {
        "name": outcome.call.name,
        "tool_name": outcome.call.name,
        "kwargs": outcome.call.shown_arguments,
        "purpose": purpose or f"use {outcome.call.name}",
        "result": _result.read_value(outcome.result) if error is None else error.message,
    }


def tell(log: dict[str, Any], result_data: dict[str, Any], runtime: Runtime, settings: Settings) -> None:
    """Put the log into the result, on the bus and, if the settings say so, on the console."""
    result_data.setdefault("extra", {}).setdefault("tool_logs", []).append(log)
    runtime.bus.publish(TOPIC, log)
    if settings.get("runtime.show_tool_logs"):
        sys.stderr.write(f"[{TOPIC}] {_write(log)}\n")


def _write(log: dict[str, Any]) -> str:
    try:
        return json.dumps(to_json_data(log), ensure_ascii=False, indent=2, default=str)
    except (ConfigError, ValueError):  # the result holds itself, or a number too long to be printed
        return _write({**log, "result": f"a {type(log['result']).__name__} that cannot be shown as JSON"})
