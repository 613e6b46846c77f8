"""Time LangChain's `ainvoke` of the function and print JSON."""

import json

from langchain_core.tools import StructuredTool

from benchmarks.tool_call.function import add
from benchmarks.tool_call.loops import measure_async

tool = StructuredTool.from_function(coroutine=add)
plain = StructuredTool.from_function(coroutine=add, args_schema=tool.args_schema.model_json_schema())
call = {"type": "tool_call", "id": "call", "name": "add", "args": {"a": 1}}

times = measure_async(
    {
        "add(1)": lambda: add(1),
        "ainvoke of arguments": lambda: tool.ainvoke({"a": 1}),
        "ainvoke of a tool call": lambda: tool.ainvoke(call),
        "ainvoke, schema not validated": lambda: plain.ainvoke({"a": 1}),
    }
)
print(json.dumps(times))
