"""Agents that work in the background: their caller gets a handle at once and a notice when they end.

`offer_background` adds the argument `background` to the agents among an agent's tools, and the tool
`background_tasks`. Both need a session (`RunContext.background`); elsewhere the tools stay as they are.
"""

from weakref import WeakKeyDictionary

from dovetail.agents.as_tool import SubagentInvocation, SubagentToolWrapper
from dovetail.agents.definition import INHERIT, AgentDefinition, AgentInputs
from dovetail.agents.dispatcher import BACKGROUND, BACKGROUND_SCHEMA, Dispatcher, make_dispatcher
from dovetail.agents.prepare import AgentHost, build_messages, choose_tools, find_tools
from dovetail.agents.run import Signal
from dovetail.agents.task_tool import TASKS, task_tool
from dovetail.errors import ConfigError
from dovetail.events.background import Background, Task, TaskOrder
from dovetail.events.run_context import RunContext, current_run
from dovetail.loop.budget import Budget, find_budget
from dovetail.loop.tree import write_rest
from dovetail.tools.makers.declarative import BaseToolInvocation, UpdateOutput
from dovetail.tools.snapshot import ToolSnapshot
from dovetail.tools.tool import Tool, ToolResult

_COMPOSED = {"$ref", "allOf", "anyOf", "oneOf"}
"""Keywords of a schema that cannot take one more argument."""
_twins: "WeakKeyDictionary[Tool, Tool]" = WeakKeyDictionary()
"""The tools of agents that have been offered with the argument before."""


def offer_background(
    tools: ToolSnapshot, host: AgentHost, *, can_start: bool = True, has_tasks: bool = False
) -> ToolSnapshot:
    """Return the tools of an agent that works in a session: if it can start agents, also in the background.

    The tool for its tasks is added if there are such agents, or if the session has tasks already.
    """
    offered = [_find_twin(tool, host) if can_start else tool for tool in tools]
    if not has_tasks and all(twin is tool for twin, tool in zip(offered, tools, strict=True)):
        return tools
    extra = [] if TASKS in tools else [task_tool]
    return ToolSnapshot.of([*offered, *extra], tools.generation)


def restrict_tools(tools: ToolSnapshot, definition: AgentDefinition, names: set[str]) -> ToolSnapshot:
    """Return the tools of these names, those behind a dispatcher included, and the agent's own ones."""
    own = {tool.name for tool in definition.tool_config.own}
    kept: list[Tool] = []
    for tool in tools:
        if isinstance(tool, Dispatcher):
            narrowed = tool.narrow(lambda agent: agent.name in names)
            kept += [] if narrowed is None else [narrowed]
        elif tool.name in names or tool.name in own:
            kept.append(tool)
    return ToolSnapshot.of(kept, tools.generation)


def list_names(tools: ToolSnapshot) -> list[str]:
    """Return the names of the tools and of the agents behind a dispatcher."""
    behind = [name for tool in tools if isinstance(tool, Dispatcher) for name in tool.agents]
    return [*tools.tools, *behind]


class BackgroundAgentTool(SubagentToolWrapper):
    """An agent that can work in the background, or that always does.

    It always does if its definition says so, or if `is_always`; otherwise its caller chooses with the
    argument `background`.
    """

    def __init__(self, agent: SubagentToolWrapper, *, is_always: bool = False) -> None:
        super().__init__(agent.definition, agent.config, agent.message_bus)
        self.is_always = is_always or agent.definition.background
        if not self.is_always:
            properties = {**self.parameters.get("properties", {}), BACKGROUND: BACKGROUND_SCHEMA}
            object.__setattr__(self, "parameters", {**self.parameters, "properties": properties})

    def create_invocation(self, params: AgentInputs) -> BaseToolInvocation[AgentInputs, ToolResult]:
        """Return one run of the agent, in the background if its caller or its definition says so."""
        if self.is_always:
            return BackgroundInvocation(params, self.definition, self.config, self.message_bus)
        inputs = {name: value for name, value in params.items() if name != BACKGROUND}
        if not params.get(BACKGROUND):
            return super().create_invocation(inputs)
        return BackgroundInvocation(inputs, self.definition, self.config, self.message_bus)


