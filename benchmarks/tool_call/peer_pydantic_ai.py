"""Time pydantic-ai's handling of one call of the function and print JSON."""

import json

from pydantic_ai import RunContext
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.tool_manager import ToolManager
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import RunUsage

from benchmarks.tool_call.function import add
from benchmarks.tool_call.loops import measure_async

toolset = FunctionToolset(tools=[add])
context = RunContext(deps=None, model=TestModel(), usage=RunUsage(), prompt=None, run_step=0)
part = ToolCallPart("add", {"a": 1}, tool_call_id="call")
manager = None


async def call() -> object:
    global manager
    if manager is None:
        manager = await ToolManager(toolset).for_run_step(context)
    return await manager.handle_call(part)


print(json.dumps(measure_async({"add(1)": lambda: add(1), "handle_call": call})))
