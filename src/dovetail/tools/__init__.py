"""Tools: the contract, the registry, the pipeline that runs calls, and makers of tools."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.errors import ToolError
    from dovetail.events.call import Kind
    from dovetail.events.context import RequestContext, get_request_context
    from dovetail.tools.makers.declarative import (
        BaseDeclarativeTool,
        BaseToolInvocation,
        DeclarativeTool,
        ToolInvocation,
    )
    from dovetail.tools.makers.function import make_tool
    from dovetail.tools.manager import ToolManager
    from dovetail.tools.pipeline.runner import CallOutcome, CallScope, ToolRunner
    from dovetail.tools.registry import ToolRegistry, ToolSnapshot
    from dovetail.tools.tool import Tool, ToolContext, ToolFailure, ToolResult

__all__ = [
    "BaseDeclarativeTool",
    "BaseToolInvocation",
    "CallOutcome",
    "CallScope",
    "DeclarativeTool",
    "Kind",
    "RequestContext",
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
        "CallScope": "dovetail.tools.pipeline.runner",
        "DeclarativeTool": "dovetail.tools.makers.declarative",
        "Kind": "dovetail.events.call",
        "RequestContext": "dovetail.events.context",
        "Tool": "dovetail.tools.tool",
        "ToolContext": "dovetail.tools.tool",
        "ToolError": "dovetail.errors",
        "ToolFailure": "dovetail.tools.tool",
        "ToolInvocation": "dovetail.tools.makers.declarative",
        "ToolManager": "dovetail.tools.manager",
        "ToolRegistry": "dovetail.tools.registry",
        "ToolResult": "dovetail.tools.tool",
        "ToolRunner": "dovetail.tools.pipeline.runner",
        "ToolSnapshot": "dovetail.tools.registry",
        "get_request_context": "dovetail.events.context",
        "make_tool": "dovetail.tools.makers.function",
    },
)
