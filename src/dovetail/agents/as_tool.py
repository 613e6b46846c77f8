"""An agent as a tool (rule S1): the caller does not need to know that it calls an agent.

`SubagentToolWrapper` is the tool, `SubagentInvocation` one call of it; `Activity` shows what the agent does.
"""

import asyncio
import inspect
import logging
from collections.abc import Iterable
from time import monotonic
from typing import Any, Literal

from dovetail.agent.as_tool import make_agent_result
from dovetail.agents.definition import (
    AgentDefinition,
    AgentInputs,
    check_definition,
    convert_input_config_to_json_schema,
)
from dovetail.agents.dispatcher import Dispatcher
from dovetail.agents.prepare import AgentHost, choose_tools, find_own_tools, find_tools
from dovetail.agents.run import AgentExecutor, Signal
from dovetail.data.text import cut, to_text
from dovetail.errors import ConfigError, DovetailError, ModelError
from dovetail.events.call import Kind
from dovetail.events.model_events import (
    ReasoningDeltaEvent,
    ReasoningEnd,
    TextDeltaEvent,
    TextEnd,
    ToolInputEnd,
)
from dovetail.events.run_context import current_run
from dovetail.events.run_events import ChildEvent, Event, RunEnd, ToolEnd
from dovetail.policy.bus import MessageBus
from dovetail.tools.makers.declarative import BaseDeclarativeTool, BaseToolInvocation, UpdateOutput
from dovetail.tools.pipeline.audit import mask_arguments
from dovetail.tools.result import make_error_result, make_failure
from dovetail.tools.tool import Tool, ToolResult

logger = logging.getLogger(__name__)

TOPIC = "subagent-activity"
UPDATE_INTERVAL = 0.1
"""Minimum seconds between two updates of a text that is streaming."""
MOST_ITEMS = 20
LONGEST_TEXT = 2_000
LONGEST_STORED_TEXT = 300
_LONGEST_DESCRIPTION = 120


class SubagentToolWrapper(BaseDeclarativeTool[AgentInputs, ToolResult]):
    """A tool of kind Think whose calls run an agent in an app; the agent's budget limits their time.

    Listeners on the message bus, if any, can answer the agent's approvals, follow its activity and read the
    audit records of its calls.

    >>> woods = AgentDefinition(name="woods", description="Knows woods.")
    >>> SubagentToolWrapper(woods, Dovetail())
    SubagentToolWrapper(name='woods', description='Knows woods.', parameters=[], kind='think')
    """

    def __init__(
        self, definition: AgentDefinition, config: AgentHost, message_bus: MessageBus | None = None
    ) -> None:
        check_definition(definition)
        super().__init__(
            definition.name,
            definition.display_name or definition.name,
            definition.description,
            Kind.Think,
            convert_input_config_to_json_schema(definition.input_config),
            is_output_markdown=True,
            can_update_output=True,
            message_bus=message_bus,
            origin="agent",
            source=definition.source,
            resumable=True,
            time_limit=None,
        )
        self.definition = definition
        self.config = config

    @property
    def is_read_only(self) -> bool:
        """Whether all tools that the agent may use here only read."""
        run = current_run()
        available = find_tools(self.config, run, self.definition)
        tools, _ = choose_tools(self.definition, available, run.agent_path if run else ())
        # Agents below it have no tools that it does not have itself, except for those that they bring.
        return all(part.is_read_only for tool in tools for part in _find_parts(tool))

    def create_invocation(self, params: AgentInputs) -> BaseToolInvocation[AgentInputs, ToolResult]:
        """Return one run of the agent on these inputs."""
        return SubagentInvocation(params, self.definition, self.config, self.message_bus)


class SubagentInvocation(BaseToolInvocation[AgentInputs, ToolResult]):
    """One run of an agent as a tool call.

    >>> woods = AgentDefinition(name="woods", description="Knows woods.")
    >>> call = SubagentToolWrapper(woods, Dovetail()).build({"query": "A wood for doors?"})
    >>> call.get_description()
    'woods: A wood for doors?'
    >>> asyncio.run(call.execute()).llm_content
    'Oak.'
    """

    def __init__(
        self,
        params: AgentInputs,
        definition: AgentDefinition,
        config: AgentHost,
        message_bus: MessageBus | None = None,
    ) -> None:
        super().__init__(params, message_bus.derive(definition.name) if message_bus else None)
        self.definition = definition
        self.config = config

    def get_description(self) -> str:
        """Return the agent and its task; several inputs are shown by name."""
        items = [(name, to_text(value)) for name, value in self.params.items()]
        task = items[0][1] if len(items) == 1 else ", ".join(f"{name}={value}" for name, value in items)
        return f"{self.definition.display_name or self.definition.name}: {cut(task, _LONGEST_DESCRIPTION)}"

    async def execute(
        self, signal: Signal | None = None, update_output: UpdateOutput | None = None
    ) -> ToolResult:
        """Run the agent; a run that fails or reaches a limit without an answer is a result with `error`.

        Its activity goes to `update_output`, which may be a coroutine function, and to the bus while it runs.
        `signal` may be an event of asyncio or of threading.
        """
        bus = self.message_bus
        activity = Activity(self.definition.name, update_output, bus, is_live=self.context is None)
        executor = AgentExecutor(self.definition, self.config, activity.note, bus=bus)
        executor.call = self.context
        activity.begin()
        try:
            output = await executor.run(self.params, signal)
        except asyncio.CancelledError:
            if self.context is None or not self.context.scope.is_abandoned:
                activity.end("cancelled")
            activity.cancel()
            raise
        except Exception as error:
            result = self.explain_start(error)
        else:
            result = make_agent_result(
                self.definition.name, output, shows_data=self.definition.process_output is None
            )
        if result.error is None:
            activity.end("ok")
        else:
            is_cancelled = result.error.type == "agent_cancelled"
            activity.end("cancelled" if is_cancelled else "error", result.error.message)
        await activity.wait()
        return result

    def explain_start(self, error: Exception) -> ToolResult:
        """Return the failed result of a run that could not start: limit, invalid template, no model."""
        if isinstance(error, ConfigError | ModelError):
            text = f"Agent {self.definition.name!r} could not start: {error}"
            return make_failure(text, "agent_not_started")
        if not isinstance(error, DovetailError):
            logger.error("Agent %r crashed", self.definition.name, exc_info=error)
        return make_error_result(error)


