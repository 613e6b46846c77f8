"""LangChain tools as Dovetail tools and the reverse; either way, calls go through the pipeline."""

from typing import Any

from dovetail.concurrency import run_sync
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError, ToolError
from dovetail.events.call import Kind, ToolCall
from dovetail.events.run_context import RunContext
from dovetail.events.tool_context import ToolContext
from dovetail.ids import new_id
from dovetail.lazy import lazy
from dovetail.schema.from_annotation import remove_titles
from dovetail.tools.pipeline.runner import ToolRunner
from dovetail.tools.snapshot import ToolSnapshot
from dovetail.tools.tool import Tool, ToolFailure, ToolResult

langchain_tools = lazy("langchain_core.tools", extra="langchain")

LANGCHAIN_HINT = (
    "For a tool of LangChain: from_langchain(tool) (from dovetail.tools.langchain import from_langchain)."
)


def is_langchain(value: Any) -> bool:
    """Whether a value is a LangChain tool; LangChain is not imported for the answer."""
    return any(base.__module__.startswith("langchain_core.tools.") for base in type(value).__mro__)


def from_langchain(tool: Any, *, kind: Kind = Kind.Other, **choices: Any) -> Tool:
    """Return a LangChain tool as a `Tool`; other options are fields of `Tool`."""
    if not isinstance(tool, langchain_tools.BaseTool):
        raise ConfigError(f"{tool!r} is not a LangChain tool")
    returns_artifact = tool.response_format == "content_and_artifact"
    # A tool that handles its errors would return them as if they were results.
    raising = tool.model_copy(update={"handle_tool_error": False}) if tool.handle_tool_error else tool

    async def execute(args: dict[str, Any], context: ToolContext) -> Any:
        try:
            if not returns_artifact:
                return await raising.ainvoke(args)
            call = {"type": "tool_call", "name": tool.name, "args": args, "id": context.call_id}
            return _read_message(await raising.ainvoke(call))
        except langchain_tools.ToolException as error:
            raise ToolError(_explain(error, tool.handle_tool_error)) from error

    choices.setdefault("tags", tuple(tool.tags or ()))
    choices.setdefault("origin", "langchain")
    choices.setdefault("source", f"{type(tool).__module__}:{type(tool).__qualname__}:{tool.name}")
    return Tool(
        name=tool.name,
        description=tool.description,
        parameters=_read_schema(tool),
        kind=kind,
        execute=execute,
        **choices,
    )


def to_langchain(
    tool: Tool,
    *,
    runner: ToolRunner | None = None,
    scope: RunContext | None = None,
    handle_tool_error: Any = True,
) -> Any:
    """Return a tool as a LangChain `StructuredTool` with the same tags.

    Calls go through `runner` (a new one by default) on behalf of `scope`. A failed call becomes the tool's
    answer, so that LangChain's agent can react to it; with `handle_tool_error=False` it raises LangChain's
    `ToolException`, and a text or function there provides the answer, as in LangChain.
    """
    snapshot = ToolSnapshot.of([tool])
    runner = runner or ToolRunner()

    async def call(**arguments: Any) -> Any:
        made = ToolCall(call_id=new_id("call"), name=tool.name, arguments=arguments)
        outcome = await runner.run_call(snapshot, made, scope or RunContext())
        if outcome.result.error is not None:
            raise langchain_tools.ToolException(outcome.result.error.message)
        result = outcome.result
        return result.llm_content if result.data is None or result.notes else result.data

    def call_sync(**arguments: Any) -> Any:
        return run_sync(call(**arguments))

    return langchain_tools.StructuredTool.from_function(
        func=call_sync,
        coroutine=call,
        name=tool.name,
        description=tool.description or tool.title,
        args_schema=dict(tool.parameters),
        tags=list(tool.tags),
        handle_tool_error=handle_tool_error,
    )


def _explain(error: Exception, handler: Any) -> str:
    """Return the text of an error as the tool's own handler writes it."""
    if callable(handler):
        return str(handler(error))
    return handler if isinstance(handler, str) else str(error)


def _read_schema(tool: Any) -> dict[str, Any]:
    schema = tool.tool_call_schema
    if not is_mapping(schema):
        schema = remove_titles(schema.model_json_schema())
    plain = dict(schema)
    plain.pop("description", None)  # the tool's own, which stands beside the schema
    plain.setdefault("type", "object")
    return plain


def _read_message(message: Any) -> ToolResult:
    content = message.content
    failure = ToolFailure(str(content)) if message.status == "error" else None
    return ToolResult(content, error=failure, data=message.artifact)
