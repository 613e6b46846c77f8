"""The agent's own tools: their owners, the judging request, the second request, and their events."""

import asyncio
import json
import re
import subprocess
import sys
from typing import Any

import pytest

from dovetail import Agent, tool
from dovetail.agent.runtime import Runtime
from dovetail.errors import CancelledRunError, ConfigError
from dovetail.events.call import ToolSpec
from dovetail.events.run_context import current_run
from dovetail.settings import Settings, default_settings
from dovetail.testing import Gate, Reply, ScriptedRequester, ScriptedServer
from patience import PATIENCE


def plan(name: str | None, *, purpose: str = "find out", **kwargs: Any) -> str:
    if name is None:
        return json.dumps({"use_tool": False, "tool_command": None})
    command = {"purpose": purpose, "tool_name": name, "tool_kwargs": kwargs}
    return json.dumps({"use_tool": True, "tool_command": command})


def make_agent(*replies: Any, name: str | None = None, **settings: Any) -> tuple[Agent, ScriptedRequester]:
    requester = ScriptedRequester(replies)
    runtime = Runtime(Settings(settings, parent=default_settings()))
    return Agent(name, requester=requester, runtime=runtime), requester


def add(first: int, second: int) -> int:
    """Add two numbers.

    Args:
        first: one number
        second: another one
    """
    return first + second


def text_of(requester: ScriptedRequester, number: int) -> str:
    return str(requester.requests[number].messages[-1]["content"])


async def test_agent_without_tools_makes_one_request() -> None:
    agent, requester = make_agent("hi")
    assert await agent.input("hello").async_start() == "hi"
    assert len(requester.requests) == 1


async def test_judging_request_knows_the_question_and_the_tools_but_nothing_else() -> None:
    agent, requester = make_agent(plan("add", first=1, second=2), "It is 3.")
    agent.use_tools(add).system("You are Ann.", always=True)
    agent.info("private").set_request_prompt("chat_history", [{"role": "user", "content": "before"}])
    await agent.input("1 + 2?").instruct("Be brief.").async_start()
    [message] = requester.requests[0].messages
    text = str(message["content"])
    assert text.startswith("[TOOLS]:\n[\nname: add\ndesc: Add two numbers.\nkwargs: {")
    for line in (
        "[extra instruction]:\nBe brief.",
        "[INPUT]:\n1 + 2?",
        "[INSTRUCT]:\nJudge if you need to use tool",
    ):
        assert line in text
    for key in ("use_tool", "tool_command", "purpose", "tool_name", "tool_kwargs"):
        assert f'"{key}"' in text
    for hidden in ("Ann", "private", "before"):
        assert hidden not in text


async def test_extra_instruction_is_left_out_without_an_instruct() -> None:
    agent, requester = make_agent(plan(None), "ok")
    await agent.use_tools(add).input("x").async_start()
    assert "extra instruction" not in text_of(requester, 0)


async def test_judging_request_is_held_to_a_closed_schema_of_the_tools() -> None:
    agent, requester = make_agent(plan(None), "ok")
    await agent.use_tools(add).input("x").async_start()
    schema = requester.requests[0].schema
    assert schema is not None
    nothing, command = schema["properties"]["tool_command"]["anyOf"]
    assert nothing == {"type": "null"}
    assert command["properties"]["tool_name"] == {"type": "string", "const": "add"}
    assert command["properties"]["tool_kwargs"]["required"] == ["first", "second"]
    assert command["additionalProperties"] is schema["additionalProperties"] is False


class SmallModel(ScriptedRequester):
    """A model that brings named ways to answer, as the embedded ones do."""

    answer_ways = ({"known": "facts"}, {"talk": "greetings", "add": "a tool of that name wins"})


