"""Tools that act in the user's browser (rule C50): a definition here, a handler of the same name there.

The call waits until the browser has answered: for the seconds in the argument `timeoutSec`, if the model
passes it, otherwise for the tool's own time limit, which is a minute by default.
"""

from collections.abc import Mapping
from typing import Any

from dovetail.errors import ToolError
from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.policy.pending import normalize_timeout
from dovetail.tools.tool import Tool


def make_browser_tool(
    name: str,
    description: str,
    parameters: Mapping[str, Any],
    *,
    kind: Kind = Kind.Other,
    patience: float | None = None,
    **choices: Any,
) -> Tool:
    """Return a tool that runs in the browser tab that the request came from.

    `parameters` is a JSON Schema; the browser has `patience` seconds; other options are fields of `Tool`.
    """

    async def execute(args: dict[str, Any], context: ToolContext) -> Any:
        if context.tab_id is None or context.ask is None:
            raise ToolError(f"{name!r} runs in the user's browser, but none is connected.", type="no_tab")
        seconds = normalize_timeout(args.get("timeoutSec") or patience)
        payload = {"tool": name, "args": args, "tab_id": context.tab_id}
        return read_answer(name, await context.ask("browser", payload, seconds), seconds)

    choices.setdefault("origin", "browser")
    choices.setdefault("idempotent", True)  # called again after a crash, it finds its question, or the answer
    return Tool(
        name=name,
        description=description,
        parameters=parameters,
        kind=kind,
        execute=execute,
        needs_tab=True,
        time_limit=None,
        **choices,
    )


def read_answer(name: str, answer: Mapping[str, Any], seconds: float) -> Any:
    """Return the browser's result; a failure, a refusal and a time-out are errors for the model."""
    status = answer.get("status")
    if status == "timeout":
        raise ToolError(f"The browser did not answer {name!r} within {seconds:g} s.", type="timeout")
    if status == "failed":
        raise ToolError(
            f"The browser failed: {answer.get('errorText') or 'no reason given.'}", type="browser_failed"
        )
    if answer.get("approved") is False:
        raise ToolError(f"The user declined {name!r} in the browser.", type="declined")
    output = answer.get("output", answer.get("value"))
    return "done" if output is None else output


open_url = make_browser_tool(
    "open-url",
    "Open a web page in the user's browser panel. Use it when the user wants to see the page.",
    {
        "type": "object",
        "properties": {
            "actionName": {
                "type": "string",
                "minLength": 1,
                "description": "What this does for the user, in a few words of their language.",
            },
            "url": {"type": "string", "description": "The address of the page."},
            "title": {"type": "string", "description": "A title for the panel."},
            "timeoutSec": {
                "type": "integer",
                "exclusiveMinimum": 0,
                "description": "How long to wait for the page, in seconds; 60 by default.",
            },
        },
        "required": ["actionName", "url"],
        "additionalProperties": False,
    },
    display_name="Open page",
)
