"""Results that a model writes as text although it must hand them in with a call."""

import dataclasses
import json
import re
from collections.abc import Sequence
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.events.call import ToolCall
from dovetail.events.run_context import RunContext, ignore_event
from dovetail.ids import new_id
from dovetail.tools.pipeline.runner import CallOutcome, ToolRunner
from dovetail.tools.snapshot import ToolSnapshot
from dovetail.tools.tool import Tool

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n?```", re.DOTALL)


async def hand_in_text(
    runner: ToolRunner, tools: ToolSnapshot, completion: str, text: str, context: RunContext
) -> CallOutcome | None:
    """Return what a call of `completion` with the JSON of an answer would be; None if it is not JSON.

    Nothing of the call is stored: the answer has its text.
    """
    tool = tools.get(completion)
    arguments = None if tool is None else _read_arguments(tool, text)
    if arguments is None:
        return None
    unseen = dataclasses.replace(context, emit=ignore_event, tools=tools)
    call = ToolCall(call_id=new_id("call"), name=completion, arguments=json.dumps(arguments))
    return await runner.run_call(tools, call, unseen)


def find_complaint(outcomes: Sequence[CallOutcome], completion: str | None) -> str:
    """Return why the last result that was handed in was refused; empty if none was."""
    refused = [each for each in outcomes if each.call.name == completion and each.status != "ok"]
    return str(refused[-1].result.llm_content) if refused else ""


def _read_arguments(tool: Tool, text: str) -> dict[str, Any] | None:
    """Return the arguments that an answer stands for: as a whole, or as the one argument of the tool."""
    fenced = _FENCED.fullmatch(text.strip())
    try:
        value = json.loads(fenced.group(1) if fenced else text)
    except ValueError:
        return None
    names = list(tool.parameters.get("properties", {}))
    if is_mapping(value) and set(value) == set(names):
        return dict(value)
    return {names[0]: value} if len(names) == 1 else None
