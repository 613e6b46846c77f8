"""`agent.run`: turn after turn with the agent's tools."""

from typing import Any

import pytest

from dovetail import Agent, Kind, tool
from dovetail.agent.extensions import ChatSessionExtension
from dovetail.errors import ModelError
from dovetail.loop.budget import BudgetLimits
from dovetail.testing import Reply, ScriptedRequester


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def double(number: int) -> int:
    """Double a number."""
    return number * 2


def make_agent(*replies: Any) -> tuple[Agent, ScriptedRequester]:
    requester = ScriptedRequester(replies)
    return Agent(requester=requester).use_tools(double), requester


def test_calls_run_until_the_model_answers() -> None:
    agent, requester = make_agent(call("double", number=2), call("double", number=4), "It is 8.")
    agent.system("Count well.", always=True)
    outcome = agent.run("Double 2 twice.")
    assert (outcome.text, outcome.reason, outcome.turns) == ("It is 8.", "goal", 3)
    assert [message["role"] for message in requester.requests[-1].messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    assert requester.requests[-1].messages[-1]["content"] == "8"


async def test_events_are_seen_while_they_happen() -> None:
    agent, _ = make_agent(call("double", number=2), "4")
    seen: list[str] = []
    await agent.async_run("x", on_event=lambda event: seen.append(event.type))
    assert seen.index("tool-start") < seen.index("tool-end") < seen.index("text-delta")
    assert seen.count("turn-end") == 2


async def test_output_is_read_from_the_last_answer() -> None:
    agent, _ = make_agent(call("double", number=2), '{"result": 4}')
    outcome = await agent.output({"result": (int,)}).async_run("x")
    assert outcome.data == {"result": 4}


async def test_limit_ends_the_run_with_an_answer() -> None:
    agent, _ = make_agent(call("double", number=2), "As far as I got: 4.")
    outcome = await agent.async_run("x", limits=BudgetLimits(turns=1))
    assert (outcome.text, outcome.limit) == ("As far as I got: 4.", "max-turns")


async def test_long_run_is_kept_within_the_window_of_the_model() -> None:
    agent, requester = make_agent(*[call("tell_story", about=f"{turn}") for turn in range(4)], "Done.")
    agent.set_settings("model.context_tokens", 9_000)

    @agent.tool_func
    def tell_story(about: str) -> str:
        """Tell a long story."""
        return "y" * 6_000

    outcome = await agent.async_run("x")
    seen = [message["content"] for message in requester.requests[-1].messages if message["role"] == "tool"]
    assert (outcome.text, len(seen)) == ("Done.", 4)
    assert "more characters were here" in seen[0]


async def test_error_of_the_model_is_raised() -> None:
    agent, _ = make_agent(Reply(steps=[ModelError("no such model", provider="x")]))
    with pytest.raises(ModelError, match="no such model"):
        await agent.async_run("x")


async def test_tool_that_changes_the_world_is_asked_about() -> None:
    @tool(kind=Kind.Delete)
    def remove(path: str) -> str:
        """Remove a file."""
        return f"removed {path}"

    async def ask(kind: Any, call_id: str, payload: Any, timeout: float | None) -> dict[str, Any]:  # noqa: ASYNC109
        return {"approved": True}

    agent, requester = make_agent(*[call("remove", path="a"), "done"] * 2)
    agent.use_tool(remove)
    await agent.async_run("x")
    assert "no approver is available" in str(requester.requests[-1].messages[-1]["content"])
    await agent.async_run("x", ask=ask)
    assert requester.requests[-1].messages[-1]["content"] == "removed a"


def test_run_is_remembered_by_a_chat_session() -> None:
    class Chatter(ChatSessionExtension, Agent):
        """Remembers."""

    requester = ScriptedRequester([call("double", number=2), "It is 4.", "You asked for 2 doubled."])
    agent = Chatter(requester=requester).use_tools(double)
    agent.activate_chat_session()
    agent.run("Double 2.")
    agent.run("What did I ask?")
    assert [message["content"] for message in requester.requests[-1].messages] == [
        "Double 2.",
        "It is 4.",
        "What did I ask?",
    ]


async def test_prefixes_of_agent_extensions_join_in_a_run() -> None:
    agent, requester = make_agent("ok")
    agent.extension_handlers.append("request_prefixes", lambda prompt, settings: prompt.set("info", "extra"))
    await agent.async_run("x")
    assert "extra" in str(requester.requests[0].messages)
    assert len(requester.requests) == 1


@pytest.mark.parametrize("is_async", [True, False])
async def test_an_agent_that_runs_in_a_tool_draws_from_the_budget_of_the_tools_run(is_async: bool) -> None:
    used = {"usage": {"input_tokens": 10, "output_tokens": 0}}
    replies = [{**call("double", number=number), **used} for number in range(8)]
    inner, asked = make_agent(*replies, "Enough.")

    async def ask_inside() -> str:
        """Let another agent work."""
        return (await inner.async_run("x")).text

    def ask_inside_thread() -> str:
        """Let another agent work."""
        return inner.run("x").text

    helper = ask_inside if is_async else ask_inside_thread
    requester = ScriptedRequester([{**call(helper.__name__), **used}, "That is all."])
    outer = Agent(requester=requester).use_tools(helper)
    outcome = await outer.async_run("x", limits=BudgetLimits(tokens=40))
    assert len(asked.requests) == 3 + 1  # and the turn of grace that each has
    assert (outcome.text, outcome.limit) == ("That is all.", "max-tokens")
    assert len(requester.requests) == 2


async def test_an_approval_for_the_run_does_not_hold_in_the_next_one() -> None:
    answers = [{"approved": True, "remember": "run"}, {"approved": False}]
    asked: list[Any] = []

    async def ask(kind: str, call_id: str, payload: Any, seconds: float | None) -> Any:
        asked.append(payload["args"])
        return answers[len(asked) - 1]

    @tool(kind=Kind.Execute)
    def cut(board: str) -> str:
        """Cut a board."""
        return f"{board} is cut"

    replies = [call("cut", board="oak"), call("cut", board="oak"), "Done.", call("cut", board="oak"), "No."]
    requester = ScriptedRequester(replies)
    agent = Agent(requester=requester).use_tools(cut)
    assert (await agent.async_run("Cut twice.", ask=ask)).text == "Done."
    assert len(asked) == 1
    assert (await agent.async_run("Cut again.", ask=ask)).text == "No."
    assert len(asked) == 2


async def test_a_run_stops_repairing_a_call_that_fails_in_the_same_way_again_and_again() -> None:
    agent, requester = make_agent(
        *[call("double", number=f"{turn} or so") for turn in range(3)], "I give up."
    )
    await agent.async_run("x")
    assert "failed 3 times in the same way" in requester.requests[-1].messages[-1]["content"]
