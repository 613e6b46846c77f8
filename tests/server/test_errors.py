"""Errors for invalid requests: the place, the value sent, and the values expected."""

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.testing import Gate, Reply
from dovetail.tools.makers.browser import open_url
from dovetail.tools.tool import Tool
from serving import serve

JSON = {"content-type": "application/json"}


def tell(response: httpx.Response) -> tuple[int, str]:
    """Status and message of a refusal."""
    return response.status_code, response.json()["error"]["message"]


async def test_a_body_that_is_not_a_json_object_is_rejected_with_the_reason(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        told = {
            body: tell(await server.client.post("/api/v1/sessions/import", content=body, headers=JSON))
            for body in (b'{"messages": [}', b"[1]", b"")
        }
        wrong_type = await server.client.post(
            "/api/v1/chat", content=b'{"message": "Hi"}', headers={"content-type": "text/plain"}
        )
    assert told[b'{"messages": [}'] == (422, "body: Invalid JSON: Expecting value at character 14")
    assert told[b"[1]"] == (422, "body: must be a JSON object, got [1]")
    assert told[b""] == (422, "body: Field required")
    assert tell(wrong_type) == (
        422,
        "body: must be a JSON object; send it with `content-type: application/json`",
    )


async def test_a_wrong_value_is_named_and_all_problems_are_reported(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        mode = await server.client.post("/api/v1/runs/r/cancel", json={"mode": "soon"})
        limit = await server.client.get("/api/v1/sessions", params={"limit": "many" * 50})
        ack = await server.client.post("/ai/tools/ack", json={})
    assert tell(mode)[1] == "body.mode: Input should be 'now', 'after_tool' or 'after_turn', got 'soon'"
    assert tell(limit)[1].endswith("manyman…")
    assert tell(ack)[1] == "body.toolCallId: Field required; body.status: Field required"


@pytest.mark.parametrize(
    ("method", "path", "body", "told"),
    [
        (
            "POST",
            "/api/v1/sessions",
            {"titel": "x"},
            "Unknown field 'titel'. Did you mean 'title'?",
        ),
        (
            "POST",
            "/api/v1/sessions",
            {"colour": "x"},
            "Unknown field 'colour'. Expected one of: id, title, agent, options.",
        ),
        ("POST", "/api/v1/chat", {"message": "Hi", "sesion_id": "s"}, "Did you mean 'session_id'"),
        ("POST", "/api/v1/chat", {"message": "Hi", "messageID": "s"}, "Did you mean 'messageId'"),
        (
            "POST",
            "/api/v1/chat",
            {"message": "Hi", "limits": {"calls": 6}},
            "Unknown field 'limits'. Expected one of: id, messages, trigger, messageId, message, session_id,",
        ),
        (
            "PATCH",
            "/api/v1/sessions/s",
            {},
            "Nothing to change; send `title`, `head`, `agent`, `options`, `pinned` or `folder`.",
        ),
        ("POST", "/api/v1/runs/r/cancel", {"when": "now"}, "Unknown field 'when'. Expected one of: mode."),
        (
            "POST",
            "/api/v1/tools/add/call",
            {"a": 1},
            "Unknown field 'a'. Expected one of: arguments, tab_id.",
        ),
    ],
)
async def test_a_name_that_means_nothing_is_noticed(
    tmp_path: Path, method: str, path: str, body: dict[str, Any], told: str
) -> None:
    async with serve(tmp_path) as server:
        response = await server.client.request(method, path, json=body)
    status, message = tell(response)
    assert status == 422
    assert told in message


async def test_the_fields_of_the_ai_sdk_in_a_chat_and_its_messages_are_accepted(
    tmp_path: Path,
) -> None:
    message = {"id": "m", "role": "user", "parts": [{"type": "text", "text": "Hi"}], "createdAt": "now"}
    body = {"id": "s", "messages": [message], "trigger": "submit-message", "messageId": None}
    async with serve(tmp_path, ["Hello"]) as server:
        response = await server.client.post("/api/v1/chat", json=body, headers={"accept": "application/json"})
    assert response.json()["response"] == "Hello"


def with_file(url: Any, media_type: Any = "text/plain") -> dict[str, Any]:
    file = {"type": "file", "mediaType": media_type, "filename": "a.txt", "url": url}
    return {"id": "s", "messages": [{"role": "user", "parts": [{"type": "text", "text": "Look"}, file]}]}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"messages": [{"role": "user", "content": "Hello"}]}, "`messages` whose last one has `parts`"),
        ({"message": "  "}, "Missing message; send `message`"),
        (with_file(None), "part 1 of the last message: `url` of a file must begin with data:"),
        (with_file("file:///etc/passwd"), "got 'file:///etc/passwd'"),
        (with_file("data:text/plain"), "must have the form data:text/plain;base64,SGVsbG8="),
        (with_file("data:text/plain;base64,@@@"), "is not valid base64"),
        (with_file("data:,x", "text"), "`mediaType` of a file must have the form text/plain, got 'text'"),
    ],
)
async def test_a_message_that_no_model_could_read_is_refused_and_not_stored(
    tmp_path: Path, body: dict[str, Any], told: str
) -> None:
    async with serve(tmp_path) as server:
        status, message = tell(await server.client.post("/api/v1/chat", json=body))
        sessions = (await server.get("/api/v1/sessions"))["sessions"]
    assert status == 422
    assert told in message
    assert sessions == []


