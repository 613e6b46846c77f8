"""Every call leaves one record, with its secrets masked."""

import asyncio
from collections.abc import Mapping
from typing import Any

from dovetail.data.secrets import mask_secrets
from dovetail.events.call import ToolCall
from dovetail.policy import MessageBus, Policy, PolicyRule
from dovetail.tools import Kind, RunContext, ToolRunner, ToolSnapshot, make_tool
from dovetail.tools.pipeline.audit import AuditRecord, log_audit


def login(user: str, password: str = "", options: dict[str, Any] | None = None) -> str:
    return user


async def test_record_has_user_call_place_and_reason() -> None:
    records: list[AuditRecord] = []
    policy = Policy([PolicyRule(name="no roots", action="deny", tool="login", arguments={"user": "root"})])
    runner = ToolRunner(policy, audit=records.append)
    scope = RunContext(owner="ann", session_id="s", run_path=("r", "c"), agent_path=("main", "scout"))
    tools = ToolSnapshot.of([make_tool(login, kind=Kind.Fetch)])
    arguments = {"user": "bob", "password": "hunter2", "options": {"api_key": "k", "list": [{"Token": "t"}]}}
    arguments["options"] |= {"token": {"to": "mallory", "pin": 1}, "secret_name": "db", "passwords": ["x"]}
    calls = [
        ToolCall(call_id="1", name="login", arguments=arguments),
        ToolCall(call_id="2", name="login", arguments={"user": "root"}),
        ToolCall(call_id="3", name="login", arguments='{"password": "hunter2"'),
        ToolCall(call_id="4", name="nothing", arguments="secret"),
    ]
    await runner.run_batch(tools, calls, scope)
    by_id = {record.call_id: record for record in records}
    assert len(records) == 4
    assert "hunter2" not in str(records)
    first = by_id["1"]
    assert first.args == {
        "user": "bob",
        "password": "***",
        "options": {
            "api_key": "***",
            "list": [{"Token": "***"}],
            "token": {"to": "mallory", "pin": "***"},
            "secret_name": "db",
            "passwords": ["***"],
        },
    }
    assert (first.tool, first.kind, first.status, first.decision) == ("login", "fetch", "ok", "allow")
    assert (first.owner, first.session_id, first.run_path, first.agent_path) == (
        "ann",
        "s",
        ("r", "c"),
        ("main", "scout"),
    )
    assert first.duration > 0
    assert (by_id["2"].decision, by_id["2"].rule, by_id["2"].status) == ("deny", "no roots", "denied")
    assert by_id["3"].status == "error"
    assert by_id["4"].args == {"unread_characters": 6}


async def test_record_says_who_decided_and_how_long_the_question_waited() -> None:
    records: list[AuditRecord] = []
    runner, bus = ToolRunner(Policy(), audit=records.append), MessageBus()
    tools = ToolSnapshot.of(
        [make_tool(login, kind=kind, name=kind.value) for kind in (Kind.Read, Kind.Write)]
    )

    async def answer(kind: str, call_id: str, payload: Mapping[str, Any], seconds: float | None) -> Any:
        await asyncio.sleep(0)
        return {"status": "timeout"} if call_id == "late" else {"approved": True, "remember": "always"}

    async def call(call_id: str, kind: str, user: str, scope: RunContext) -> None:
        made = ToolCall(call_id=call_id, name=kind, arguments={"user": user})
        await runner.run_call(tools, made, scope)

    person = RunContext(ask=answer)
    await call("free", "read", "ann", person)
    await call("asked", "write", "ann", person)
    await call("again", "write", "ann", person)
    await call("late", "write", "bob", person)
    bus.subscribe("ask-request", lambda asked: bus.answer(asked.payload["ask_id"], {"approved": False}))
    await call("heard", "write", "cid", RunContext(bus=bus))
    assert [(record.call_id, record.decided_by, record.status) for record in records] == [
        ("free", "rule", "ok"),
        ("asked", "person", "ok"),
        ("again", "remembered", "ok"),
        ("late", "timeout", "timeout"),
        ("heard", "listener", "denied"),
    ]
    assert [record.call_id for record in records if record.waited > 0] == ["asked", "late", "heard"]


def test_telling_keys_are_masked_and_long_texts_cut() -> None:
    masked = mask_secrets(
        {
            "Authorization": "Bearer x",
            "accessToken": "x",
            "private-key": "x",
            "max_tokens": 5,
            "author": "ann",
            "text": "a" * 1000,
        }
    )
    assert masked["Authorization"] == masked["accessToken"] == masked["private-key"] == "***"
    assert (masked["max_tokens"], masked["author"]) == (5, "ann")
    assert masked["text"].endswith("… (1000 characters)")


def test_record_can_go_to_the_log_as_one_line(caplog: Any) -> None:
    caplog.set_level("INFO", logger="dovetail.audit")
    log_audit(AuditRecord(time=1.0, call_id="1", tool="cut", args={"a": "b\nc"}, status="ok", duration=0.1))
    assert caplog.messages[0].startswith('{"time": 1.0, "call_id": "1", "tool": "cut"')
    assert "\n" not in caplog.messages[0]


async def test_without_an_audit_of_its_own_records_go_to_the_log(caplog: Any) -> None:
    tools = ToolSnapshot.of([make_tool(login)])
    call = ToolCall(call_id="1", name="login", arguments={"user": "bob", "password": "hunter2"})
    await ToolRunner().run_call(tools, call, RunContext())
    assert caplog.messages == []
    caplog.set_level("INFO", logger="dovetail.audit")
    await ToolRunner().run_call(tools, call, RunContext())
    assert '"password": "***"' in caplog.text


def test_only_the_first_of_many_values_are_kept() -> None:
    many = mask_secrets({f"a{number}": number for number in range(400_000)})
    assert len(many) == 1001
    assert many["…"] == "… (399000 more)"
    nested = mask_secrets({"rows": [[1] * 600] * 5, "password": "x"})
    assert nested["rows"][0] == [1] * 600
    assert nested["rows"][-1] == "… (3 more)"
    assert mask_secrets({"k" * 1000: 1}) == {f"{'k' * 500}… (1000 characters)": 1}
