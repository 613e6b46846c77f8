"""Whose tool is called: the function that was given to this agent, always."""

import asyncio
import gc
import json
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from dovetail import Agent
from dovetail.agent.runtime import Runtime
from dovetail.errors import ConfigError, ToolError
from dovetail.policy import Policy, PolicyRule
from dovetail.settings import Settings, default_settings
from dovetail.testing import ScriptedRequester
from dovetail.tools import make_tool


def plan(name: str, **kwargs: Any) -> str:
    command = {"purpose": "find out", "tool_name": name, "tool_kwargs": kwargs}
    return json.dumps({"use_tool": True, "tool_command": command})


def call(name: str) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": {}}]}


def make_agent(runtime: Runtime, *replies: Any, name: str | None = None, strategy: str = "judge") -> Agent:
    agent = Agent(name, requester=ScriptedRequester(replies), runtime=runtime)
    return agent.set_settings("tools.strategy", strategy)


def make_search(answer: str) -> Callable[[], str]:
    def search() -> str:
        """Search."""
        return answer

    return search


def results(agent: Agent) -> Any:
    response = agent.input("x").get_response()
    response.get_text()
    return [log["result"] for log in response.extra["tool_logs"]]


@pytest.mark.parametrize(("strategy", "wants"), [("judge", plan), ("native", call)])
def test_agents_of_one_factory_keep_their_own_closures(strategy: str, wants: Callable[[str], Any]) -> None:
    runtime = Runtime()
    agents = [make_agent(runtime, wants("search"), "ok", strategy=strategy) for _ in range(4)]
    agents[0].tool_func(make_search("of 0"))
    agents[1].use_tools(make_search("of 1"))
    agents[2].register_tool("search", "Search.", {}, make_search("of 2"))
    agents[3].use_tools(make_tool(make_search("of 3")))
    assert [results(agent) for agent in agents] == [["of 0"], ["of 1"], ["of 2"], ["of 3"]]


def test_agents_of_one_name_do_not_mix_their_tools() -> None:
    runtime = Runtime()
    first, second = (make_agent(runtime, plan("search"), "ok", name="twin") for _ in range(2))
    first.use_tools([make_search("first"), make_tool(len, name="count")])
    second.use_tools(make_search("second"))
    assert [tool.name for tool in first.tools] == ["search", "count"]
    assert [tool.name for tool in second.tools] == ["search"]
    assert (results(first), results(second)) == (["first"], ["second"])
    assert [entry["name"] for entry in runtime.manager.get_tool_list("agent-twin")] == [
        "search",
        "count",
        "search",
    ]


def test_run_calls_the_agents_own_tool() -> None:
    runtime = Runtime()
    agents = [make_agent(runtime, call("search"), "ok") for _ in range(2)]
    for number, agent in enumerate(agents):
        agent.use_tools(make_search(f"of {number}"))
        requester = agent.requester
        assert isinstance(requester, ScriptedRequester)
        agent.run("x")
        assert f"of {number}" in str(requester.requests[-1].messages[-1]["content"])


def test_tools_of_agents_are_in_the_manager_under_their_tag() -> None:
    runtime = Runtime()
    agent = make_agent(runtime, name="ann")
    agent.register_tool("search", "Search.", {"query": (str, "words")}, lambda query: f"found {query}", str)
    manager = runtime.manager
    info = {"name": "search", "desc": "Search.", "kwargs": {"query": (str, "words")}, "returns": str}
    assert manager.get_tool_info("agent-ann") == {"search": info}
    assert manager.get_tool_list() == [info]
    assert manager.call_tool("search", {"query": "oak"}) == "found oak"
    manager.register("cut", "Cut.", {}, lambda: "cut", tags="agent-ann")
    assert [tool.name for tool in agent.tools] == ["search", "cut"]
    manager.tag("search", "agent-bob")
    assert [tool.name for tool in make_agent(runtime, name="bob").tools] == ["search"]


def test_name_means_the_registered_tool_or_the_only_one_that_an_agent_has() -> None:
    runtime = Runtime()
    ann, bob, guest = (
        make_agent(runtime, plan("search"), "ok", name=name) for name in ("ann", "bob", "guest")
    )
    ann.use_tools(make_search("of ann"))
    guest.use_tools("search")
    assert results(guest) == ["of ann"]
    other = make_agent(runtime, plan("search"), "ok")
    bob.use_tools(make_search("of bob"))
    with pytest.raises(
        ConfigError, match=r"Several agents have different tools named 'search': agent 'ann' .*, agent 'bob' "
    ):
        other.use_tools("search")
    with pytest.raises(ToolError, match=r"agent 'ann' .*, agent 'bob'"):
        runtime.manager.call_tool("search")
    with pytest.raises(ConfigError, match=r"Unknown tool 'nothing'\. Expected one of: search\.\n"):
        other.use_tools("nothing")
    runtime.manager.register("search", "Search.", {}, lambda: "of all")
    other.use_tools("search")
    assert results(other) == ["of all"]
    assert runtime.manager.call_tool("search") == "of all"
    assert results(ann) == ["of ann"]