async def test_small_model_may_name_a_way_to_answer_in_place_of_a_tool() -> None:
    model = SmallModel([plan("talk"), "Hello!", plan("add", first=1, second=2), "It is 3."])
    agent = Agent(requester=model, runtime=Runtime()).use_tools(add)
    response = agent.input("hi").get_response()
    assert await response.async_get_text() == "Hello!"
    assert "tool_logs" not in response.extra
    planned, answered = model.requests
    listed = str(planned.messages[-1]["content"])
    assert listed.index("name: known") < listed.index("name: add") < listed.index("name: talk")
    assert "a tool of that name wins" not in listed
    assert planned.schema is not None
    commands = planned.schema["properties"]["tool_command"]["anyOf"][1:]
    names = [command["properties"]["tool_name"]["const"] for command in commands]
    assert names == ["add", "known", "talk"]
    assert answered.messages == [{"role": "user", "content": "hi"}]
    assert await agent.input("1 + 2?").async_start() == "It is 3."


class CarefulModel(SmallModel):
    """A model that weighs each planned call, as the embedded ones do."""

    async def check_call(
        self, question: str, tool: ToolSpec, arguments: dict[str, Any]
    ) -> dict[str, Any] | None:
        return {**arguments, "second": 5} if question == f"Please {tool.name}." else None


async def test_planned_call_that_does_not_fit_is_not_made() -> None:
    model = CarefulModel([plan("add", first=1, second=2), "Hello!"])
    response = Agent(requester=model, runtime=Runtime()).use_tools(add).input("hi").get_response()
    assert await response.async_get_text() == "Hello!"
    assert "tool_logs" not in response.extra


async def test_planned_call_is_made_as_it_was_corrected() -> None:
    model = CarefulModel([plan("add", first=1, second=2), "It is 6."])
    response = Agent(requester=model, runtime=Runtime()).use_tools(add).input("Please add.").get_response()
    assert await response.async_get_text() == "It is 6."
    assert response.extra["tool_logs"][0]["result"] == 6


async def test_second_request_has_the_result_and_the_notice() -> None:
    agent, requester = make_agent(plan("add", purpose="sum up", first=1, second=2), "It is 3.")
    assert await agent.use_tools(add).info("kept").input("1 + 2?").async_start() == "It is 3."
    text = text_of(requester, 1)
    assert "[ACTION RESULTS]:\nsum up: 3\n" in text
    assert "[extra_instruction]:\nNOTICE:" in text
    assert "kept" in text
    assert "[TOOLS]" not in text
    assert requester.requests[1].schema is None


async def test_unused_tool_leaves_the_request_as_it_was() -> None:
    agent, requester = make_agent(plan(None), "hello")
    assert await agent.use_tools(add).input("hi").async_start() == "hello"
    assert requester.requests[1].messages == [{"role": "user", "content": "hi"}]


async def test_judging_stops_as_soon_as_no_tool_is_needed() -> None:
    gate = Gate()
    agent, _ = make_agent(Reply(steps=['{"use_tool": false, ', gate, '"tool_command": null}']), "hello")
    async with asyncio.timeout(PATIENCE):
        assert await agent.use_tools(add).input("hi").async_start() == "hello"
    assert not gate.opened.is_set()


async def test_tool_starts_while_the_rest_of_the_plan_still_streams() -> None:
    gate = Gate()
    called: list[str] = []

    def note(text: str) -> str:
        called.append(text)
        return "noted"

    command = json.dumps({"purpose": "p", "tool_name": "note", "tool_kwargs": {"text": "x"}})
    agent, _ = make_agent(Reply(steps=[f'{{"use_tool": true, "tool_command": {command}', gate, "}"]), "done")
    async with asyncio.timeout(PATIENCE):
        assert await agent.use_tools(note).input("hi").async_start() == "done"
    assert called == ["x"]


