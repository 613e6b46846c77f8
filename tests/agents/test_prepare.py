"""What an agent's run begins with."""

from dataclasses import replace

import pytest

from agent_host import Host, make_tool
from dovetail.agents.definition import (
    AgentDefinition,
    InputConfig,
    ModelConfig,
    OutputConfig,
    PromptConfig,
    ToolConfig,
)
from dovetail.agents.prepare import build_messages, choose_tools, equip_agent, prepare_loop
from dovetail.errors import ConfigError
from dovetail.events.run_context import RunContext
from dovetail.tools.snapshot import ToolSnapshot

INPUTS = InputConfig(inputs={"text": {"required": True}, "focus": {}})


def make(system: str = "", query: str = "") -> AgentDefinition:
    prompt = PromptConfig(system_prompt=system, query=query)
    return AgentDefinition(name="a", description="a", input_config=INPUTS, prompt_config=prompt)


def test_optional_input_that_was_left_out_is_empty() -> None:
    messages = build_messages(make("Be brief.", "${text} (${focus})"), {"text": "T"})
    assert [message["content"] for message in messages] == ["Be brief.", "T ()"]


def test_name_that_is_not_an_input_is_an_error() -> None:
    with pytest.raises(ConfigError, match="Missing values for the template: mood"):
        build_messages(make(query="${mood}"), {"text": "T"})


def test_without_a_query_the_inputs_speak_for_themselves() -> None:
    assert build_messages(make(), {"text": "T"})[-1]["content"] == "T"
    assert build_messages(make(), {"text": "T", "focus": "F"})[-1]["content"] == "text: T\nfocus: F"


def test_history_stands_between_system_prompt_and_query() -> None:
    history = [{"role": "user", "content": "before"}, {"role": "assistant", "content": "yes"}]
    messages = build_messages(make("S"), {"text": "now"}, history)
    assert [message["content"] for message in messages] == ["S", "before", "yes", "now"]


def test_tools_come_in_the_order_in_which_the_definition_names_them() -> None:
    available = ToolSnapshot.of([make_tool(name) for name in ("more", "read_b", "list", "read_a")], 1)
    definition = AgentDefinition(
        name="a", description="a", tool_config=ToolConfig(tools=["list", "read_*", "more"])
    )
    tools, _ = choose_tools(definition, available, ())
    assert [tool.name for tool in tools] == ["list", "read_b", "read_a", "more"]


def test_loop_of_an_agent_has_its_tools_options_and_completion() -> None:
    app = Host([], make_tool("look"))
    definition = AgentDefinition(
        name="ann",
        description="d",
        output_config=OutputConfig(),
        model_config=ModelConfig(options={"temperature": 0.5, "top_p": 1}),
    )
    loop = prepare_loop(app, definition, options={"temperature": 0})
    assert [each.name for each in loop.tools] == ["look", "complete_task"]
    assert (loop.completion, loop.options) == ("complete_task", {"temperature": 0, "top_p": 1})
    below = RunContext(tools=ToolSnapshot.of([]))
    assert prepare_loop(app, definition, parent=below).tools.get("look") is None


def test_allowed_tools_hold_for_the_tools_that_an_agent_brings_itself() -> None:
    app = Host([], make_tool("look"))
    app.runtime.tools.limit(["look", "dig"], ["dig"])
    own = ToolConfig(tools=["*", make_tool("dig"), make_tool("smash")])
    definition = AgentDefinition(name="ann", description="d", tool_config=own, output_config=OutputConfig())
    assert [each.name for each in prepare_loop(app, definition).tools] == ["look", "complete_task"]


def test_tools_of_the_browser_come_last_so_that_prompts_with_and_without_a_tab_begin_alike() -> None:
    in_tab = replace(make_tool("copy"), needs_tab=True)
    app = Host([], in_tab, make_tool("look"), make_tool("dig"))
    definition = AgentDefinition(name="ann", description="d")
    without, _ = equip_agent(app, definition, has_tab=False)
    names = [tool.name for tool in without]
    assert sorted(names) == ["dig", "look"]
    assert [tool.name for tool in equip_agent(app, definition)[0]] == [*names, "copy"]
    named = AgentDefinition(name="ann", description="d", tool_config=ToolConfig(tools=["copy", "look"]))
    assert [tool.name for tool in equip_agent(app, named)[0]] == ["copy", "look"]
