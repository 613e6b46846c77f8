"""Tools, the registry that holds them and the pipeline that runs them; makers for every kind of tool."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.errors import ToolError
    from dovetail.messages.context import RequestContext, get_request_context
    from dovetail.messages.kind import Kind
    from dovetail.tools.declarative import (
        BaseDeclarativeTool,
        BaseToolInvocation,
        DeclarativeTool,
        ToolInvocation,
    )
    from dovetail.tools.function import make_tool
    from dovetail.tools.manager import ToolManager
    from dovetail.tools.registry import ToolRegistry, ToolSnapshot
    from dovetail.tools.runner import CallOutcome, CallScope, ToolRunner
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
        "BaseDeclarativeTool": "dovetail.tools.declarative",
        "BaseToolInvocation": "dovetail.tools.declarative",
        "CallOutcome": "dovetail.tools.runner",
        "CallScope": "dovetail.tools.runner",
        "DeclarativeTool": "dovetail.tools.declarative",
        "Kind": "dovetail.messages.kind",
        "RequestContext": "dovetail.messages.context",
        "Tool": "dovetail.tools.tool",
        "ToolContext": "dovetail.tools.tool",
        "ToolError": "dovetail.errors",
        "ToolFailure": "dovetail.tools.tool",
        "ToolInvocation": "dovetail.tools.declarative",
        "ToolManager": "dovetail.tools.manager",
        "ToolRegistry": "dovetail.tools.registry",
        "ToolResult": "dovetail.tools.tool",
        "ToolRunner": "dovetail.tools.runner",
        "ToolSnapshot": "dovetail.tools.registry",
        "get_request_context": "dovetail.messages.context",
        "make_tool": "dovetail.tools.function",
    },
)
