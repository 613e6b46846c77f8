"""A session goes out as a file and comes back as another one that reads the same and can be talked to."""

from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import Kind
from dovetail.events.delta import ProviderPartDelta, ReasoningDelta, TextDelta, ToolCallDelta
from dovetail.events.tool_context import ToolContext
from dovetail.sessions.message import Message
from dovetail.tools.tool import Tool
from serving import Serving, serve

CALL = {"text": "I count.", "tool_calls": [{"call_id": "c1", "name": "add", "arguments": {"a": 1, "b": 2}}]}
KEPT = ("id", "parent_id", "role", "parts", "metadata", "created_at")


def add_tool() -> Tool:
    async def add(args: dict[str, Any], context: ToolContext) -> int:
        return args["a"] + args["b"]

    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    return Tool(name="add", description="Add.", parameters=schema, execute=add, kind=Kind.Think)


async def take_back(server: Serving, exported: Any) -> dict[str, Any]:
    response = await server.client.post("/api/v1/sessions/import", json=exported)
    assert response.status_code == 201, response.text
    return response.json()


async def test_an_exported_session_comes_back_with_all_its_branches(tmp_path: Path) -> None:
    async with serve(tmp_path, [CALL, "It is 3.", "Three.", "Yes."], [add_tool()]) as server:
        await server.chat("1 + 2?")
        question = (await server.get("/api/v1/sessions/s"))["path"][0]["id"]
        again = {"id": "s", "tab_id": "t", "trigger": "regenerate-message", "messageId": question}
        async for _ in server.stream("POST", "/api/v1/chat", json={**again, "messages": []}):
            pass
        exported = await server.get("/api/v1/sessions/s/export")
        made = await take_back(server, exported)
        assert made["id"] != "s"
        twin = await server.get(f"/api/v1/sessions/{made['id']}/export")
        assert [{name: message[name] for name in KEPT} for message in twin["messages"]] == exported[
            "messages"
        ]
        assert {name: twin[name] for name in ("title", "head", "usage")} == {
            name: exported[name] for name in ("title", "head", "usage")
        }
        first_answer = exported["messages"][1]["id"]
        await server.client.patch(f"/api/v1/sessions/{made['id']}", json={"head": first_answer})
        await server.chat("Sure?", session_id=made["id"])
        roles = [message["role"] for message in server.model.requests[-1].messages[2:]]
        assert roles == ["user", "assistant", "tool", "assistant", "user"]
        assert server.model.requests[-1].messages[4]["content"] == "3"


async def test_parts_for_a_provider_travel_with_the_session_and_its_export(tmp_path: Path) -> None:
    signed = {"type": "thinking", "thinking": "1 + 2 …", "signature": "c2lnbmVk"}
    call = ToolCallDelta(0, "c1", "add", '{"a": 1, "b": 2}')
    steps = [ReasoningDelta("1 + 2 …"), ProviderPartDelta("anthropic", signed), TextDelta("I count."), call]
    replies = [{"steps": steps}, "It is 3.", "Yes.", "Sure."]
    part = {"source": "anthropic", "data": signed, "text": 0, "calls": 0}
    async with serve(tmp_path, replies, [add_tool()]) as server:
        await server.chat("1 + 2?")
        assert server.model.requests[1].messages[-2]["provider_parts"] == [part]
        await server.chat("Really?")
        assert server.model.requests[2].messages[3]["provider_parts"] == [part]
        exported = await server.get("/api/v1/sessions/s/export")
        assert exported["messages"][1]["provider_parts"] == [{"answer": 0, **part}]
        made = await take_back(server, exported)
        await server.chat("Really?", session_id=made["id"])
        assert server.model.requests[3].messages[3]["provider_parts"] == [part]
        assert (await server.get(f"/api/v1/sessions/{made['id']}/export"))["messages"][:4] == exported[
            "messages"
        ]


async def test_an_invalid_export_is_rejected_with_the_reason(tmp_path: Path) -> None:
    hello = {"role": "user", "parts": [{"type": "text", "text": "Hello"}]}
    async with serve(tmp_path) as server:
        for messages, status, told in [
            ([{**hello, "id": "a", "parent_id": "b"}, {**hello, "id": "b", "parent_id": "a"}], 422, "'b'"),
            ([{**hello, "id": "a"}, {**hello, "id": "a"}], 422, "Two messages"),
            ([{"id": "a", "role": "robot"}], 422, "role"),
            ("all of them", 422, "messages"),
        ]:
            response = await server.client.post("/api/v1/sessions/import", json={"messages": messages})
            assert response.status_code == status, response.text
            assert told in response.json()["error"]["message"]
        assert (await server.get("/api/v1/sessions"))["sessions"] == []


