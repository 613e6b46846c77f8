"""An agent as a tool (document 003): the caller need not know that an agent answers."""

import asyncio
from collections.abc import Mapping
from typing import Any

from dovetail.bus.bus import MessageBus
from dovetail.errors import ConfigError, ModelError, ToolError
from dovetail.messages.kind import Kind
from dovetail.subagents.activity import Activity
from dovetail.subagents.definition import AgentDefinition
from dovetail.subagents.executor import AgentExecutor, AgentOutput, raise_unless_done
from dovetail.subagents.host import AgentHost
from dovetail.subagents.schema import convert_input_config_to_json_schema
from dovetail.tools.declarative import BaseDeclarativeTool, BaseToolInvocation, UpdateOutput
from dovetail.tools.tool import ToolResult


class SubagentToolWrapper(BaseDeclarativeTool):
    """A tool of kind Think whose calls run an agent; its own budget limits its time."""

    def __init__(
        self, definition: AgentDefinition, app: AgentHost, message_bus: MessageBus | None = None
    ) -> None:
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
        self._app = app

    def create_invocation(self, params: Mapping[str, Any]) -> "SubagentInvocation":
        """One run of the agent on these inputs."""
        return SubagentInvocation(params, self.definition, self._app, self.message_bus)


class SubagentInvocation(BaseToolInvocation):
    """One run of an agent as a tool call."""

    def __init__(
        self,
        params: Mapping[str, Any],
        definition: AgentDefinition,
        app: AgentHost,
        message_bus: MessageBus | None = None,
    ) -> None:
        super().__init__(params, message_bus.derive(definition.name) if message_bus else None)
        self.definition = definition
        self._app = app

    def get_description(self) -> str:
        """The agent and what it is to do."""
        task = ", ".join(str(value) for value in self.params.values())
        shown = task if len(task) <= 120 else f"{task[:120]}…"
        return f"{self.definition.display_name or self.definition.name}: {shown}"

    async def execute(self, signal: asyncio.Event, update_output: UpdateOutput | None = None) -> ToolResult:
        """Run the agent; its activity goes to `update_output` and to the bus while it works."""
        activity = Activity(self.definition.name, update_output, self.message_bus)
        executor = await AgentExecutor.create(self.definition, self._app, activity.note)
        executor.parent_call_id = self.context.call_id if self.context else None
        output = raise_unless_done(await self._run(executor, signal), self.definition.name)
        return ToolResult(
            output.result,
            return_display=output.result,
            data={"run_id": executor.run_id, "output": output.data, "limit": output.limit},
        )

    async def _run(self, executor: AgentExecutor, signal: asyncio.Event) -> AgentOutput:
        """Run it; what keeps it from starting (a limit of the tree, a bad template, no model) is told."""
        try:
            return await executor.run(self.params, signal)
        except (ConfigError, ModelError) as error:
            raise ToolError(
                f"agent {self.definition.name!r} could not start: {error}", type="agent_not_started"
            ) from error
