"""An agent runs inside the run that calls it, with its own context, limits and rights."""

from typing import Any

from agent_host import Host, call
from dovetail.agents.definition import (
    AgentDefinition,
    InputConfig,
    OutputConfig,
    PromptConfig,
    RunConfig,
    ToolConfig,
)
from dovetail.agents.run import AgentExecutor
from dovetail.errors import ContextLengthError
from dovetail.events.run_events import ChildEvent, Event
from dovetail.events.run_result import RunResult
from dovetail.events.tool_context import ToolContext
from dovetail.testing import Reply
from dovetail.tools.tool import Tool, ToolResult


def make_tool(name: str) -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult(f"{name} ran")

    return Tool(name=name, description=name, parameters={"type": "object"}, execute=execute)


def as_tool(definition: AgentDefinition, host: Host, outputs: list[RunResult]) -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> ToolResult:
        output = await (await AgentExecutor.create(definition, host)).run(args)
        outputs.append(output)
        return ToolResult(output.result)

    return Tool(
        name=definition.name,
        description=definition.description,
        parameters={"type": "object"},
        execute=execute,
        origin="agent",
    )


CHILD = AgentDefinition(
    name="child",
    description="a child",
    prompt_config=PromptConfig(system_prompt="You are small."),
    tool_config=ToolConfig(tools=("look", "shared")),
)


async def test_answer_of_a_plain_agent_is_its_result() -> None:
    host = Host(["Blue."])
    definition = AgentDefinition(
        name="painter",
        description="names colours",
        input_config=InputConfig(inputs={"mood": {"type": "string", "required": True}}),
        prompt_config=PromptConfig(system_prompt="You name colours.", query="Mood: ${mood}"),
    )
    output = await (await AgentExecutor.create(definition, host)).run({"mood": "calm"})
    assert (output.result, output.reason, output.turns) == ("Blue.", "goal", 1)
    assert host.runtime.scripted.requests[0].messages == (
        {"role": "system", "content": "You name colours."},
        {"role": "user", "content": "Mood: calm"},
    )


async def test_result_is_handed_in_through_the_completion_tool_and_checked() -> None:
    host = Host([call("complete_task", '{"report": 5}'), call("complete_task", '{"report": {"n": 1}}', "c2")])
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    definition = AgentDefinition(
        name="a", description="a", output_config=OutputConfig(output_name="report", schema=schema)
    )
    output = await (await AgentExecutor.create(definition, host)).run({"query": "go"})
    assert (output.data, output.result, output.turns) == ({"n": 1}, '{"n": 1}', 2)


async def test_turn_limit_without_rescue_names_the_limit() -> None:
    host = Host([call("look"), ""], make_tool("look"))
    definition = AgentDefinition(name="a", description="a", run_config=RunConfig(max_turns=1))
    output = await (await AgentExecutor.create(definition, host)).run({"query": "go"})
    assert output.reason == "max-turns"


async def test_child_has_only_what_it_and_its_parent_both_may_use() -> None:
    outputs: list[RunResult] = []
    host = Host([call("child"), call("secret", call_id="c2"), "I may not.", "The child says so."])
    for name in ("look", "shared", "secret"):
        host.runtime.tools.register_tool(make_tool(name))
    host.runtime.tools.register_tool(as_tool(CHILD, host, outputs))
    parent = AgentDefinition(
        name="parent", description="p", tool_config=ToolConfig(tools=("child", "shared", "secret"))
    )
    await (await AgentExecutor.create(parent, host)).run({"query": "go"})
    requests = host.runtime.scripted.requests
    assert [spec.name for spec in requests[1].tools] == ["shared"]
    refused = [message for message in requests[2].messages if message["role"] == "tool"]
    assert "secret" in refused[0]["content"]
    assert outputs[0].result == "I may not."


