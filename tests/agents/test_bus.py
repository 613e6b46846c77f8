"""The bus that a wrapper is given carries approvals, audit records and what the agent does."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from agent_host import Host, call, make_tool, results
from dovetail.agents.as_tool import SubagentToolWrapper
from dovetail.agents.definition import AgentDefinition
from dovetail.agents.run import AgentExecutor
from dovetail.errors import ConfigError, ModelError
from dovetail.events.call import Kind
from dovetail.policy.bus import Message, MessageBus
from dovetail.testing import Gate
from patience import PATIENCE

WRITER = AgentDefinition(name="writer", description="Writes.")
WRITES: list[Any] = [call("write", '{"path": "a", "password": "x"}', "c2"), "Written."]


def make_host(*replies: Any) -> Host:
    return Host(replies, make_tool("write", kind=Kind.Write))


def approve(bus: MessageBus, value: Mapping[str, Any]) -> list[Message]:
    asked: list[Message] = []

    def answer(message: Message) -> None:
        asked.append(message)
        bus.answer(message.payload["ask_id"], value)

    bus.subscribe("ask-request", answer)
    return asked


async def test_listener_approves_a_write_inside_the_agent() -> None:
    host, bus = make_host(*WRITES), MessageBus()
    asked = approve(bus, {"approved": True})
    result = await SubagentToolWrapper(WRITER, host, bus).build({}).execute(asyncio.Event())
    assert result.llm_content == "Written."
    assert results(host.runtime.scripted.requests[-1]) == ["write ran"]
    assert (asked[0].path, asked[0].payload["payload"]["tool"]) == (("writer",), "write")
    assert bus.asks == []


async def test_listener_declines_and_the_agent_is_informed() -> None:
    host, bus = make_host(*WRITES), MessageBus()
    approve(bus, {"approved": False, "value": "not today"})
    await SubagentToolWrapper(WRITER, host, bus).build({}).execute(asyncio.Event())
    assert "not today" in results(host.runtime.scripted.requests[-1])[0]


@pytest.mark.parametrize("bus", [None, MessageBus()])
async def test_write_is_refused_without_a_bus_or_a_listener(bus: MessageBus | None) -> None:
    host = make_host(*WRITES)
    approve(host.runtime.bus, {"approved": True})
    await SubagentToolWrapper(WRITER, host, bus).build({}).execute(asyncio.Event())
    assert "no approver is available" in results(host.runtime.scripted.requests[-1])[0]


async def test_an_executor_without_a_bus_asks_on_the_bus_of_the_app() -> None:
    host = make_host(*WRITES)
    asked = approve(host.runtime.bus, {"approved": True})
    output = await (await AgentExecutor.create(WRITER, host)).run({})
    assert output.text == "Written."
    assert results(host.runtime.scripted.requests[-1]) == ["write ran"]
    assert [message.path for message in asked] == [("writer",)]


async def test_an_executor_denies_approvals_if_the_bus_of_the_app_is_disabled() -> None:
    host = make_host(*WRITES)
    host.settings.set("bus.enabled", False)
    approve(host.runtime.bus, {"approved": True})
    await (await AgentExecutor.create(WRITER, host)).run({})
    assert "no approver is available" in results(host.runtime.scripted.requests[-1])[0]


async def test_a_listener_to_all_topics_is_not_asked() -> None:
    host, bus = make_host(*WRITES), MessageBus()
    bus.subscribe("*", lambda message: None)
    await SubagentToolWrapper(WRITER, host, bus).build({}).execute(asyncio.Event())
    assert "no approver is available" in results(host.runtime.scripted.requests[-1])[0]


async def test_listener_cannot_change_what_is_executed() -> None:
    host, bus = make_host(*WRITES), MessageBus()
    records: list[Message] = []

    def approve_another(message: Message) -> None:
        message.payload["payload"]["args"]["path"] = "/etc/passwd"
        bus.answer(message.payload["ask_id"], {"approved": True})

    bus.subscribe("ask-request", approve_another)
    bus.subscribe("audit", records.append)
    await SubagentToolWrapper(WRITER, host, bus).build({}).execute(asyncio.Event())
    assert (records[0].payload["status"], records[0].payload["args"]["path"]) == ("ok", "a")


async def test_audit_records_pass_the_bus() -> None:
    host, bus = make_host(*WRITES), MessageBus()
    approve(bus, {"approved": True})
    records: list[Message] = []
    bus.subscribe("audit", records.append)
    await SubagentToolWrapper(WRITER, host, bus).build({}).execute(asyncio.Event())
    record = records[0].payload
    assert (record["tool"], record["status"], record["decision"]) == ("write", "ok", "ask")
    assert record["args"] == {"path": "a", "password": "***"}
    assert records[0].path == ("writer",)
    with pytest.raises(ConfigError, match="'audit' is reserved"):
        bus.publish("audit", {})


async def test_app_bus_is_asked_once_for_a_call_deep_in_the_tree() -> None:
    host = make_host(call("mid", "{}"), call("writer", "{}", "c1b"), *WRITES, "Mid.", "Root.")
    host.offer(WRITER, AgentDefinition(name="mid", description="m"))
    asked = approve(host.runtime.bus, {"approved": True})
    root = AgentDefinition(name="root", description="r")
    output = await (await AgentExecutor.create(root, host, bus=host.runtime.bus)).run({})
    assert output.result == "Root."
    assert [message.path for message in asked] == [("writer",)]


async def test_first_answer_counts_when_a_person_and_a_listener_are_asked() -> None:
    host = make_host(call("writer", "{}"), *WRITES, "Root.")
    host.offer(WRITER)
    given_up: list[bool] = []

    async def never(kind: str, call_id: str, payload: Mapping[str, Any], limit: float | None) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            given_up.append(True)

    approve(host.runtime.bus, {"approved": True})
    root = AgentDefinition(name="root", description="r")
    output = await (await AgentExecutor.create(root, host, ask=never)).run({})
    await asyncio.sleep(0)
    assert (output.result, given_up) == ("Root.", [True])


async def test_person_answers_when_the_listener_fails() -> None:
    host = make_host(call("writer", "{}"), *WRITES, "Root.")
    host.offer(WRITER)
    host.runtime.bus.subscribe("ask-request", lambda message: 1 / 0)

    async def ask(kind: str, call_id: str, payload: Mapping[str, Any], limit: float | None) -> Any:
        for _ in range(20):
            await asyncio.sleep(0)
        return {"approved": True}

    root = AgentDefinition(name="root", description="r")
    await (await AgentExecutor.create(root, host, ask=ask)).run({})
    assert results(host.runtime.scripted.requests[2]) == ["write ran"]


async def test_person_answers_before_a_listener_that_stays_silent() -> None:
    host = make_host(call("writer", "{}"), *WRITES, "Root.")
    host.offer(WRITER)
    host.runtime.bus.subscribe("ask-request", lambda message: None)

    async def ask(kind: str, call_id: str, payload: Mapping[str, Any], limit: float | None) -> Any:
        return {"approved": True}

    root = AgentDefinition(name="root", description="r")
    await (await AgentExecutor.create(root, host, ask=ask)).run({})
    await asyncio.sleep(0)
    assert results(host.runtime.scripted.requests[2]) == ["write ran"]
    assert host.runtime.bus.asks == []


async def test_thoughts_calls_start_and_end_are_shown_and_published() -> None:
    thinking = {"reasoning": "I must look.", "text": "Looking.", **call("see", call_id="c2")}
    host, bus = Host([thinking, "All is seen."], make_tool("see")), MessageBus()
    heard: list[Message] = []
    bus.subscribe("subagent-activity", heard.append)
    updates: list[Any] = []
    invocation = SubagentToolWrapper(WRITER, host, bus).build({})
    await invocation.execute(asyncio.Event(), updates.append)
    assert updates[0] == {"agent": "writer", "status": "running", "activity": []}
    assert updates[-1]["status"] == "ok"
    assert [(item["type"], item["status"]) for item in updates[-1]["activity"]] == [
        ("reasoning", "ok"),
        ("text", "ok"),
        ("tool", "ok"),
        ("text", "ok"),
    ]
    assert [item["text"] for item in updates[-1]["activity"] if "text" in item] == [
        "I must look.",
        "Looking.",
        "All is seen.",
    ]
    types = [message.payload["type"] for message in heard]
    assert (types[0], types[-1], heard[-1].payload["status"]) == ("start", "end", "ok")
    assert {"reasoning", "text", "tool"} <= set(types)
    assert all(message.payload["agent"] == "writer" for message in heard)


async def test_text_is_shown_while_it_is_written() -> None:
    gate = Gate()
    host = Host([["All ", gate, "is seen."]])
    updates: list[Any] = []
    begun = asyncio.Event()

    def update(output: Any) -> None:
        updates.append(output)
        if output["activity"]:
            begun.set()

    invocation = SubagentToolWrapper(WRITER, host).build({})
    running = asyncio.create_task(invocation.execute(asyncio.Event(), update))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    assert [(item["text"], item["status"]) for item in updates[-1]["activity"]] == [("All ", "running")]
    gate.open()
    await running
    assert updates[-1]["activity"][0]["text"] == "All is seen."


async def test_error_of_the_model_is_an_item() -> None:
    host = Host([ModelError("overloaded", provider="test")])
    updates: list[Any] = []
    await SubagentToolWrapper(WRITER, host).build({}).execute(asyncio.Event(), updates.append)
    assert updates[-1]["status"] == "error"
    assert [(item["type"], item["message"]) for item in updates[-1]["activity"]] == [("error", "overloaded")]
