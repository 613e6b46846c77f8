"""An agent as a declarative tool: parameters are checked, and every end is a result."""

import asyncio
import json
import threading
from typing import Any

import pytest

from agent_host import Host, call, make_tool, results
from dovetail.agents.as_tool import SubagentInvocation, SubagentToolWrapper
from dovetail.agents.definition import (
    AgentDefinition,
    InputConfig,
    OutputConfig,
    PromptConfig,
    RunConfig,
    ToolConfig,
)
from dovetail.agents.registry import AgentRegistry
from dovetail.agents.run import AgentExecutor
from dovetail.app import Dovetail
from dovetail.errors import ConfigError, ModelError, ToolError
from dovetail.policy import MessageBus
from dovetail.testing import ScriptedRequester
from dovetail.tools.result import read_value

TASK = InputConfig(inputs={"task": {"description": "Task to perform", "type": "string", "required": True}})


def make(name: str = "helper", **fields: Any) -> AgentDefinition:
    return AgentDefinition(**{"name": name, "description": "Helps.", "input_config": TASK, **fields})


@pytest.mark.parametrize("params", [None, "x", 5, ["task"], {}, {"task": 5}, {"task": float("nan")}])
def test_wrong_params_are_a_validation_error(params: Any) -> None:
    with pytest.raises(ToolError, match="Invalid arguments for 'helper'") as caught:
        SubagentToolWrapper(make(), Host([])).build(params)
    assert caught.value.type == "invalid_tool_params"


async def test_failed_run_is_a_result_with_an_error() -> None:
    host = Host([ModelError("overloaded", provider="test")])
    result = await SubagentToolWrapper(make(), host).build({"task": "x"}).execute(asyncio.Event())
    assert result.error is not None
    assert (result.error.type, "overloaded" in result.error.message) == ("agent_error", True)
    assert result.llm_content == f"Error: {result.error.message}"


async def test_run_that_reaches_its_limit_without_an_answer_is_a_result_with_an_error() -> None:
    host = Host([call("see"), ""], make_tool("see"))
    wrapper = SubagentToolWrapper(make(run_config=RunConfig(max_turns=1)), host)
    result = await wrapper.build({"task": "x"}).execute(asyncio.Event())
    assert result.error is not None
    assert result.error.type == "agent_max_turns"
    assert "ended by max-turns after 2 turns" in result.error.message
    assert "Raise `limits={'turns': …}` of `run`, or `max_turns` of the agent." in result.error.message


async def test_run_that_cannot_start_is_a_result_with_an_error() -> None:
    wrapper = SubagentToolWrapper(make(prompt_config=PromptConfig(query="${mood}")), Host([]))
    result = await wrapper.build({"task": "x"}).execute(asyncio.Event())
    assert result.error is not None
    assert (result.error.type, "Missing values for the template: mood" in result.error.message) == (
        "agent_not_started",
        True,
    )


async def test_cancelled_run_is_a_result_with_an_error() -> None:
    signal = asyncio.Event()
    signal.set()
    host = Host([[{"hold": "never"}]])
    updates: list[Any] = []
    result = await SubagentToolWrapper(make(), host).build({"task": "x"}).execute(signal, updates.append)
    assert result.error is not None
    assert result.error.type == "agent_cancelled"
    assert updates[-1]["status"] == "cancelled"


async def test_caller_is_informed_when_a_limit_cut_the_work_short() -> None:
    host = Host([call("helper", '{"task": "x"}'), call("see", call_id="c2"), "Half.", "Done."])
    host.runtime.tools.register_tool(make_tool("see"))
    host.offer(make(run_config=RunConfig(max_turns=1)))
    await (await AgentExecutor.create(make("caller"), host)).run({"task": "go"})
    told = results(host.runtime.scripted.requests[-1])[0]
    assert told.startswith("Half.")
    assert "The agent reached the limit of turns before it had finished" in told


async def test_program_that_calls_an_agent_by_name_gets_its_answer() -> None:
    host = Host(["Three modules."])
    host.offer(make())
    assert await host.runtime.manager.async_call_tool("helper", {"task": "x"}) == "Three modules."
    host = Host([call("complete_task", '{"result": {"n": 3}}')])
    host.offer(make(output_config=OutputConfig(schema={"type": "object"})))
    assert await host.runtime.manager.async_call_tool("helper", {"task": "x"}) == {"n": 3}