async def test_child_events_flow_up_tagged_and_stay_out_of_the_parents_context() -> None:
    outputs: list[RunResult] = []
    events: list[Event] = []
    host = Host([call("child"), "Small answer.", "Done."])
    host.runtime.tools.register_tool(as_tool(CHILD, host, outputs))
    parent = AgentDefinition(name="parent", description="p")
    executor = await AgentExecutor.create(parent, host, events.append)
    output = await executor.run({"query": "go"})
    child_events = [event for event in events if isinstance(event, ChildEvent)]
    types = [event.event.type for event in child_events]
    assert (types[0], types[-1]) == ("run-start", "run-end")
    assert len({event.run_id for event in child_events}) == 1
    last = host.runtime.scripted.requests[-1].messages
    assert [message["role"] for message in last] == ["user", "assistant", "tool"]
    assert output.result == "Done."


async def test_agent_never_sees_itself_or_its_ancestors_as_tools() -> None:
    outputs: list[RunResult] = []
    host = Host([call("child"), "No circle.", "Done."])
    free = AgentDefinition(name="child", description="c")
    host.runtime.tools.register_tool(as_tool(free, host, outputs))
    host.runtime.tools.register_tool(as_tool(AgentDefinition(name="parent", description="p"), host, outputs))
    parent = AgentDefinition(name="parent", description="p")
    await (await AgentExecutor.create(parent, host)).run({"query": "go"})
    requests = host.runtime.scripted.requests
    assert [spec.name for spec in requests[0].tools] == ["child"]
    assert list(requests[1].tools) == []


async def test_one_budget_covers_the_whole_tree() -> None:
    outputs: list[RunResult] = []
    used = {"usage": {"input_tokens": 10, "output_tokens": 0}}
    looks = {**call("look", call_id="c2"), **used}
    host = Host([{**call("child"), **used}, looks, "Child's best.", "Parent's best."])
    host.runtime.tools.register_tool(make_tool("look"))
    host.runtime.tools.register_tool(as_tool(CHILD, host, outputs))
    parent = AgentDefinition(name="parent", description="p", run_config=RunConfig(max_tokens=20))
    output = await (await AgentExecutor.create(parent, host)).run({"query": "go"})
    assert outputs[0].result == "Child's best."
    assert output.result == "Parent's best."
    assert len(host.runtime.scripted.requests) == 4


async def test_conversation_is_kept_within_the_window_that_the_settings_name() -> None:
    async def read(args: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult("y" * 6_000)

    tool = Tool(name="read", description="reads", parameters={"type": "object"}, execute=read)
    host = Host([*(call("read", f'{{"n": {turn}}}', f"c{turn}") for turn in range(4)), "Done."], tool)
    host.settings.set("model.context_tokens", 9_000)
    output = await (await AgentExecutor.create(AgentDefinition(name="a", description="a"), host)).run({})
    assert output.result == "Done."
    seen = [
        message["content"]
        for message in host.runtime.scripted.requests[-1].messages
        if message["role"] == "tool"
    ]
    assert "more characters were here" in seen[0]
    assert seen[-1] == "y" * 6_000


async def test_agent_that_a_model_refuses_as_too_long_continues_with_a_shorter_conversation() -> None:
    async def read(args: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult("y" * 6_000)

    tool = Tool(name="read", description="reads", parameters={"type": "object"}, execute=read)
    refusal = Reply(steps=[ContextLengthError("too long", provider="x")])
    calls = [call("read", f'{{"n": {turn}}}', f"c{turn}") for turn in range(5)]
    host = Host([*calls, refusal, "Done."], tool)
    output = await (await AgentExecutor.create(AgentDefinition(name="a", description="a"), host)).run({})
    assert (output.result, output.reason, output.turns) == ("Done.", "goal", 6)
    refused, last = host.runtime.scripted.requests[5], host.runtime.scripted.requests[-1]
    assert len(str(last.messages)) < 0.7 * len(str(refused.messages))