async def test_an_imported_message_whose_file_is_gone_can_still_be_answered(tmp_path: Path) -> None:
    parts = with_file(None)["messages"][0]["parts"]
    async with serve(tmp_path, ["I cannot see it."]) as server:
        imported = await server.client.post(
            "/api/v1/sessions/import", json={"messages": [{"id": "m1", "role": "user", "parts": parts}]}
        )
        body = {"id": imported.json()["id"], "messages": [], "trigger": "regenerate-message"}
        answer = await server.client.post("/api/v1/chat", json=body, headers={"accept": "application/json"})
    assert answer.json()["response"] == "I cannot see it."


@pytest.mark.parametrize("media_type", ["", None])
async def test_a_file_whose_type_the_browser_does_not_know_is_taken(
    tmp_path: Path, media_type: str | None
) -> None:
    url = "data:application/octet-stream;base64," + base64.b64encode(b"\xff\x00oak").decode()
    async with serve(tmp_path, ["I see."]) as server:
        response = await server.client.post("/api/v1/chat", json=with_file(url, media_type))
        assert response.status_code == 200, response.text
        [_, piece] = server.model.requests[0].messages[-1]["content"]
    assert (piece["type"], piece["media_type"]) == ("file", "application/octet-stream")


async def test_text_files_in_either_form_are_taken(tmp_path: Path) -> None:
    inline = "data:text/plain;base64," + base64.b64encode(b"oak").decode()
    async with serve(tmp_path, ["one", "two"]) as server:
        for url in (inline, "data:text/plain,oak%20tree"):
            response = await server.client.post("/api/v1/chat", json=with_file(url))
            assert response.status_code == 200
    assert "oak tree" in str(server.model.requests[1].messages[-1])