async def test_usage_of_the_judging_request_counts_as_the_answers() -> None:
    used = {"input_tokens": 100, "output_tokens": 20}
    agent, _ = make_agent(
        {"text": plan("add", first=1, second=2), "usage": used},
        {"text": "It is 3.", "usage": {"input_tokens": 30, "output_tokens": 4}},
        {"text": plan("add", first=1, second=2), "usage": used},
        {"text": "Still 3.", "usage": {"input_tokens": 30, "output_tokens": 4}},
    )
    agent.use_tools(add)
    for _ in range(2):
        meta = await agent.input("1 + 2?").get_response().async_get_meta()
        assert (meta["usage"]["input_tokens"], meta["usage"]["output_tokens"]) == (130, 24)


async def test_tool_event_comes_first_and_its_log_stays_in_extra() -> None:
    agent, _ = make_agent(plan("add", first=1, second=2), "It is 3.")
    heard: list[Any] = []
    agent.runtime.bus.subscribe("TOOL", lambda message: heard.append(message.payload["result"]))
    response = agent.use_tools(add).input("1 + 2?").get_response()
    pairs = [pair async for pair in response.async_get_generator("specific")]
    log = {
        "name": "add",
        "tool_name": "add",
        "kwargs": {"first": 1, "second": 2},
        "purpose": "find out",
        "result": 3,
    }
    assert pairs[0] == ("tool", log)
    assert [name for name, _ in pairs] == ["tool", "delta", "done"]
    assert (await response.async_get_data("all"))["extra"] == {"tool_logs": [log]}
    assert heard == [3]


async def test_tool_logs_are_shown_on_the_console_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    agent, _ = make_agent(plan("add", first=1, second=2), "3", plan("add", first=1, second=2), "3")
    agent.use_tools(add)
    await agent.input("x").async_start()
    assert capsys.readouterr().err == ""
    agent.set_settings("runtime.show_tool_logs", True)
    await agent.input("x").async_start()
    shown = capsys.readouterr().err
    assert shown.startswith("[TOOL] {")
    assert '"result": 3' in shown


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ('{"use_tool": true, "tool_command": null}', "tool_command is null"),
        ('{"use_tool": true, "tool_command": {"purpose": "p"}}', "names no tool"),
        ('{"use_tool": true}', "no tool_command"),
        ("I would use a tool.", "not a JSON object"),
        (plan("add", first=1, second=2).removesuffix("}}}"), "the plan is cut off"),
        (plan("add", first=1, second=2).removesuffix("}}"), "the plan is cut off"),
    ],
)
async def test_broken_plan_uses_no_tool_and_says_why(reply: str, problem: str) -> None:
    agent, _ = make_agent(reply, "answer")
    response = agent.use_tools(add).input("x").get_response()
    pairs = [pair async for pair in response.async_get_generator("all")]
    assert pairs[0][0] == "warning"
    assert problem in pairs[0][1]
    assert await response.async_get_text() == "answer"


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (plan("subtract", first=1), "subtract"),
        (plan("divide", by=0), "by zero is nothing"),
        (plan("add", first="many", second=2), "first"),
        (plan("add", first=1), "second"),
    ],
)
async def test_failing_call_is_reported_to_the_model(reply: str, told: str) -> None:
    def divide(by: int) -> int:
        raise ZeroDivisionError("by zero is nothing")

    agent, requester = make_agent(reply, "answer")
    assert await agent.use_tools([add, divide]).input("x").async_start() == "answer"
    results = text_of(requester, 1).partition("[ACTION RESULTS]:")[2].partition("[extra_instruction]")[0]
    assert told in results


async def test_slash_style_plans_the_same() -> None:
    agent, requester = make_agent(
        plan("add", first=1, second=2), "3", response={"streaming_parse_path_style": "slash"}
    )
    await agent.use_tools(add).input("x").async_start()
    assert "find out: 3" in text_of(requester, 1)


async def test_further_rounds_see_the_results_so_far() -> None:
    agent, requester = make_agent(
        plan("add", purpose="first step", first=1, second=2),
        plan("add", purpose="second step", first=3, second=4),
        plan(None),
        "It is 7.",
        tools={"max_rounds": 5},
    )
    response = agent.use_tools(add).input("x").get_response()
    assert await response.async_get_text() == "It is 7."
    assert "first step: 3" in text_of(requester, 1)
    assert "first step: 3\nsecond step: 7" in text_of(requester, 3)
    assert [log["result"] for log in response.extra["tool_logs"]] == [3, 7]