class Activity:
    """Collect an agent's thoughts, calls and errors as items and show them.

    `update` gets the agent, its status and the newest items: at the start, whenever an item is complete or
    changes, and at the end. With `is_live` it also gets text while it streams; otherwise, as in the pipeline,
    whose progress is stored, it gets the beginning of each text. The bus gets each item separately.
    """

    def __init__(
        self, agent: str, update: UpdateOutput | None, bus: MessageBus | None, *, is_live: bool = True
    ) -> None:
        self._agent = agent
        self._update = update
        self._bus = bus
        self._is_live = is_live
        self._items: dict[str, dict[str, Any]] = {}
        self._pieces: list[str] = []
        self._shown_at = 0.0
        self._status = "running"
        self._shows: list[asyncio.Task[Any]] = []

    def begin(self) -> None:
        """Show that the agent starts."""
        self._publish({"type": "start"})
        self._show()

    def end(self, status: Literal["ok", "error", "cancelled"], error: str = "") -> None:
        """Show that the agent has ended, and the error, if any."""
        self._status = status
        if error and not any(item["type"] == "error" for item in self._items.values()):
            self._add_error(error)
        self._publish({"type": "end", "status": status})
        self._show()

    async def wait(self) -> None:
        """Wait for updates in progress, if `update` is a coroutine function."""
        for shown in await asyncio.gather(*self._shows, return_exceptions=True):
            if isinstance(shown, BaseException):
                self._log_failure(shown)

    def cancel(self) -> None:
        """Cancel updates in progress, if `update` is a coroutine function."""
        for shown in self._shows:
            shown.cancel()

    def note(self, event: Event, /) -> None:
        """Handle one event of the agent's run; its children have activities of their own."""
        if isinstance(event, ChildEvent) or (self._update is None and self._bus is None):
            return
        if isinstance(event, TextDeltaEvent | ReasoningDeltaEvent):
            self._pieces.append(event.delta)
            if (self._is_live or self._is_heard) and monotonic() - self._shown_at >= UPDATE_INTERVAL:
                self._write(event.id, "running")
        elif isinstance(event, TextEnd | ReasoningEnd):
            self._write(event.id, "ok")
            self._pieces = []
        elif isinstance(event, ToolInputEnd):
            args = mask_arguments(event.args)
            item = {"call_id": event.call_id, "name": event.name, "args": args, "status": "running"}
            self._change(event.call_id, {"type": "tool", **item})
        elif isinstance(event, ToolEnd) and event.call_id in self._items:
            self._change(event.call_id, {"status": event.status, "duration": event.duration})
        elif isinstance(event, RunEnd) and event.error:
            self._add_error(str(event.error.get("message", "")))

    @property
    def _is_heard(self) -> bool:
        return self._bus is not None and self._bus.has_subscribers(TOPIC)

    def _write(self, piece: str, status: str) -> None:
        self._shown_at = 0.0 if status == "ok" else monotonic()
        kind = piece.partition("-")[0]
        changes = {"type": kind, "text": "".join(self._pieces), "status": status}
        self._change(piece, changes, shows=self._is_live or status == "ok")

    def _add_error(self, message: str) -> None:
        self._change("error", {"type": "error", "message": message, "status": "error"})

    def _change(self, key: str, changes: dict[str, Any], *, shows: bool = True) -> None:
        item = self._items[key] = {**self._items.get(key, {}), **changes}
        self._publish(item)
        if shows:
            self._show()

    def _publish(self, item: dict[str, Any]) -> None:
        if self._bus is not None and self._is_heard:
            self._bus.publish(TOPIC, {"agent": self._agent, **item})

    def _show(self) -> None:
        if self._update is None:
            return
        items = [self._shorten(item) for item in list(self._items.values())[-MOST_ITEMS:]]
        try:
            shown = self._update({"agent": self._agent, "status": self._status, "activity": items})
        except Exception as error:
            self._log_failure(error)
        else:
            if inspect.iscoroutine(shown):
                self._shows.append(asyncio.create_task(shown))

    def _log_failure(self, error: BaseException) -> None:
        logger.error("Failed to show the activity of agent %r", self._agent, exc_info=error)

    def _shorten(self, item: dict[str, Any]) -> dict[str, Any]:
        longest = LONGEST_TEXT if self._is_live else LONGEST_STORED_TEXT
        text = item.get("text", "")
        if len(text) <= longest:
            return item
        shown = f"…{text[-longest:]}" if self._is_live else cut(text, longest)
        return {**item, "text": shown}


def _find_parts(tool: Tool) -> Iterable[Tool]:
    """Return what a tool stands for: a plain tool itself, an agent the tools that it brings."""
    if isinstance(tool, Dispatcher):
        return [part for agent in tool.agents.values() for part in _find_parts(agent)]
    is_agent = isinstance(tool, SubagentToolWrapper)
    return find_own_tools(tool.config, tool.definition) if is_agent else (tool,)
