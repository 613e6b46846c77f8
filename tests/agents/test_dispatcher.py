"""Many agents behind one tool, each call still a call of its agent."""

from typing import Any

from agent_host import Host, call, results
from dovetail.agents.definition import AgentDefinition, InputConfig, ToolConfig
from dovetail.agents.dispatcher import DISPATCHER
from dovetail.agents.run import AgentExecutor
from dovetail.events.run_events import ToolEnd, ToolStart
from dovetail.policy.rule import PolicyRule

TASK = InputConfig(inputs={"task": {"description": "Task to perform", "type": "string", "required": True}})
PARENT = AgentDefinition(name="parent", description="calls others")


def make_agents(count: int) -> list[AgentDefinition]:
    return [
        AgentDefinition(name=f"a{number}", description=f"agent {number}", input_config=TASK)
        for number in range(count)
    ]


def hand(name: str, inputs: str = '{"task": "x"}', call_id: str = "c1") -> dict[str, Any]:
    return call(DISPATCHER, f'{{"name": "{name}", "inputs": {inputs}}}', call_id)


def as_one(replies: list[Any], *definitions: AgentDefinition, **settings: Any) -> Host:
    host = Host(replies)
    host.settings.set("subagents.shape", "dispatcher")
    for key, value in settings.items():
        host.settings.set(f"tools.{key}", value)
    host.offer(*definitions)
    return host


def offered(host: Host, request: int = 0) -> list[str]:
    specs = host.runtime.scripted.requests[request].tools
    return [name for spec in specs for name in spec.parameters["properties"]["name"]["enum"]]


async def run(host: Host, parent: AgentDefinition = PARENT) -> list[Any]:
    events: list[Any] = []
    await (await AgentExecutor.create(parent, host, events.append)).run({"query": "go"})
    return events


async def test_thirteen_agents_stand_behind_one_tool_that_checks_their_inputs() -> None:
    host = Host([hand("a3", "{}"), hand("a3", call_id="c2"), "Third here.", "Done."])
    host.offer(*make_agents(13))
    assert [tool.name for tool in host.get_tool_registry().get_all_tools()] == [DISPATCHER]
    events = await run(host)
    wrong, right = results(host.runtime.scripted.requests[-1])
    assert wrong == "Error: Invalid arguments for 'a3': `task` is missing (string: Task to perform)"
    assert right == "Third here."
    assert [event.title for event in events if isinstance(event, ToolStart)] == ["a3: x"]


async def test_twelve_agents_are_tools_of_their_own() -> None:
    host = Host([])
    host.offer(*make_agents(12))
    assert len(host.get_tool_registry().get_all_tools()) == 12


async def test_agents_at_work_above_are_not_offered_again() -> None:
    host = as_one([hand("a0"), hand("a0", call_id="c2"), "Enough.", "Done."], *make_agents(3))
    await run(host)
    assert offered(host, 1) == ["a1", "a2"]
    assert "`name` must be one of" in results(host.runtime.scripted.requests[2])[0]


async def test_definition_that_names_agents_gets_the_dispatcher_for_those_alone() -> None:
    host = as_one(["Done."], *make_agents(5))
    tools = ToolConfig(tools=("a1", "a[34]", "read_*"))
    await run(host, AgentDefinition(name="parent", description="p", tool_config=tools))
    assert offered(host) == ["a1", "a3", "a4"]


async def test_definition_that_names_no_agent_gets_no_dispatcher() -> None:
    host = as_one(["Done."], *make_agents(5))
    await run(
        host, AgentDefinition(name="parent", description="p", tool_config=ToolConfig(tools=("read_*",)))
    )
    assert list(host.runtime.scripted.requests[0].tools) == []


async def test_lists_of_the_settings_hold_for_the_agents_behind_it() -> None:
    host = as_one(["Done."], *make_agents(3), excluded=["a1"])
    await run(host)
    assert offered(host) == ["a0", "a2"]


def test_allowed_agents_stay_tools_when_the_dispatcher_itself_is_not_allowed() -> None:
    host = as_one([], *make_agents(3), allowed=["a1"])
    assert [tool.name for tool in host.get_tool_registry().get_all_tools()] == ["a1"]


async def test_policy_rules_see_the_agent_and_not_the_dispatcher() -> None:
    host = as_one([hand("a1"), "It may not.", "never"], *make_agents(3))
    host.runtime.policy.add(PolicyRule(action="deny", tool="a1", reason="a1 is ill"))
    events = await run(host)
    assert [event.status for event in events if isinstance(event, ToolEnd)] == ["denied"]
    assert "'a1' is not allowed" in results(host.runtime.scripted.requests[1])[0]
