"""Tools: the contract, the registry, the pipeline that runs calls, and makers of tools."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.errors import ToolError
    from dovetail.events.call import Kind
    from dovetail.events.run_context import CallScope, RequestContext, RunContext, get_request_context
    from dovetail.events.tool_context import ToolContext
    from dovetail.tools.makers.declarative import (
        BaseDeclarativeTool,
        BaseToolInvocation,
        DeclarativeTool,
        ToolInvocation,
    )
    from dovetail.tools.makers.function import make_tool
    from dovetail.tools.manager import ToolManager
    from dovetail.tools.pipeline.runner import CallOutcome, ToolRunner
    from dovetail.tools.registry import ToolRegistry
    from dovetail.tools.snapshot import ToolSnapshot
    from dovetail.tools.tool import Tool, ToolFailure, ToolResult

__all__ = [
    "BaseDeclarativeTool",
    "BaseToolInvocation",
    "CallOutcome",
    "CallScope",
    "DeclarativeTool",
    "Kind",
    "RequestContext",
    "RunContext",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolFailure",
    "ToolInvocation",
    "ToolManager",
    "ToolRegistry",
    "ToolResult",
    "ToolRunner",
    "ToolSnapshot",
    "get_request_context",
    "make_tool",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "BaseDeclarativeTool": "dovetail.tools.makers.declarative",
        "BaseToolInvocation": "dovetail.tools.makers.declarative",
        "CallOutcome": "dovetail.tools.pipeline.runner",
        "CallScope": "dovetail.events.run_context",
        "DeclarativeTool": "dovetail.tools.makers.declarative",
        "Kind": "dovetail.events.call",
        "RequestContext": "dovetail.events.run_context",
        "RunContext": "dovetail.events.run_context",
        "Tool": "dovetail.tools.tool",
        "ToolContext": "dovetail.events.tool_context",
        "ToolError": "dovetail.errors",
        "ToolFailure": "dovetail.tools.tool",
        "ToolInvocation": "dovetail.tools.makers.declarative",
        "ToolManager": "dovetail.tools.manager",
        "ToolRegistry": "dovetail.tools.registry",
        "ToolResult": "dovetail.tools.tool",
        "ToolRunner": "dovetail.tools.pipeline.runner",
        "ToolSnapshot": "dovetail.tools.snapshot",
        "get_request_context": "dovetail.events.run_context",
        "make_tool": "dovetail.tools.makers.function",
    },
)