async def test_a_taken_id_and_an_unknown_page_are_reported_in_plain_words(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        await server.client.post("/api/v1/sessions", json={"id": "s", "title": "  Oak  "})
        again = await server.client.post("/api/v1/sessions", json={"id": "s"})
        page = await server.client.get("/api/v1/sessions/s/messages", params={"cursor": "nope"})
        title = (await server.get("/api/v1/sessions/s"))["title"]
    assert tell(again) == (409, "Session 's' already exists.")
    assert tell(page) == (404, "Invalid cursor 'nope'; use the cursor returned with the previous page.")
    assert title == "Oak"


async def test_an_unknown_route_is_404_and_a_wrong_method_names_the_right_ones(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        unknown = await server.client.post("/v1/embeddings", json={})
        elsewhere = await server.client.post("/nothing", json={})
        wrong = await server.client.delete("/api/v1/tools")
        read = await server.client.get("/api/v1/tools/add/call")
        both = await server.client.put("/api/v1/sessions")
    assert tell(unknown) == (404, "Not found: /v1/embeddings")
    assert tell(elsewhere) == (404, "Not found: /nothing")
    assert tell(wrong) == (405, "/api/v1/tools accepts GET, not DELETE.")
    assert tell(read) == (405, "/api/v1/tools/add/call accepts POST, not GET.")
    assert both.headers["allow"] == "GET, POST"


def saw_tool() -> Tool:
    async def saw(args: dict[str, Any], context: ToolContext) -> str:
        return "sawn"

    return Tool(name="saw", description="Saw.", parameters={}, execute=saw, kind=Kind.Execute)


OPEN = {"url": "https://a.example", "actionName": "Show"}


@pytest.mark.parametrize(
    ("name", "arguments", "wrong", "right"),
    [
        ("saw", {}, {}, {"approved": True}),
        ("saw", {}, {"aproved": True}, {"approved": True}),
        ("saw", {}, {"reason": "why not"}, {"approved": False}),
        ("open-url", OPEN, {"approved": True}, {"value": "opened"}),
    ],
)
async def test_an_answer_that_does_not_fit_its_question_leaves_it_open(
    tmp_path: Path, name: str, arguments: dict[str, Any], wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    call = {"call_id": "c1", "name": name, "arguments": arguments}
    async with serve(tmp_path, [{"tool_calls": [call]}, "Done."], [saw_tool(), open_url]) as server:
        refused: httpx.Response | None = None
        async for chunk in server.stream("POST", "/api/v1/chat", json={"message": "Go", "tab_id": "t"}):
            if chunk["type"] == "data-ask" and refused is None:
                address = f"/api/v1/asks/{chunk['data']['ask_id']}"
                refused = await server.client.post(address, json=wrong)
                assert len((await server.get("/api/v1/asks"))["asks"]) == 1
                answered = await server.client.post(address, json=right)
                assert answered.status_code == 200
    assert refused is not None
    assert refused.status_code == 422
    told = refused.json()["error"]["message"]
    assert "the answer requires `" in told or "Unknown field 'aproved'. Did you mean 'approved'" in told


@pytest.mark.parametrize("depth", [101, 900, 50_000])
async def test_a_body_that_is_nested_too_deeply_is_rejected_with_the_reason(
    tmp_path: Path, depth: int
) -> None:
    deep = "[" * depth + "]" * depth
    async with serve(tmp_path) as server:
        body = f'{{"toolCallId": "c", "status": "success", "output": {deep}}}'
        status, message = tell(await server.client.post("/ai/tools/ack", content=body, headers=JSON))
        assert (status, message) == (422, "body: nested more than 100 levels deep")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
async def test_numbers_that_json_does_not_have_are_reported(tmp_path: Path, number: str) -> None:
    async with serve(tmp_path) as server:
        body = f'{{"toolCallId": "c", "status": "success", "output": {number}}}'
        status, message = tell(await server.client.post("/ai/tools/ack", content=body, headers=JSON))
        assert (status, message) == (422, f"body: Invalid JSON: {number}")


async def test_half_characters_of_a_client_are_replaced(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Yes."]) as server:
        body = r'{"message": "a\ud83d b\u0000 c\ud83d\ude00", "session_id": "s"}'
        headers = {**JSON, "accept": "application/json"}
        assert (await server.client.post("/api/v1/chat", content=body, headers=headers)).status_code == 200
        [question, _] = (await server.get("/api/v1/sessions/s"))["path"]
        assert question["parts"][0]["text"] == "a\ufffd b\ufffd c😀"
        assert (await server.get("/api/v1/sessions?q=%00"))["sessions"][0]["id"] == "s"


async def test_a_body_in_chunks_that_is_too_large_is_a_413(tmp_path: Path) -> None:
    async def speak() -> AsyncIterator[bytes]:
        for _ in range(21):
            yield b"x" * 1_000_000

    async with serve(tmp_path) as server:
        response = await server.client.post("/api/v1/chat", content=speak(), headers=JSON)
        assert (response.status_code, response.json()["error"]["type"]) == (413, "too_large")
        assert (await server.client.get("/readyz")).status_code == 200


@pytest.mark.parametrize("number", [True, -5, 10**30, "3", None, 1.5])
async def test_a_wrong_number_of_an_event_does_not_break_the_stream(tmp_path: Path, number: Any) -> None:
    gate = Gate("go")
    async with serve(tmp_path, [Reply(steps=["Hello ", gate, "there."])]) as server:
        chat = asyncio.create_task(server.chat("Hi"))
        await gate.reached.async_wait()
        message = {"id": "m", "role": "assistant", "parts": [], "metadata": {"number": number}}
        body = {"id": "s", "messages": [message], "tab_id": "t"}
        async with server.client.stream("POST", "/api/v1/chat", json=body) as response:
            assert response.status_code == 200
        gate.open()
        await chat