@pytest.mark.parametrize("rounds", [1, 3])
async def test_judging_request_never_carries_action_results(rounds: int) -> None:
    agent, requester = make_agent(
        plan("add", first=1, second=2),
        *([plan(None)] if rounds > 1 else []),
        "It is 3.",
        tools={"max_rounds": rounds},
    )
    agent.use_tools(add).input("x").set_request_prompt("action_results", {"weather": "it rains"})
    assert await agent.async_start() == "It is 3."
    *judging, answering = [str(request.messages[-1]["content"]) for request in requester.requests]
    assert len(judging) == (2 if rounds > 1 else 1)
    for text in judging:
        assert "ACTION RESULTS" not in text
        assert "it rains" not in text
    assert "[ACTION RESULTS]:\nfind out: 3\nweather: it rains\n" in answering


async def test_tools_are_listed_in_the_order_of_their_registration() -> None:
    agent, requester = make_agent(plan(None), "ok")

    @agent.tool_func
    def zebra() -> str:
        """Z."""
        return "z"

    agent.register_tool("ant", "A.", {"size": (int, "in mm")}, lambda size: size).use_tool(add)
    await agent.input("x").async_start()
    names = [line for line in text_of(requester, 0).splitlines() if line.startswith("name: ")]
    assert names == ["name: zebra", "name: ant", "name: add"]
    assert zebra() == "z"
    assert '"size": <int> // in mm' in text_of(requester, 0)


async def test_tools_belong_to_the_agent_that_was_given_them() -> None:
    first, _ = make_agent(name="first")
    second = Agent("second", requester=ScriptedRequester(["hi"]), runtime=first.runtime)
    first.use_tools(add)
    assert [each.name for each in first.tools] == ["add"]
    assert await second.input("x").async_start() == "hi"
    second.use_tools("add")
    assert [each.name for each in second.tools] == ["add"]


def test_function_that_is_a_tool_already_keeps_its_name() -> None:
    agent, _ = make_agent()
    agent.register_tool("plus", "Adds.", {"first": (int,), "second": (int,)}, add)
    agent.use_tools(add)
    assert [each.name for each in agent.tools] == ["plus"]
    made = tool(add, name="sum_up")
    agent.use_tools([made, made])
    assert [each.name for each in agent.tools] == ["plus", "sum_up"]


def test_name_that_is_taken_names_both_owners() -> None:
    agent, _ = make_agent()
    agent.use_tools(add)
    with pytest.raises(ConfigError, match=r"'add'.*:add.*test_name_that_is_taken"):
        agent.register_tool("add", "Adds.", {}, lambda: 0)


def test_unknown_tool_name_lists_the_near_ones() -> None:
    agent, _ = make_agent()
    agent.use_tools(add)
    with pytest.raises(ConfigError, match=r"Unknown tool 'ad'\. Did you mean 'add'\?"):
        agent.use_tools("ad")


def test_name_of_a_function_instead_of_the_function_is_explained() -> None:
    with pytest.raises(ConfigError, match=r"Unknown tool 'count_stock'\.") as caught:
        Agent(tools=["count_stock"])
    assert caught.value.hint == "Pass a function itself, without quotes: tools=[count_stock]."


def test_an_object_that_is_not_a_tool_is_rejected() -> None:
    agent, _ = make_agent()
    with pytest.raises(ConfigError, match="7 is not a tool"):
        agent.use_tools([7])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match="Tools must be a list, got the mapping"):
        agent.use_tools({"add": add})


def test_unknown_strategy_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"tools\.strategy 'magic'\. Expected one of: judge, native, auto"):
        make_agent("x", tools={"strategy": "magic"})


