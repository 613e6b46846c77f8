"""An agent runs inside the run that calls it, with its own context, limits and rights."""

from dataclasses import replace
from typing import Any

import pytest

from agent_host import Host, ScriptedRuntime, call, results
from dovetail.agents.definition import (
    INHERIT,
    AgentDefinition,
    InputConfig,
    ModelConfig,
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
from dovetail.requesters.requester import Requester
from dovetail.settings import Settings
from dovetail.testing import Reply, ScriptedRequester
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


COUNT = OutputConfig(output_name="count", schema={"type": "integer"})


@pytest.mark.parametrize("text", ["5", '{"count": 5}', '```json\n{"count": 5}\n```'])
async def test_result_that_is_written_as_text_is_taken(text: str) -> None:
    host = Host([text])
    definition = AgentDefinition(name="a", description="a", output_config=COUNT)
    output = await (await AgentExecutor.create(definition, host)).run({"query": "go"})
    assert (output.reason, output.data, output.turns) == ("goal", 5, 1)


async def test_agent_that_answers_in_words_and_then_wrongly_has_its_remaining_turns() -> None:
    wrong, right = call("complete_task", '{"count": "five"}'), call("complete_task", '{"count": 5}', "c2")
    host = Host(["It is five.", wrong, "Five, I said.", right])
    definition = AgentDefinition(name="a", description="a", output_config=COUNT)
    output = await (await AgentExecutor.create(definition, host)).run({"query": "go"})
    assert (output.reason, output.limit, output.data, output.turns) == ("goal", None, 5, 4)
    said = host.runtime.scripted.requests[-1].messages[-1]["content"]
    assert "The answer was text and not a call of `complete_task`." in said


async def test_caller_reads_why_no_result_was_taken() -> None:
    host = Host([call("kid", '{"query": "go"}'), *['{"count": "five"}'] * 6, "No count."])
    host.offer(AgentDefinition(name="kid", description="k", output_config=COUNT))
    definition = AgentDefinition(name="a", description="a")
    await (await AgentExecutor.create(definition, host)).run({"query": "go"})
    [told] = results(host.runtime.scripted.requests[-1])
    assert "ended by no-completion after 6 turns" in told
    assert "`count` must be integer" in told


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


class TwoModels(ScriptedRuntime):
    """A runtime with a default model, and one called `other`."""

    def __init__(self, replies: list[Any], other: ScriptedRequester) -> None:
        super().__init__(replies)
        self.other = other

    def requester(self, model: Any = None, settings: Settings | None = None) -> Requester:
        return self.scripted if model is None else self.other if model == "other" else model


async def test_agent_with_an_inherited_model_asks_the_model_of_its_caller() -> None:
    outputs: list[RunResult] = []
    host = Host([])
    host.runtime = TwoModels(["The default."], ScriptedRequester([call("child"), "From the other.", "Done."]))
    inherits = AgentDefinition(name="child", description="c", model_config=ModelConfig(model=INHERIT))
    host.runtime.tools.register_tool(as_tool(inherits, host, outputs))
    parent = AgentDefinition(name="parent", description="p", model_config=ModelConfig(model="other"))
    await (await AgentExecutor.create(parent, host)).run({"query": "go"})
    assert outputs[0].result == "From the other."
    output = await (await AgentExecutor.create(inherits, host)).run({"query": "go"})
    assert output.result == "The default."


async def test_only_an_agent_that_names_an_mcp_server_has_its_tools() -> None:
    outputs: list[RunResult] = []
    host = Host([call("child"), call("below"), "At the bottom.", "Child.", "Done."], make_tool("look"))
    served = [replace(make_tool(name), origin="mcp:notes") for name in ("add_note", "drop_note")]
    host.runtime.tools.publish("mcp:notes", served)
    tools = {"*": False, "below": True, "drop_note": False}
    child = AgentDefinition(
        name="child", description="c", tool_config=ToolConfig(tools=tools, mcp_servers=["notes"])
    )
    below = AgentDefinition(name="below", description="b")
    for each in (child, below):
        host.get_agent_registry().register_agent(each)
        host.runtime.tools.register_tool(as_tool(each, host, outputs))
    parent = AgentDefinition(name="parent", description="p")
    await (await AgentExecutor.create(parent, host)).run({"query": "go"})
    offered = [[spec.name for spec in request.tools] for request in host.runtime.scripted.requests]
    assert offered[:3] == [["look", "child", "below"], ["below", "add_note"], []]
