"""Spend limits from the outside: a program, sub-agents, a chat with owners, a restart, and the metrics."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_host import Host, make_tool
from dovetail import Agent
from dovetail.agents.definition import AgentDefinition, RunConfig
from dovetail.agents.run import AgentExecutor
from dovetail.errors import ConfigError, LimitError
from dovetail.events.delta import Usage
from dovetail.events.run_events import ChildEvent, Event, RunEnd
from dovetail.events.spend import DayAccount, SpendLimits
from dovetail.loop.budget import BudgetLimits
from dovetail.requesters.warn import warn_once
from dovetail.sessions.request import ChatRequest
from dovetail.testing import Gate, Reply, ScriptedRequester, ScriptedServer
from serving import serve

pytestmark = pytest.mark.usefixtures("one_day")
PRICES = {"scripted:model": {"input": 1.0, "output": 10.0}}
USED: dict[str, Any] = {"usage": Usage(input_tokens=1_000, output_tokens=900)}  # costs 0.01
SHORT = {"max_tokens": 1_000}  # a request may cost a little more than 0.01


def call(name: str, arguments: str = "{}", call_id: str = "c1") -> dict[str, Any]:
    return {"tool_calls": [{"id": call_id, "name": name, "arguments": arguments}], **USED}


def make_agent(replies: list[Any], **limits: Any) -> tuple[Agent, ScriptedRequester]:
    requester = ScriptedRequester(replies)
    settings = {"model": {"prices": PRICES}, "limits": limits}
    return Agent("writer", requester=requester, settings=settings).options(SHORT, always=True), requester


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def test_one_request_of_a_program_is_limited_with_all_that_belongs_to_it() -> None:
    judged = {
        "text": '{"use_tool": true, "tool_command": {"tool_name": "add", "tool_kwargs": {"a": 1, "b": 2}}}'
    }
    agent, requester = make_agent([{**judged, **USED}, {"text": "3", **USED}] * 3, cost=0.045)
    agent.use_tool(add)
    assert agent.input("1 + 2?").start() == "3"
    assert agent.input("1 + 2?").start() == "3"  # each request has its own limit
    assert len(requester.requests) == 4
    agent.set_settings("limits.cost", 0.021)
    with pytest.raises(LimitError, match="of this run does not allow the next request") as caught:
        agent.input("1 + 2?").start()
    assert caught.value.limit == "max-cost"
    assert len(requester.requests) == 4  # not even the judging request, which has no `max_tokens`


@pytest.mark.parametrize("model", ["openai:gpt-4.1", "langchain:openai:gpt-4.1"])
def test_limits_of_money_hold_for_a_server_that_reports_no_usage(model: str) -> None:
    with ScriptedServer([Reply(text="Hello." * 1_000)] * 9) as server:  # 2,000 tokens by estimate: 0.016
        provider = {"base_url": server.url, "api_key": "k"}
        settings = {
            "model": {"providers": {"openai": provider, "langchain": provider}},
            "limits": {"agent_day": {"cost": 0.05}},
        }
        agent = Agent(model=model, settings=settings)
        assert agent.input("Hi").get_response().get_meta()["usage"]["cost"] is None
        agent.input("Hi").start()
        with pytest.raises(LimitError, match=r"0\.03\d* of 0\.05 is used"):
            agent.input("Hi").start()
        assert len(server.requests) == 2


def test_limits_of_one_run_may_be_a_mapping_whose_names_and_values_are_checked() -> None:
    agent, requester = make_agent(["Hello."])
    result = agent.run("Hi", limits={"cost": 0.001})
    assert (result.reason, len(requester.requests)) == ("max-cost", 0)
    with pytest.raises(ConfigError, match=r"Unknown limit 'costs'. Did you mean 'cost'\?"):
        agent.run("Hi", limits={"costs": 1})
    with pytest.raises(ConfigError, match=r"limits.cost must be an amount of money"):
        agent.run("Hi", limits={"cost": "cheap"})
    wrong: Any = 0.5
    with pytest.raises(ConfigError, match=r"The limits of a run must be a table"):
        agent.run("Hi", limits=wrong)
    assert agent.run("Hi", limits={"calls": 1}).text == "Hello."


def test_a_limit_of_owners_in_a_program_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    warn_once.cache_clear()
    agent, _ = make_agent(["Hello.", "Hello."], owner_day={"calls": 1})
    agent.input("Hi").start()
    agent.run("Hi")
    assert [each.message for each in caplog.records if "owner_day" in each.message] == [
        "limits.owner_day has no effect in a program: only the runs of a server have owners."
    ]


def test_all_requests_of_an_agent_share_its_day_and_the_corrections_count() -> None:
    agent, requester = make_agent(["no", '{"value": 3}', "x"], agent_day={"calls": 2})
    assert agent.input("1 + 2?").returns(int).start() == 3
    with pytest.raises(LimitError, match="requests to models of agent 'writer' for today") as caught:
        agent.input("Again?").start()
    assert caught.value.resets_at is not None
    assert len(requester.requests) == 2


def test_tokens_of_a_request_are_limited_too() -> None:
    agent, requester = make_agent(["no", '{"value": 3}'], tokens=1_000)
    requester.script = ScriptedRequester([{"text": "no", **USED}, '{"value": 3}']).script
    with pytest.raises(LimitError, match="limit of 1,000 tokens is reached"):
        agent.input("1 + 2?").returns(int).start()


def test_native_calls_of_a_request_are_limited_too() -> None:
    agent, requester = make_agent([call("add", '{"a": 1, "b": 2}'), {"text": "3", **USED}], calls=1)
    agent.use_tool(add).set_settings("tools.strategy", "native")
    with pytest.raises(LimitError, match="limit of 1 requests"):
        agent.input("1 + 2?").start()
    assert len(requester.requests) == 1


def test_money_without_a_price_is_refused_before_anything_is_sent() -> None:
    agent, requester = make_agent(["x"], cost=1)
    agent.settings.replace("model.prices", {})
    with pytest.raises(ConfigError, match="the price of 'scripted:model' is not known"):
        agent.input("Hi").start()
    with pytest.raises(ConfigError, match="the price of 'scripted:model' is not known"):
        agent.run("Hi")
    assert requester.requests == []


def test_a_run_keeps_its_last_request_for_the_answer() -> None:
    calls = [call("add", f'{{"a": {number}, "b": 2}}', f"c{number}") for number in range(9)]
    agent, requester = make_agent([*calls[:2], {"text": "My best.", **USED}], calls=3)
    agent.use_tool(add)
    result = agent.run("Add.")
    assert (result.reason, result.limit, result.text) == ("goal", "max-calls", "My best.")
    assert result.notice == (
        "The limit of 3 requests to models of this run is reached.\n"
        "Raise `limits.calls` or the agent's `max_calls`, whichever is lower."
    )
    assert len(requester.requests) == 3
    assert requester.requests[-1].tool_choice == "none"
    assert "Request limit reached. Answer now" in requester.requests[-1].messages[-1]["content"]


def test_a_run_keeps_the_money_for_its_answer_and_never_exceeds_its_limit() -> None:
    calls = [call("add", f'{{"a": {number}, "b": 2}}', f"c{number}") for number in range(9)]
    agent, requester = make_agent([*calls[:3], {"text": "My best.", **USED}], cost=0.0415)
    agent.use_tool(add)
    result = agent.run("Add.", limits=BudgetLimits(cost=9))  # the settings are lower
    assert (result.reason, result.limit, result.text) == ("goal", "max-cost", "My best.")
    assert "is kept for the last answer" in (result.notice or "")
    assert len(requester.requests) == 4


def test_a_run_with_a_full_window_spends_its_last_request_on_the_answer_not_on_a_summary() -> None:
    def look(place: str) -> str:
        """Look."""
        return f"Nothing in {place}. " * 60

    calls = [call("look", f'{{"place": "{number}"}}', f"c{number}") for number in range(12)]
    for limit in range(6, 13):
        requester = ScriptedRequester([*calls[: limit - 1], "Last."])
        settings = {"limits": {"calls": limit}, "model": {"context_tokens": 3_000}}
        agent = Agent(requester=requester, settings=settings)
        agent.use_tool(look)
        result = agent.run("Find them.")
        assert "Below is" not in str(requester.requests[-1].messages[0]["content"])
        assert result.reason == "goal"


def test_a_run_that_cannot_pay_its_answer_ends_with_the_reason() -> None:
    agent, requester = make_agent([call("add", '{"a": 1, "b": 2}')], cost=0.011)
    agent.use_tool(add)
    result = agent.run("Add.")
    assert (result.reason, result.limit, len(requester.requests)) == ("max-cost", None, 1)
    assert result.error is not None
    assert result.error["type"] == "limit_error"
    assert "0.01 of 0.011 is used" in (result.notice or "")


def make(name: str, *tools: str, **limits: Any) -> AgentDefinition:
    return AgentDefinition(
        name=name,
        description=f"Does {name}.",
        input_config={"inputs": {"query": {"type": "string"}}},  # type: ignore[arg-type]
        prompt_config={"system_prompt": f"You are {name}."},  # type: ignore[arg-type]
        model_config={"options": SHORT},  # type: ignore[arg-type]
        run_config=RunConfig(**limits),
        tool_config={"tools": list(tools)},  # type: ignore[arg-type]
    )


async def test_children_draw_on_the_rest_of_their_parent() -> None:
    task = '{"query": "x"}'
    host = Host(
        [
            call("child", task),
            call("look", call_id="c2"),
            {"text": "Child's best.", "usage": Usage(input_tokens=100, output_tokens=100)},
            {"text": "Parent's best.", **USED},
        ],
        make_tool("look"),
    )
    host.settings.set("model.prices", PRICES)
    host.offer(make("child", "look", max_cost=9.0))
    parent = make("parent", "child", "look", max_cost=0.0408)
    events: list[Event] = []
    output = await (await AgentExecutor.create(parent, host, events.append)).run({"query": "go"})
    ends = [
        event.event for event in events if isinstance(event, ChildEvent) and isinstance(event.event, RunEnd)
    ]
    assert [(end.reason, end.limit, end.result) for end in ends] == [("goal", "max-cost", "Child's best.")]
    assert (output.result, output.limit, output.turns) == ("Parent's best.", "max-cost", 2)
    told = host.runtime.scripted.requests[-1].messages[-2]["content"]
    assert "The agent reached the limit of cost before it had finished" in told
    assert "The cost limit of a run above this one does not allow the next request" in told


async def test_children_leave_their_parent_the_request_for_its_answer() -> None:
    child = [call("look", call_id="c2"), call("look", call_id="c3")]
    host = Host(
        [call("child", '{"query": "x"}'), *child, {"text": "Parent's best.", **USED}], make_tool("look")
    )
    host.offer(make("child", "look"))
    parent = make("parent", "child", "look", max_calls=4)
    output = await (await AgentExecutor.create(parent, host)).run({"query": "go"})
    assert (output.result, output.reason, output.limit) == ("Parent's best.", "goal", "max-calls")
    assert len(host.runtime.scripted.requests) == 4


async def test_children_in_parallel_do_not_overdraw_their_parent() -> None:
    calls = [call("child", f'{{"query": "{number}"}}', f"c{number}")["tool_calls"][0] for number in range(8)]
    host = Host([{"tool_calls": calls, **USED}, *([{"text": "Done.", **USED}] * 9)])
    host.settings.set("model.prices", PRICES)
    host.offer(make("child"))
    parent = make("parent", "child", max_cost=0.065)
    output = await (await AgentExecutor.create(parent, host)).run({"query": "go"})
    assert output.usage.output_tokens == 900 * len(host.runtime.scripted.requests)
    assert 0.01 * len(host.runtime.scripted.requests) <= 0.065
    assert len(host.runtime.scripted.requests) >= 4
    assert output.result == "Done."


async def test_a_tool_that_asks_a_model_spends_the_money_of_its_run() -> None:
    inner = ScriptedRequester([{"text": "Inner.", **USED}] * 9)
    outer, requester = make_agent(
        [call("ask"), call("ask", call_id="c2"), {"text": "Best.", **USED}], calls=5
    )
    helper = Agent(requester=inner, settings={"model": {"prices": PRICES}})

    @outer.tool_func
    async def ask() -> str:
        """Ask another model."""
        return await helper.input("What?").async_start()

    result = await outer.async_run("Go.")
    assert (result.limit, result.text) == ("max-calls", "Best.")
    assert (len(requester.requests), len(inner.requests)) == (3, 2)
    assert result.usage.output_tokens == 5 * 900


KEYS = {"api_keys": "ann:one-key,bob:two-key"}
ANN = {"authorization": "Bearer one-key"}
BOB = {"authorization": "Bearer two-key"}


async def test_an_owner_who_has_spent_the_day_gets_a_clear_error_and_the_others_do_not(
    tmp_path: Path,
) -> None:
    settings = {"server": KEYS, "model": {"prices": PRICES}, "limits": {"owner_day": {"calls": 2}}}
    answers = [{"text": "Hello.", **USED}] * 9
    async with serve(tmp_path, answers, settings=settings) as serving:
        for number in range(2):
            chunks = await send(serving, ANN, f"s{number}")
            assert chunks[-1]["messageMetadata"]["reason"] == "goal"
    async with serve(tmp_path, answers, settings=settings) as serving:  # after a restart
        body = {"message": "Hi", "session_id": "s3"}
        response = await serving.client.post("/api/v1/chat", json=body, headers=ANN)
        assert response.status_code == 429
        error = response.json()["error"]
        assert error["type"] == "limit_error"
        assert error["message"] == "The limit of 2 requests to models of owner 'ann' for today is reached."
        assert "00:00 UTC. To allow more, raise `limits.owner_day.calls`." in error["hint"]
        assert 0 < int(response.headers["retry-after"]) <= 24 * 3600
        openai = {"model": "master", "messages": [{"role": "user", "content": "Hi"}]}
        response = await serving.client.post("/v1/chat/completions", json=openai, headers=ANN)
        assert (response.status_code, response.json()["error"]["type"]) == (429, "rate_limit_error")
        assert serving.model.requests == []
        assert (await send(serving, BOB, "b"))[-1]["messageMetadata"]["reason"] == "goal"


async def test_an_owner_who_has_spent_the_day_cannot_run_agents_as_tools_either(tmp_path: Path) -> None:
    settings = {"server": KEYS, "model": {"prices": PRICES}, "limits": {"owner_day": {"calls": 1}}}
    answers = [{"text": "Hello.", **USED}] * 9

    async with serve(tmp_path, answers, settings=settings) as serving:
        path, body = "/api/v1/tools/summarizer/call", {"arguments": {"text": "Hi"}}
        response = await serving.client.post(path, json=body, headers=BOB)
        assert response.json()["status"] == "ok"
        assert (await send(serving, ANN, "s"))[-1]["messageMetadata"]["reason"] == "goal"
        for headers in (ANN, BOB):
            response = await serving.client.post(path, json=body, headers=headers)
            assert "of owner" in response.json()["error"]["message"]
        assert len(serving.model.requests) == 2


async def send(serving: Any, headers: dict[str, str], session_id: str) -> list[dict[str, Any]]:
    body = {"message": "Hi", "session_id": session_id}
    return [chunk async for chunk in serving.stream("POST", "/api/v1/chat", json=body, headers=headers)]


async def test_the_limit_of_a_chat_is_in_its_stream_its_message_its_run_and_the_metrics(
    tmp_path: Path,
) -> None:
    settings = {"model": {"prices": PRICES, "options": SHORT}, "limits": {"cost": 0.0001}}
    async with serve(tmp_path, ["Hello."], settings=settings) as serving:
        chunks = await serving.chat("Hi")
        metadata = chunks[-1]["messageMetadata"]
        assert (metadata["reason"], metadata["limit"]) == ("max-cost", None)
        assert metadata["notice"].startswith(
            "The cost limit of this run does not allow the next request: 0 of"
        )
        assert {"type": "error", "errorText": metadata["notice"]}.items() <= chunks[-2].items()
        openai = {"model": "master", "messages": [{"role": "user", "content": "Hi"}]}
        response = await serving.client.post("/v1/chat/completions", json=openai)
        assert response.status_code == 429
        assert response.json()["error"]["message"].startswith("The cost limit of this run does not allow")
        streamed = await serving.client.post("/v1/chat/completions", json={**openai, "stream": True})
        assert '"type":"rate_limit_error"' in streamed.text
        assert serving.model.requests == []
        listed = await serving.get("/api/v1/sessions/s/messages")
        stored = listed["messages"][-1]["metadata"]
        assert (stored["reason"], stored["notice"]) == ("max-cost", metadata["notice"])
        run = await serving.get(f"/api/v1/runs/{stored['run_id']}")
        assert (run["reason"], run["limit"], run["notice"]) == ("max-cost", None, metadata["notice"])
        metrics = (await serving.client.get("/metrics")).text
        assert 'dovetail_runs_limited_total{agent="master",limit="max-cost"} 3.0' in metrics
        assert 'dovetail_runs_total{agent="master",reason="max-cost"} 3.0' in metrics


async def test_runs_of_one_owner_at_once_do_not_overdraw_the_day(tmp_path: Path) -> None:
    settings = {"model": {"prices": PRICES}, "limits": {"day": {"cost": 0.09}}}
    replies = [Reply(text="Hello.", usage=USED["usage"], repeat=True)]
    async with serve(tmp_path, replies, settings=settings) as serving:
        answers = await asyncio.gather(*(serving.chat("Hi", f"s{number}") for number in range(12)))
        reasons = [chunks[-1]["messageMetadata"]["reason"] for chunks in answers]
        assert set(reasons) == {"goal", "max-cost"}
        assert len(serving.model.requests) * 0.01 <= 0.09


async def test_a_run_that_a_restart_interrupted_continues_with_what_it_had_left(tmp_path: Path) -> None:
    gate = Gate()
    settings = {"limits": {"calls": 3}}
    look = make_tool("look")
    replies = [call("look"), Reply(steps=["Half an", gate])]
    async with serve(tmp_path, replies, [look], settings) as serving:
        question = ChatRequest(parts=[{"type": "text", "text": "Hi"}])
        started = await serving.app.chat.send(question)
        await gate.reached.async_wait()
    async with serve(tmp_path, ["My best."], [look], settings) as serving:
        entries = [entry async for entry in serving.stream("GET", f"/api/v1/runs/{started.run_id}/events")]
        end = entries[-1]
        assert (end["type"], end["reason"], end["limit"]) == ("run-end", "goal", "max-calls")
        assert len(serving.model.requests) == 1  # two of three were sent before, one of them in vain


async def test_runs_that_race_for_the_requests_of_a_day_keep_those_for_their_answers(tmp_path: Path) -> None:
    settings = {"limits": {"day": {"calls": 20}}}
    replies = [Reply(text="Seen.", repeat=True)]
    asks = {"when": "look", "tool_calls": [{"name": "look", "arguments": "{}"}], "repeat": True}
    async with serve(tmp_path, [asks, *replies], [make_tool("look")], settings) as serving:

        async def ask(number: int) -> str:
            body = {"message": "look", "session_id": f"s{number}", "tab_id": "t"}
            answered = await serving.client.post("/api/v1/chat", json=body)
            return answered.text

        answers = await asyncio.gather(*(ask(number) for number in range(20)))
        assert len(serving.model.requests) == 20
    assert len([text for text in answers if "Seen." in text]) == 10


async def test_day_gets_back_what_a_request_held_that_a_crash_interrupted(tmp_path: Path) -> None:
    gate, path = Gate(), tmp_path / "x.db"
    service = DayAccount(scope="service", limits=SpendLimits(cost=100.0))
    settings = {"model": {"prices": PRICES}, "limits": {"day": {"cost": 100.0}}}
    replies = [call("look"), Reply(steps=["Half an", gate])]
    stored = {**settings, "store": {"url": f"sqlite:///{path}"}}
    async with serve(tmp_path, replies, [make_tool("look")], stored) as serving:
        question = ChatRequest(parts=[{"type": "text", "text": "Hi"}])
        started = await serving.app.chat.send(question)
        await gate.reached.async_wait()
        [held] = await serving.app.runtime.spend.read([service])
        with closing(sqlite3.connect(path)) as now, closing(sqlite3.connect(f"{path}.crashed")) as then:
            now.backup(then)
    again = {**settings, "store": {"url": f"sqlite:///{path}.crashed"}}
    async with serve(tmp_path, [{"text": "My best.", **USED}], [make_tool("look")], again) as serving:
        async for _ in serving.stream("GET", f"/api/v1/runs/{started.run_id}/events"):
            pass
        [settled] = await serving.app.runtime.spend.read([service])
    assert (held.cost > 0.06, held.calls) == (True, 3)  # two requests, and the one of the last answer
    assert (round(settled.cost, 6), settled.calls) == (0.02, 3)