def test_one_function_of_two_agents_has_one_name() -> None:
    runtime = Runtime()
    search = make_search("shared")
    first, second, third = (make_agent(runtime, plan("search"), "ok") for _ in range(3))
    first.use_tools(search)
    second.use_tools(search)
    third.use_tools("search")
    assert results(third) == ["shared"]


def test_own_tool_and_registered_one_of_the_same_name_clash_in_one_agent_only() -> None:
    runtime = Runtime()
    runtime.manager.register("search", "Search.", {}, lambda: "of all")
    own, other = (make_agent(runtime, plan("search"), "ok") for _ in range(2))
    own.use_tools(make_search("own"))
    with pytest.raises(ConfigError, match="already has its own tool 'search'"):
        own.use_tools("search")
    assert results(own) == ["own"]
    assert results(other.use_tools("search")) == ["of all"]


def test_two_functions_of_one_name_in_one_agent_name_both_owners() -> None:
    agent = make_agent(Runtime())
    agent.use_tools(make_search("one"))
    agent.use_tools(make_search("again"))  # the same definition once more, as in a notebook
    with pytest.raises(ConfigError, match=r"'search'.*make_search.*<lambda>"):
        agent.register_tool("search", "Search.", {}, lambda: "other")
    assert [tool.name for tool in agent.tools] == ["search"]


def test_method_of_an_object_is_one_tool_however_often_it_is_given() -> None:
    class Shed:
        def __init__(self, name: str) -> None:
            self.name = name

        def look(self) -> str:
            return self.name

    runtime = Runtime()
    oak, ash = (make_agent(runtime, plan("look"), "ok") for _ in range(2))
    shed = Shed("oak")
    oak.register_tool("look", "Look.", {}, shed.look).use_tools(shed.look)
    ash.use_tools(Shed("ash").look)
    assert (results(oak), results(ash)) == (["oak"], ["ash"])


def test_limits_of_the_app_hold_for_tools_of_agents() -> None:
    settings = Settings({"tools": {"excluded": ["search"]}}, parent=default_settings())
    agent = make_agent(Runtime(settings))
    agent.use_tools([make_search("x"), make_tool(len, name="count")])
    assert [tool.name for tool in agent.tools] == ["count"]


def test_tools_go_with_their_agent() -> None:
    runtime = Runtime()
    alive: list[weakref.ref[Any]] = []
    for number in range(50):
        agent = make_agent(runtime, name=f"agent {number}")
        search = make_search(f"of {number}")
        agent.use_tools(search)
        alive.append(weakref.ref(search))
    del agent, search
    gc.collect()
    assert [ref() for ref in alive if ref() is not None] == []
    assert runtime.manager.get_tool_list() == []
    with pytest.raises(ConfigError, match="Unknown tool 'search'"):
        make_agent(runtime).use_tools("search")


async def test_agents_of_a_hundred_tasks_call_their_own_tools() -> None:
    runtime = Runtime()

    async def serve(user: int) -> Any:
        agent = make_agent(runtime, plan("search"), "ok", name="helper").use_tools(make_search(f"of {user}"))
        response = agent.input("x").get_response()
        await response.async_get_text()
        return response.extra["tool_logs"][0]["result"]

    assert await asyncio.gather(*map(serve, range(100))) == [f"of {user}" for user in range(100)]


def test_function_without_a_docstring_is_described_by_its_name() -> None:
    assert make_tool(lambda: 1, name="one").description == "one"

    def count_boards() -> int:
        return 3

    assert make_tool(count_boards).description == "count_boards"


@pytest.mark.parametrize(("strategy", "wants"), [("judge", plan), ("native", call)])
def test_rules_about_an_agent_hold_in_both_ways_of_tools(strategy: str, wants: Callable[[str], Any]) -> None:
    policy = Policy([PolicyRule(action="deny", tool="search", agent="guest", reason="no guests")])
    runtime = Runtime(make_policy=lambda: policy)
    guest, owner = (
        make_agent(runtime, wants("search"), "ok", name=name, strategy=strategy)
        for name in ("guest", "owner")
    )
    [refused] = results(guest.use_tools(make_search("secret")))
    assert "no guests" in refused
    assert results(owner.use_tools(make_search("secret"))) == ["secret"]
