"""An agent as a tool (rule S1): the caller need not know that an agent answers."""

import asyncio
import logging
from collections.abc import Iterable

from dovetail.agent.scope import current_run
from dovetail.bus.bus import MessageBus
from dovetail.data.text import to_text
from dovetail.errors import ConfigError, DovetailError, ModelError
from dovetail.messages.event import EndReason
from dovetail.messages.kind import Kind
from dovetail.subagents.activity import Activity
from dovetail.subagents.definition import AgentDefinition, AgentInputs, check_definition
from dovetail.subagents.dispatcher import Dispatcher
from dovetail.subagents.equip import choose_tools
from dovetail.subagents.executor import AgentExecutor, AgentOutput, Signal
from dovetail.subagents.host import AgentHost
from dovetail.subagents.schema import convert_input_config_to_json_schema
from dovetail.tools.declarative import BaseDeclarativeTool, BaseToolInvocation, UpdateOutput
from dovetail.tools.result import make_error_result, make_failure
from dovetail.tools.tool import Tool, ToolResult

logger = logging.getLogger(__name__)

_LONGEST_DESCRIPTION = 120
_LIMITS: dict[EndReason, str] = {"max-turns": "turns", "timeout": "time", "max-tokens": "tokens"}


class SubagentToolWrapper(BaseDeclarativeTool[AgentInputs, ToolResult]):
    """A tool of kind Think whose calls run an agent in an app; its own budget limits its time.

    With a message bus, listeners on it can answer the approvals that the agent needs, follow what it does and
    see the audit records of its calls.
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
            time_limit=None,
        )
        self.definition = definition
        self._config = config

    @property
    def is_read_only(self) -> bool:
        """Whether all tools that the agent may use here only read."""
        run = current_run()
        available = run.tools if run else self._config.get_tool_registry().snapshot()
        tools, _ = choose_tools(self.definition, available, run.calls.agent_path if run else ())
        # Agents below it have no tools that it does not have itself, except for those that they bring.
        return all(part.is_read_only for tool in tools for part in _find_parts(tool))

    def create_invocation(self, params: AgentInputs) -> "SubagentInvocation":
        """One run of the agent on these inputs."""
        return SubagentInvocation(params, self.definition, self._config, self.message_bus)


class SubagentInvocation(BaseToolInvocation[AgentInputs, ToolResult]):
    """One run of an agent as a tool call."""

    def __init__(
        self,
        params: AgentInputs,
        definition: AgentDefinition,
        config: AgentHost,
        message_bus: MessageBus | None = None,
    ) -> None:
        super().__init__(params, message_bus.derive(definition.name) if message_bus else None)
        self.definition = definition
        self._config = config

    def get_description(self) -> str:
        """The agent and its task; several inputs are named."""
        items = [(name, to_text(value)) for name, value in self.params.items()]
        task = items[0][1] if len(items) == 1 else ", ".join(f"{name}={value}" for name, value in items)
        shown = task if len(task) <= _LONGEST_DESCRIPTION else f"{task[:_LONGEST_DESCRIPTION]}…"
        return f"{self.definition.display_name or self.definition.name}: {shown}"

    async def execute(
        self, signal: Signal | None = None, update_output: UpdateOutput | None = None
    ) -> ToolResult:
        """Run the agent; a run that fails or reaches a limit without an answer is a result with `error`.

        What it thinks and does goes to `update_output`, also a coroutine function, and to the bus while it
        works. `signal` may be an event of asyncio or of threads.
        """
        bus = self.message_bus
        activity = Activity(self.definition.name, update_output, bus, is_live=self.context is None)
        executor = await AgentExecutor.create(self.definition, self._config, activity.note, bus=bus)
        if self.context is not None:
            executor.parent_call_id, executor.caller = self.context.call_id, self.context.scope
        activity.begin()
        try:
            output = await executor.run(self.params, signal)
        except asyncio.CancelledError:
            activity.end("cancelled")
            activity.cancel()
            raise
        except Exception as error:
            result = self._explain_start(error)
        else:
            result = make_agent_result(self.definition, output)
        if result.error is None:
            activity.end("ok")
        else:
            is_cancelled = result.error.type == "agent_cancelled"
            activity.end("cancelled" if is_cancelled else "error", result.error.message)
        await activity.wait()
        return result

    def _explain_start(self, error: Exception) -> ToolResult:
        """The failed result of a run that could not start: a limit of the tree, a bad template, no model."""
        if isinstance(error, ConfigError | ModelError):
            text = f"agent {self.definition.name!r} could not start: {error}"
            return make_failure(text, "agent_not_started")
        if not isinstance(error, DovetailError):
            logger.error("agent %r crashed", self.definition.name, exc_info=error)
        return make_error_result(error)


def _find_parts(tool: Tool) -> Iterable[Tool]:
    """What a tool may use by itself: a plain tool is that, an agent is the tools that it brings."""
    if isinstance(tool, Dispatcher):
        return [part for agent in tool.agents.values() for part in _find_parts(agent)]
    return tool.definition.tool_config.own if isinstance(tool, SubagentToolWrapper) else (tool,)


def make_agent_result(definition: AgentDefinition, output: AgentOutput) -> ToolResult:
    """What an agent's caller gets; one that ended without reaching its goal has failed.

    Its `data` is what was handed in, unless the caller reads more or other than that: then it is the text.
    """
    if output.terminate_reason != "goal":
        detail = output.error or output.result or "It handed in nothing."
        turns = f"{output.turns} turn{'' if output.turns == 1 else 's'}"
        text = f"agent {definition.name!r} ended by {output.terminate_reason} after {turns}. {detail}"
        return make_failure(text, f"agent_{output.terminate_reason.replace('-', '_')}", output.data)
    if output.limit not in _LIMITS:
        data = output.data if definition.process_output is None else None
        return ToolResult(output.result, return_display=output.result, data=data)
    text = (
        f"{output.result}\n\n(The agent reached its limit of {_LIMITS[output.limit]} before it had finished; "
        "this is its best result so far and may be incomplete.)"
    )
    return ToolResult(text, return_display=output.result)
