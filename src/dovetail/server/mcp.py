"""Our tools as an MCP server: each call passes the pipeline, and approvals are sent to the client."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.data.visible import show_to_approve
from dovetail.events.call import Kind, ToolCall
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import AskKind, Event, ToolProgress
from dovetail.ids import new_id
from dovetail.lazy import lazy
from dovetail.policy.rule import Mode
from dovetail.settings import LOCAL_OWNER
from dovetail.tools.pictures import forget_viewer
from dovetail.tools.pipeline.runner import CallOutcome, ToolRunner
from dovetail.tools.registry import ToolRegistry
from dovetail.tools.result import to_dict, to_json_text
from dovetail.tools.snapshot import ToolSnapshot
from dovetail.tools.tool import Tool
from dovetail.version import __version__

mcp_server = lazy("mcp.server", extra="mcp")
subscriptions = lazy("mcp.server.subscriptions", extra="mcp")
types = lazy("mcp.types", extra="mcp")

logger = logging.getLogger(__name__)

_DESTRUCTIVE = (Kind.Delete, Kind.Execute, Kind.Move, Kind.Write, Kind.Edit)
_APPROVAL = "approval"
_FORM = {
    "type": "object",
    "properties": {"approve": {"type": "boolean", "title": "Run it", "default": True}},
    "required": ["approve"],
}


class ToolServer:
    """An MCP server (`server`) with the tools of a registry."""

    def __init__(self, registry: ToolRegistry, runner: ToolRunner, globs: Sequence[str], mode: Mode) -> None:
        self._registry = registry
        self._runner = runner
        self._globs = globs
        self._mode: Mode = mode
        self._bus = subscriptions.InMemorySubscriptionBus()
        self._session: Any = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.server = mcp_server.Server(
            "dovetail",
            version=__version__,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=subscriptions.ListenHandler(self._bus),
        )

    def announce_change(self) -> None:
        """Notify clients that the tools have changed: those that listen, and the one behind stdio."""
        task = asyncio.create_task(self._announce())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _announce(self) -> None:
        await self._bus.publish(subscriptions.ToolsListChanged())
        if self._session is None:
            return
        try:
            await self._session.send_tool_list_changed()
        except Exception as error:  # the client is gone
            logger.debug("cannot notify a client that the tools have changed: %s", error)

    def get_snapshot(self) -> ToolSnapshot:
        """The present tools."""
        snapshot = self._registry.snapshot()
        names = [name for name in snapshot.tools if any(fnmatchcase(name, glob) for glob in self._globs)]
        return snapshot.select(names)

    async def _list(self, context: Any, params: Any) -> Any:
        self._session = context.session
        return types.ListToolsResult(tools=[_describe(tool) for tool in self.get_snapshot()])

    async def _call(self, context: Any, params: Any) -> Any:
        call = ToolCall(call_id=new_id("call"), name=params.name, arguments=params.arguments or {})
        question = _Question(context, params)
        progress = _Progress(context)
        scope = RunContext(
            owner=LOCAL_OWNER,
            mode=self._mode,
            emit=progress.show,
            ask=question.ask if question.can_ask else None,
        )
        outcome = await self._runner.run_call(self.get_snapshot(), call, scope)
        await progress.finish()
        return question.open or _make_result(outcome)


class _Question:
    """Ask the client for an approval: during the call or, in the newer protocol, between two attempts."""

    def __init__(self, context: Any, params: Any) -> None:
        self._session = context.session
        self._answers = dict[str, Any](params.input_responses or {})
        self._is_answered = False
        self.open: Any = None
        """The response in place of a result if the client must ask and then try again."""

    @property
    def can_ask(self) -> bool:
        capabilities = self._session.client_capabilities
        return capabilities is not None and capabilities.elicitation is not None

    async def ask(
        self, kind: AskKind, call_id: str, payload: Mapping[str, Any], seconds: float | None
    ) -> Mapping[str, Any]:
        if kind != "approval":
            return {"status": "failed", "errorText": f"An MCP client cannot answer a {kind}."}
        is_inner = bool(payload.get("agent_path"))  # a question of an agent; another try may ask another one
        if _APPROVAL in self._answers and not is_inner:
            self._is_answered = True
            return _read_answer(self._answers.pop(_APPROVAL))
        shown = [show_to_approve(str(payload[name])) for name in ("title", "reason")]
        text = f"{': '.join(shown)}\n{show_to_approve(to_json_text(payload['args']))}"
        if self._session.can_send_request:
            return _read_answer(await self._session.elicit_form(text, _FORM))
        if is_inner:
            return {"approved": False, "value": "This client cannot be asked while an agent works."}
        if self._is_answered:  # the answer to this one would be taken for the first one's in the next try
            return {"approved": False, "value": "This client cannot be asked twice in one call."}
        form = types.ElicitRequestFormParams(message=text, requested_schema=_FORM)
        self.open = types.InputRequiredResult(input_requests={_APPROVAL: types.ElicitRequest(params=form)})
        return {"approved": False}


class _Progress:
    """Send the progress of a call to the client, in order."""

    def __init__(self, context: Any) -> None:
        self._session = context.session
        self._number = 0
        self._last: asyncio.Task[None] | None = None

    def show(self, event: Event) -> None:
        if isinstance(event, ToolProgress):
            self._number += 1
            output = event.output
            text = output if isinstance(output, str) else to_json_text(output)
            self._last = asyncio.create_task(self._send(self._number, text, self._last))

    async def finish(self) -> None:
        if self._last is not None:
            await self._last

    async def _send(self, number: int, text: str, before: "asyncio.Task[None] | None") -> None:
        if before is not None:
            await before
        await self._session.report_progress(number, None, text)


def _read_answer(answer: Any) -> Mapping[str, Any]:
    content: Mapping[str, Any] = answer.content or {}
    return {"approved": answer.action == "accept" and content.get("approve") is True}


def _describe(tool: Tool) -> Any:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.parameters),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.is_read_only,
            destructive_hint=_is_destructive(tool),
            idempotent_hint=tool.idempotent,
        ),
    )


def _is_destructive(tool: Tool) -> bool | None:
    """Whether a tool destroys something; None if its kind does not say."""
    is_known = tool.is_read_only or not (tool.kind is Kind.Other or tool.kind.is_read_only)
    return tool.kind in _DESTRUCTIVE if is_known else None


def _make_result(outcome: CallOutcome) -> Any:
    content = outcome.result.llm_content
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    data = to_dict(outcome.result).get("data")
    return types.CallToolResult(
        content=[_make_part(part) for part in parts],
        structured_content=data if is_mapping(data) else None,
        is_error=outcome.result.error is not None,
    )


def _make_part(part: Mapping[str, Any]) -> Any:
    image = part.get("image_url")
    address = image.get("url", "") if is_mapping(image) else ""
    head, _, data = address.partition(";base64,")
    if head.startswith("data:") and data:
        return types.ImageContent(type="image", mime_type=head.removeprefix("data:"), data=data)
    text = str(part["text"]) if "text" in part else to_json_text(part)
    return types.TextContent(type="text", text=forget_viewer(text))