async def test_the_cost_so_far_and_the_head_come_back_or_are_refused(tmp_path: Path) -> None:
    hello = {"id": "a", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}
    body = {"messages": [hello], "usage": {"input_tokens": 7, "cost": 0.25}}
    async with serve(tmp_path) as server:
        imported = await server.client.post("/api/v1/sessions/import", json={**body, "head": "a"})
        refused = await server.client.post("/api/v1/sessions/import", json={**body, "head": "gone"})
    assert imported.json()["usage"]["cost"] == 0.25
    assert refused.status_code == 422
    assert "The head 'gone' is not one of the messages." in refused.json()["error"]["message"]


async def test_calls_that_never_ended_come_back_with_a_result(tmp_path: Path) -> None:
    part = {"type": "dynamic-tool", "toolName": "add", "toolCallId": "c", "state": "input-available"}
    messages = [
        {"id": "q", "role": "user", "parts": [{"type": "text", "text": "Hello"}]},
        {"id": "a", "parent_id": "q", "role": "assistant", "parts": [{**part, "input": {"a": 1}}]},
    ]
    async with serve(tmp_path, ["Fine."]) as server:
        made = await take_back(server, {"messages": messages})
        await server.chat("Go on", session_id=made["id"])
        read = server.model.requests[-1].messages[2:]
        assert [message["role"] for message in read] == ["user", "assistant", "tool", "user"]
        assert "interrupted" in read[2]["content"]


async def test_markdown_comes_back_as_it_reads_and_can_be_talked_to(tmp_path: Path) -> None:
    said = "A list:\n\n- one\n\n## You\n\n  \\## Assistant\n\\## Assistant\n\n> the end"
    async with serve(tmp_path, [said, "Yes."]) as server:
        await server.chat("## System\nis no heading")
        exported = (await server.client.get("/api/v1/sessions/s/export?format=markdown")).text
        made = await take_back(server, {"markdown": exported})
        path = (await server.get(f"/api/v1/sessions/{made['id']}"))["path"]
        assert [(message["role"], message["parts"][-1]["text"]) for message in path] == [
            ("user", "## System\nis no heading"),
            ("assistant", said),
        ]
        assert made["title"] == (await server.get("/api/v1/sessions/s"))["title"]
        again = (await server.client.get(f"/api/v1/sessions/{made['id']}/export?format=markdown")).text
        assert again == exported
        await server.chat("Sure?", session_id=made["id"])
        roles = [message["role"] for message in server.model.requests[-1].messages[2:]]
        assert roles == ["user", "assistant", "user"]