class BackgroundInvocation(SubagentInvocation):
    """The start of a task as a tool call; where nothing can work in the background, its caller waits."""

    def get_description(self) -> str:
        """Return the agent and its task."""
        return f"{super().get_description()} (in the background)"

    async def execute(
        self, signal: Signal | None = None, update_output: UpdateOutput | None = None
    ) -> ToolResult:
        """Start the task and return its handle at once."""
        run = current_run()
        if run is None or run.background is None or self.context is None:
            return await super().execute(signal, update_output)
        try:
            task = await self._start(run, run.background, self.context.call_id)
        except Exception as error:
            return self.explain_start(error)
        return _make_handle(task, is_below=len(run.run_path) > 1)

    async def _start(self, run: RunContext, background: Background, call_id: str) -> Task:
        """Start the task with what the run may do and has left; a call that is repeated starts no other.

        The call is stored before its task, so that it is this call which is repeated.
        """
        known = await background.find(run.run_path, call_id)
        if known is not None:
            return known
        budget = find_budget(run) or Budget()
        tools, _ = choose_tools(
            self.definition, find_tools(self.config, run, self.definition), run.agent_path
        )
        query = build_messages(self.definition, self.params)[-1]["content"]
        model = run.model
        budget.child()  # counts it, or refuses it
        order = TaskOrder(
            agent=self.definition.name,
            inputs=self.params,
            query=query,
            tools=list_names(tools),
            limits=write_rest(budget),
            mode=run.mode,
            run_path=run.run_path,
            agent_path=run.agent_path,
            call_id=call_id,
            model=model.model if self.definition.model_config.model == INHERIT and model else None,
        )
        await run.flush()  # a turn that is asked for again after a crash has other calls, and other tasks
        return await background.start(order)


def _make_handle(task: Task, *, is_below: bool) -> ToolResult:
    notice = (
        "A notice with its result reaches the conversation that you work for when it ends."
        if is_below
        else "A notice with its result reaches you here when it ends: continue with other work, or answer."
    )
    text = f"Agent {task.agent!r} works in the background as task {task.task_id!r}. {notice}"
    data = {"task_id": task.task_id, "run_id": task.run_id, "agent": task.agent}
    return ToolResult(text, data=data)


def _find_twin(tool: Tool, host: AgentHost) -> Tool:
    """Return the tool with the argument `background`, if it stands for agents that can have it."""
    if isinstance(tool, BackgroundAgentTool) or not isinstance(tool, SubagentToolWrapper | Dispatcher):
        return tool
    twin = _twins.get(tool)
    if twin is None:
        twin = _make_many(tool, host) if isinstance(tool, Dispatcher) else _make_one(tool, host)
        if twin is not tool:
            _twins[tool] = twin
    return twin


def _make_one(tool: SubagentToolWrapper, host: AgentHost) -> Tool:
    if not _is_registered(tool.definition, host):
        return tool
    is_plain = (
        BACKGROUND not in tool.parameters.get("properties", {}) and not _COMPOSED & tool.parameters.keys()
    )
    return BackgroundAgentTool(tool) if is_plain or tool.definition.background else tool


def _make_many(tool: Dispatcher, host: AgentHost) -> Tool:
    agents = [agent for agent in tool.agents.values() if isinstance(agent, SubagentToolWrapper)]
    tasks = {
        agent.name: BackgroundAgentTool(agent, is_always=True)
        for agent in agents
        if _is_registered(agent.definition, host)
    }
    always = {agent.name for agent in agents if agent.definition.background}
    found = [tasks[name] if name in always and name in tasks else one for name, one in tool.agents.items()]
    return make_dispatcher(found, tasks) if tasks else tool


def _is_registered(definition: AgentDefinition, host: AgentHost) -> bool:
    """Return whether another process can find the agent by its name."""
    try:
        return host.get_agent_registry().get_definition(definition.name) == definition
    except ConfigError:
        return False