async def test_model_that_judged_reads_the_answer_of_the_agent(tmp_path: Any) -> None:
    app = Dovetail(workspace=tmp_path)
    command = {"purpose": "look", "tool_name": "helper", "tool_kwargs": {"task": "x"}}
    plan = json.dumps({"use_tool": True, "tool_command": command})
    model = ScriptedRequester([plan, "It has three."])
    wrapper = SubagentToolWrapper(make(), Host(["Three modules."]))
    agent = app.create_agent(model=model).use_tools(wrapper)
    assert await agent.input("What is in there?").async_start() == "It has three."
    assert "Three modules." in str(model.requests[-1].messages)


def test_wrapper_and_invocation_take_their_arguments_by_name() -> None:
    host, bus = Host([]), MessageBus()
    wrapper = SubagentToolWrapper(definition=make(), config=host, message_bus=bus)
    assert wrapper.message_bus is bus
    invocation = SubagentInvocation(params={"task": "x"}, definition=make(), config=host, message_bus=bus)
    assert invocation.params == {"task": "x"}


async def test_params_are_taken_when_the_invocation_is_built() -> None:
    replies = [{"when": "oak", "text": "Hard."}, {"when": "pine", "text": "Soft."}]
    wrapper, params, calls = SubagentToolWrapper(make(), Host(replies)), dict[str, Any](), list[Any]()
    for wood in ("oak", "pine"):
        params["task"] = wood
        calls.append(wrapper.build(params).execute())
    assert [result.llm_content for result in await asyncio.gather(*calls)] == ["Hard.", "Soft."]


async def test_signal_of_threads_cancels_a_run_and_blocks_nothing() -> None:
    signal, begun = threading.Event(), asyncio.Event()

    def update(output: Any) -> None:
        if output["activity"]:
            begun.set()

    invocation = SubagentToolWrapper(make(), Host([["Work", {"hold": "never"}]])).build({"task": "x"})
    running = asyncio.create_task(invocation.execute(signal, update))
    await begun.wait()
    signal.set()
    result = await running
    assert result.error is not None
    assert result.error.type == "agent_cancelled"


async def test_update_output_may_be_a_coroutine_function() -> None:
    statuses: list[str] = []

    async def update(output: Any) -> None:
        statuses.append(output["status"])

    await SubagentToolWrapper(make(), Host(["Fine."])).build({"task": "x"}).execute(None, update)
    assert (statuses[0], statuses[-1]) == ("running", "ok")


async def test_cancelled_run_leaves_no_update_behind() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def update(output: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    invocation = SubagentToolWrapper(make(), Host([["Work", {"hold": "never"}]])).build({"task": "x"})
    running = asyncio.create_task(invocation.execute(None, update))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await ended.wait()


async def test_description_lists_several_inputs() -> None:
    inputs = {"task": {"type": "string"}, "files": {"type": "string[]"}}
    wrapper = SubagentToolWrapper(make(input_config=InputConfig(inputs=inputs)), Host([]))
    invocation = wrapper.build({"task": "Shorten", "files": ["a", "ü"]})
    assert invocation.get_description() == 'helper: task=Shorten, files=["a", "ü"]'


SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "integer", "default": 3}},
    "required": ["a"],
}


async def test_input_of_a_schema_that_is_left_out_is_empty_or_its_default() -> None:
    host = Host(["ok"])
    prompt = PromptConfig(query="a=${a} b=${b} c=${c}")
    definition = make(input_config=InputConfig(schema=SCHEMA), prompt_config=prompt)
    result = await SubagentToolWrapper(definition, host).build({"a": "x"}).execute(asyncio.Event())
    assert result.llm_content == "ok"
    assert host.runtime.scripted.requests[0].messages[-1]["content"] == "a=x b= c=3"
    host = Host(["ok"])
    await SubagentToolWrapper(make(input_config=InputConfig(schema=SCHEMA)), host).build({"a": "x"}).execute()
    assert host.runtime.scripted.requests[0].messages[-1]["content"] == "a: x\nc: 3"


@pytest.mark.parametrize("config", [InputConfig(schema=SCHEMA), TASK])
async def test_run_without_a_required_input_is_an_error_and_asks_no_model(config: InputConfig) -> None:
    host = Host(["never"])
    with pytest.raises(ToolError, match="Invalid arguments for 'helper'"):
        await (await AgentExecutor.create(make(input_config=config), host)).run({})
    assert host.runtime.scripted.requests == []