async def test_markdown_that_is_not_a_conversation_is_rejected(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        for body, status, told in (
            ({"markdown": "# Notes\n\nNothing here."}, 422, "no message"),
            ({"markdown": "## You\n\nHi", "messages": []}, 422, "either"),
            ({"title": "nothing"}, 422, "either"),
        ):
            response = await server.client.post("/api/v1/sessions/import", json=body)
            assert response.status_code == status
            assert told in response.text
        assert (await server.get("/api/v1/sessions"))["sessions"] == []


GOOD: list[dict[str, Any]] = [
    {"type": "step-start"},
    {"type": "text", "text": "Hi"},
    {"type": "reasoning", "text": "Hm", "state": "done"},
    {
        "type": "dynamic-tool",
        "toolName": "saw",
        "toolCallId": "c",
        "state": "output-available",
        "output": [1],
    },
    {"type": "data-skill", "data": {"name": "x", "content": "y", "folder": "z", "allowed_tools": ["a"]}},
    {"type": "data-skill", "data": {"name": "x", "error": "not there"}},
    {"type": "data-subagent", "id": "r", "data": {"run_id": "r", "path": ["a", "r"], "agent": "scout"}},
    {"type": "file", "url": "data:text/plain,Hi", "mediaType": "text/plain"},
    {"type": "something-newer", "whatever": {}},
]
WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "`type` of a part must be a string"),
    ({"type": 5}, "`type` of a part must be a string"),
    ({"type": "text"}, "a part of type 'text' requires `text`"),
    ({"type": "text", "text": {"a": 1}}, "`text` of a part of type 'text' must be a string, got {'a': 1}"),
    ({"type": "reasoning"}, "requires `text`"),
    ({"type": "dynamic-tool"}, "requires `toolName`"),
    ({"type": "dynamic-tool", "toolName": "saw"}, "requires `toolCallId`"),
    ({"type": "dynamic-tool", "toolName": "saw", "toolCallId": ""}, "must have 1 to 200 characters"),
    (
        {"type": "dynamic-tool", "toolName": "saw", "toolCallId": "c", "state": "odd"},
        "Unknown call `state` 'odd'",
    ),
    ({"type": "dynamic-tool", "toolName": "saw", "toolCallId": "c", "approval": "yes"}, "must be an object"),
    ({"type": "dynamic-tool", "toolName": "saw", "toolCallId": "c", "approval": {}}, "requires `id`"),
    ({"type": "dynamic-tool", "toolName": "saw", "toolCallId": "c", "title": []}, "`title`"),
    ({"type": "data-skill"}, "requires `data`"),
    ({"type": "data-skill", "data": {}}, "`data` of a skill requires `name`"),
    ({"type": "data-skill", "data": {"name": "x"}}, "`data` of a skill requires `content`"),
    (
        {"type": "data-skill", "data": {"name": "x", "content": "", "folder": "", "allowed_tools": [1]}},
        "strings",
    ),
    ({"type": "data-subagent", "data": {"run_id": "r"}}, "requires `path`"),
    ({"type": "data-subagent", "data": {"run_id": "r", "path": [1]}}, "`path` must be a list of strings"),
    ({"type": "file", "url": 5}, "`url` of a part of type 'file' must be a string"),
]


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
async def test_parts_of_every_known_shape_come_back(tmp_path: Path, role: str) -> None:
    async with serve(tmp_path, ["Yes."]) as server:
        made = await take_back(server, {"messages": [{"id": "m", "role": role, "parts": GOOD}]})
        exported = await server.get(f"/api/v1/sessions/{made['id']}/export")
        assert exported["messages"][0]["parts"] == GOOD
        response = await server.client.get(f"/api/v1/sessions/{made['id']}/export?format=markdown")
        assert response.status_code == 200
        assert [chunk async for chunk in server.stream("POST", "/api/v1/chat", json=ask(made["id"]))]


def ask(session_id: str) -> dict[str, Any]:
    return {"message": "Go on.", "session_id": session_id, "tab_id": "t"}


@pytest.mark.parametrize(("part", "problem"), WRONG)
async def test_a_part_of_a_wrong_shape_is_refused_with_its_place(
    tmp_path: Path, part: dict[str, Any], problem: str
) -> None:
    parts = [{"type": "text", "text": "Hi"}, part]
    async with serve(tmp_path) as server:
        body = {"messages": [{"id": "m", "role": "assistant", "parts": parts}]}
        response = await server.client.post("/api/v1/sessions/import", json=body)
        assert response.status_code == 422
        message = response.json()["error"]["message"]
        assert "part 1 of message 'm'" in message
        assert problem in message


async def test_markdown_with_too_many_messages_is_refused(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        body = {"markdown": "## You\n\nHi\n\n" * 10_001}
        response = await server.client.post("/api/v1/sessions/import", json=body)
        assert response.status_code == 422
        assert "This Markdown contains 10001 messages; at most 10000 are allowed" in response.text


async def test_a_session_of_an_older_version_with_odd_parts_opens(tmp_path: Path) -> None:
    odd = [
        {"type": "text"},
        {"type": "reasoning"},
        {"type": "dynamic-tool"},
        {"type": "data-skill", "data": {}},
    ]
    async with serve(tmp_path, ["Yes."]) as server:
        made = await server.app.sessions.add([Message(id="m", role="assistant", parts=odd)])
        for view in ("", "/messages", "/export", "/export?format=markdown"):
            assert (await server.client.get(f"/api/v1/sessions/{made.id}{view}")).status_code == 200
        assert [chunk async for chunk in server.stream("POST", "/api/v1/chat", json=ask(made.id))]
