"""Agents and their extensions, rule by rule (docs/specification.md, chapter A)."""

import json
from typing import Any

import pytest

from dovetail import Agent
from dovetail.agent.base import BaseAgent
from dovetail.agent.extensions import (
    AutoFuncExtension,
    ChatSessionExtension,
    ConfigurePromptExtension,
    KeyWaiterExtension,
    ToolExtension,
)
from dovetail.agent.runtime import Runtime
from dovetail.testing import ScriptedRequester

PARTS = (ToolExtension, KeyWaiterExtension, AutoFuncExtension, ConfigurePromptExtension, BaseAgent)


def make_agent(*replies: Any, name: str | None = None) -> tuple[Agent, ScriptedRequester]:
    requester = ScriptedRequester(replies)
    return Agent(name, requester=requester, runtime=Runtime()), requester


def test_agent_is_made_of_four_extensions_and_the_base() -> None:
    assert [part for part in Agent.__mro__ if part in PARTS] == list(PARTS)


def test_chat_sessions_are_mixed_in_by_choice() -> None:
    assert not issubclass(Agent, ChatSessionExtension)

    class Chatter(ChatSessionExtension, Agent):
        pass

    assert Chatter(requester=ScriptedRequester([])).activate_chat_session("one")


def test_tool_extension_joins_before_the_request_and_before_the_answer() -> None:
    agent, _ = make_agent()
    handlers = agent.extension_handlers
    assert len(handlers.get("request_prefixes")) == 1
    assert len(handlers.get("broadcast_prefixes")) == 1


def saw(mm: int) -> str:
    """Saw a plank."""
    return f"{mm} mm"


def test_tools_get_the_tag_of_their_agent() -> None:
    agent, _ = make_agent(name="ann")
    manager = agent.runtime.manager
    agent.register_tool(
        "plane", "Plane a plank.", {"mm": (int, "depth")}, lambda mm: mm, returns=(int, "mm left")
    )

    @agent.tool_func
    def glue() -> str:
        """Glue two planks."""
        return "glued"

    agent.use_tools(saw)
    listed = manager.get_tool_list("agent-ann")
    assert [tool["name"] for tool in listed] == ["plane", "glue", "saw"]
    assert manager.get_tool_list("agent-ben") == []
    assert (listed[0]["desc"], listed[0]["kwargs"], listed[0]["returns"]) == (
        "Plane a plank.",
        {"mm": (int, "depth")},
        (int, "mm left"),
    )


@pytest.mark.parametrize("given", ["saw", saw, ["saw"], [saw]])
def test_tools_are_given_by_name_by_function_or_in_a_list(given: Any) -> None:
    first, _ = make_agent(name="first")
    first.use_tools(saw)
    second = Agent("second", requester=ScriptedRequester([]), runtime=first.runtime)
    second.use_tools(given) if isinstance(given, list) else second.use_tool(given)
    assert [tool.name for tool in second.tools] == ["saw"]


KEYS = {
    ".agent": {"system": "S", "info": {"a": 1}},
    ".request": {"instruct": "I"},
    "$developer": "D",
    "input": "Q",
    ".alias": {"examples": {".args": ["E"]}},
}


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_each_key_of_a_configuration_goes_to_its_place(form: str) -> None:
    agent, _ = make_agent()
    text = json.dumps(KEYS, indent=1)  # JSON is YAML too
    agent.load_yaml_prompt(text) if form == "yaml" else agent.load_json_prompt(text)
    assert agent.agent_prompt.get(inherit=False) == {"system": "S", "info": {"a": 1}, "developer": "D"}
    assert agent.request_prompt.get(inherit=False) == {"instruct": "I", "input": "Q", "examples": "E"}


def test_configured_agent_prompt_stays_and_request_prompt_is_used_once() -> None:
    agent, requester = make_agent("1", "2")
    agent.load_yaml_prompt("$system: S\ninput: first\n")
    agent.start()
    agent.input("second").start()
    assert [message["content"] for message in requester.requests[1].messages] == ["S", "second"]


def test_output_of_a_configuration_reads_types_and_descriptions_at_every_depth() -> None:
    agent, _ = make_agent()
    agent.load_yaml_prompt(
        """
        output:
          reply: {$type: str, $desc: what to say}
          score: {.type: int, .desc: from 1 to 5}
          rows:
            - {id: {$type: int, $desc: number}}
          deep: {inner: {$type: bool}}
          plain: words
        """
    )
    assert agent.request_prompt.get("output") == {
        "reply": ("str", "what to say"),
        "score": ("int", "from 1 to 5"),
        "rows": [{"id": ("int", "number")}],
        "deep": {"inner": ("bool", None)},
        "plain": "words",
    }


def test_part_of_a_configuration_is_chosen_by_its_key_path() -> None:
    agent, _ = make_agent()
    agent.load_yaml_prompt(
        "team:\n  joiner:\n    $system: S\n    input: for ${who}\n", {"who": "Ann"}, "team.joiner"
    )
    assert agent.request_prompt.get() == {"system": "S", "input": "for Ann"}