async def test_templates_write_json_words() -> None:
    host = Host(["ok"])
    kinds = {"flag": "boolean", "none": "string", "names": "string[]"}
    inputs = {name: {"type": kind} for name, kind in kinds.items()}
    schema = {"type": "object", "properties": {"none": {}}}
    prompt = PromptConfig(query="${flag} ${names}", system_prompt="${flag}")
    definition = make(input_config=InputConfig(inputs=inputs), prompt_config=prompt)
    await (await AgentExecutor.create(definition, host)).run({"flag": True, "names": ["x", "ü"]})
    assert host.runtime.scripted.requests[0].messages[-1]["content"] == 'true ["x", "ü"]'
    nothing = make(input_config=InputConfig(schema=schema), prompt_config=PromptConfig(query="<${none}>"))
    host = Host(["ok"])
    await (await AgentExecutor.create(nothing, host)).run({"none": None})
    assert host.runtime.scripted.requests[0].messages[-1]["content"] == "<null>"


async def test_one_bad_agent_does_not_stop_the_start(tmp_path: Any) -> None:
    app = Dovetail(workspace=tmp_path)
    agents = app.get_agent_registry()
    with pytest.raises(ConfigError, match="Invalid agent name"):
        agents.register_agent(make("bad name!"))
    agents.register_agent(make("odd", input_config=InputConfig(schema={"type": 5})))
    agents.register_agent(make("good"))
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "日本.md").write_text("---\ndescription: d\n---\nDo.")
    async with app:
        names = {tool.name for tool in app.get_tool_registry().snapshot()}
        assert "good" in names
        assert not {"odd", "bad name!", "日本"} & names
        assert [file.path for file in agents.broken] == [str(tmp_path / "agents" / "日本.md")]


async def test_agent_is_a_tool_as_soon_as_it_is_registered(tmp_path: Any) -> None:
    app = Dovetail(workspace=tmp_path)
    app.get_agent_registry().register_agent(make("early"))
    assert isinstance(app.get_tool_registry().get_tool("early"), SubagentToolWrapper)
    async with app:
        app.get_agent_registry().register_agent(make("late"))
        assert {"early", "late"} <= set(app.get_tool_registry().snapshot().tools)


async def test_callback_that_fails_does_not_break_the_run(caplog: pytest.LogCaptureFixture) -> None:
    def update(output: Any) -> None:
        raise RuntimeError("no screen")

    invocation = SubagentToolWrapper(make(), Host(["Fine."])).build({"task": "x"})
    assert (await invocation.execute(asyncio.Event(), update)).llm_content == "Fine."
    assert "Failed to show the activity of agent 'helper'" in caplog.text


async def test_agent_brings_tools_of_its_own() -> None:
    def weigh(plank: str) -> str:
        """Weigh a plank."""
        return f"{plank}: 3 kg"

    host = Host([call("helper", '{"task": "x"}'), call("weigh", '{"plank": "oak"}', "c2"), "3 kg.", "Done."])
    host.offer(make(tool_config=ToolConfig(tools=[weigh])))
    await (await AgentExecutor.create(make("caller"), host)).run({"task": "go"})
    first, second, third, _ = host.runtime.scripted.requests
    assert [spec.name for spec in first.tools] == ["helper"]
    assert [spec.name for spec in second.tools] == ["weigh"]
    assert results(third) == ["oak: 3 kg"]
    assert not host.get_tool_registry().snapshot().tools["helper"].is_read_only


async def test_result_is_written_by_process_output() -> None:
    output = OutputConfig(schema={"type": "object"})
    handed = call("complete_task", '{"result": {"n": 3}}')
    definition = make(output_config=output, process_output=lambda data: f"n is {data['n']}")
    result = await SubagentToolWrapper(definition, Host([handed])).build({"task": "x"}).execute()
    assert (result.llm_content, read_value(result)) == ("n is 3", "n is 3")
    broken = make(process_output=lambda text: text["n"])
    result = await SubagentToolWrapper(broken, Host(["x"])).build({"task": "x"}).execute()
    assert result.error is not None
    assert "`process_output` of agent 'helper' failed" in result.error.message


@pytest.mark.parametrize("thing", ["x", None, 5])
def test_only_definitions_can_be_registered(thing: Any) -> None:
    with pytest.raises(ConfigError, match="must be an AgentDefinition"):
        AgentRegistry().register_agent(thing)


def test_tools_of_an_agent_are_a_list_and_not_one_text() -> None:
    with pytest.raises(ConfigError, match="got the text 'look'"):
        ToolConfig(tools="look")