async def test_native_strategy_leaves_the_calls_to_the_model() -> None:
    call = {"tool_calls": [{"name": "add", "arguments": {"first": 1, "second": 2}}]}
    agent, requester = make_agent(call, "It is 3.", tools={"strategy": "native"})
    response = agent.use_tools(add).input("1 + 2?").get_response()
    pairs = [pair async for pair in response.async_get_generator("specific")]
    assert [name for name, _ in pairs] == ["tool", "delta", "done"]
    assert pairs[0][1]["result"] == 3
    assert await response.async_get_text() == "It is 3."
    first, second = requester.requests
    assert [spec.name for spec in first.tools] == ["add"]
    assert (first.tool_choice, second.tool_choice) == ("auto", "none")
    assert [message["role"] for message in second.messages] == ["user", "assistant", "tool"]
    assert response.extra["tool_logs"][0]["kwargs"] == {"first": 1, "second": 2}


async def test_auto_judges_for_models_without_function_calls() -> None:
    agent, _ = make_agent(plan("add", first=1, second=2), "3", tools={"strategy": "auto"})
    agent.requester.calls_tools = False  # type: ignore[misc]
    assert await agent.use_tools(add).input("x").async_start() == "3"


def test_both_requests_go_over_the_wire() -> None:
    with ScriptedServer([plan("add", first=1, second=2), Reply(text="It is 3.", cut=2)]) as server:
        settings = {"model": {"name": "openai:scripted", "base_url": server.url, "api_key": "k"}}
        agent = Agent(settings=Settings(settings, parent=default_settings()), runtime=Runtime())
        assert agent.use_tools(add).input("1 + 2?").start() == "It is 3."
        judging, answering = [request.body for request in server.requests]
    assert "Judge if you need to use tool" in judging["messages"][0]["content"]
    assert "find out: 3" in answering["messages"][0]["content"]
    assert "tools" not in judging


async def test_long_result_reaches_the_model_whole_if_it_can_read_that_much() -> None:
    whole = "plank" * 10_000
    agent, requester = make_agent(plan("look", purpose="look"), "Many planks.")
    response = agent.use_tools(tool(lambda: whole, name="look")).input("x").get_response()
    pairs = [pair async for pair in response.async_get_generator("specific")]
    assert pairs[0][1]["result"] == whole
    assert response.extra["tool_logs"][0]["result"] == whole
    assert whole in text_of(requester, 1)


async def test_result_that_does_not_fit_is_read_on_in_the_next_round() -> None:
    whole = "".join(f"plank {number}\n" for number in range(9_000))
    agent, requester = make_agent(
        plan("look", purpose="look"),
        lambda request: plan("read_artifact", purpose="read on", **read_hint(request)),
        plan(None),
        "Many planks.",
        tools={"max_rounds": 5},
        model={"context_tokens": 12_000},
    )
    response = agent.use_tools(tool(lambda: whole, name="look")).input("x").get_response()
    assert await response.async_get_text() == "Many planks."
    first, second = response.extra["tool_logs"]
    assert first["result"] == whole
    assert "name: read_artifact" not in text_of(requester, 0)
    assert "name: read_artifact" in text_of(requester, 1)
    answer = text_of(requester, 3)
    assert "plank 100" in answer
    assert "plank 8999" not in answer
    assert whole[4000:4100] in second["result"]


def read_hint(request: Any) -> dict[str, Any]:
    found = re.search(r"artifact_id=\W*(\w+)\W*offset=(\d+)", str(request.messages[-1]["content"]))
    assert found is not None
    return {"artifact_id": found[1], "offset": int(found[2]), "length": 2000}


def make_circle() -> dict[str, Any]:
    circle: dict[str, Any] = {}
    circle["self"] = circle
    return circle


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({(1, 2): 3}, "(1, 2): 3"),
        (make_circle(), "a dict that cannot be shown as JSON"),
        (10**5000, "a int that cannot be shown as JSON"),
    ],
    ids=["pairs as keys", "holds itself", "long number"],
)
async def test_result_that_is_not_json_does_not_end_the_request(
    result: Any, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    agent, requester = make_agent(plan("look"), "Done.", runtime={"show_tool_logs": True})

    @agent.tool_func
    def look() -> Any:
        return result

    response = agent.input("x").get_response()
    assert await response.async_get_text() == "Done."
    assert response.extra["tool_logs"][0]["result"] is result
    assert told in text_of(requester, 1)
    assert "[TOOL]" in capsys.readouterr().err


async def test_printed_log_of_a_call_has_no_characters_that_steer_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    agent, _ = make_agent(plan("look"), "Done.", runtime={"show_tool_logs": True})

    @agent.tool_func
    def look() -> str:
        return "a\x1b[2J\x9b8m\u202e"

    assert await agent.input("x").get_response().async_get_text() == "Done."
    assert r'"result": "a\u001b[2J\u009b8m\u202e"' in capsys.readouterr().err


async def test_cancel_of_a_response_stops_the_tool_that_its_model_called() -> None:
    started, stopped = asyncio.Event(), asyncio.Event()
    agent, _ = make_agent({"tool_calls": [{"name": "wait", "arguments": {}}]}, tools={"strategy": "native"})

    @agent.tool_func
    async def wait() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    response = agent.input("x").get_response()
    reading = asyncio.create_task(response.async_get_text())
    async with asyncio.timeout(PATIENCE):
        await started.wait()
        response.cancel()
        with pytest.raises(CancelledRunError):
            await reading
        await stopped.wait()


@pytest.mark.parametrize("strategy", ["judge", "native"])
async def test_tool_of_a_request_runs_below_the_run_around_it(strategy: str) -> None:
    seen: list[Any] = []
    call = {"tool_calls": [{"name": "look", "arguments": {}}]}
    agent, _ = make_agent(plan("look") if strategy == "judge" else call, "ok", tools={"strategy": strategy})

    @agent.tool_func
    def look() -> None:
        seen.append(current_run())

    assert await agent.input("x").async_start() == "ok"
    assert seen == [None]


async def test_model_that_calls_again_after_its_last_round_is_not_obeyed() -> None:
    call = {"tool_calls": [{"name": "add", "arguments": {"first": 1, "second": 2}}]}
    agent, requester = make_agent(
        call, {**call, "text": "It is 3."}, tools={"strategy": "native", "max_rounds": 1}
    )
    response = agent.use_tools(add).input("1 + 2?").get_response()
    assert await response.async_get_text() == "It is 3."
    assert (len(requester.requests), len(response.extra["tool_logs"])) == (2, 1)


def test_agent_without_tools_loads_neither_tools_nor_the_loop() -> None:
    script = (
        "import sys\n"
        "from dovetail import Agent\n"
        "from dovetail.events.delta import FinishDelta, TextDelta\n"
        "class Echo:\n"
        "    model, calls_tools, follows_schema = 'echo', True, False\n"
        "    async def stream(self, request):\n"
        "        yield TextDelta('hi')\n"
        "        yield FinishDelta()\n"
        "print(Agent(requester=Echo()).input('x').start())\n"
        "print([name for name in sys.modules if name.startswith(('dovetail.tools', 'dovetail.loop'))])\n"
    )
    shown = subprocess.check_output([sys.executable, "-c", script], text=True)
    assert shown.split("\n")[:2] == ["hi", "[]"]


async def test_native_request_names_its_model_as_a_request_without_tools_does() -> None:
    call = {"tool_calls": [{"name": "add", "arguments": {"first": 1, "second": 2}}]}
    agent, requester = make_agent("hi", call, "It is 3.", tools={"strategy": "native"})
    await agent.input("hello").async_start()
    await agent.use_tools(add).input("1 + 2?").async_start()
    assert [request.model for request in requester.requests] == [requester.model] * 3
