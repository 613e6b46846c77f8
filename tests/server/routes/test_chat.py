"""A chat over HTTP: streamed, as JSON, read again, stopped, branched."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail.app import Dovetail
from dovetail.errors import ModelError
from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.testing import Gate
from dovetail.tools.makers.browser import open_url
from dovetail.tools.tool import Tool
from model_servers import Received, clear_variables, run_server, send_events, send_json
from patience import PATIENCE
from serving import serve, serve_app, text_of, types_of


def add_tool() -> Tool:
    async def add(args: dict[str, Any], context: ToolContext) -> int:
        return args["a"] + args["b"]

    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    return Tool(
        name="add", description="Add.", parameters=schema, execute=add, kind=Kind.Think, display_name="Add"
    )


CALL = {"tool_calls": [{"call_id": "c1", "name": "add", "arguments": {"a": 1, "b": 2}}]}


async def test_an_answer_streams_in_the_order_clients_expect(tmp_path: Path) -> None:
    async with serve(tmp_path, [{"reasoning": "Hm.", "text": "Hello 世界", "cut": 3}]) as server:
        chunks = await server.chat("Hi")
    assert types_of(chunks) == [
        "start",
        "start-step",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "text-start",
        "text-delta",
        "text-end",
        "finish-step",
        "finish",
    ]
    assert text_of(chunks) == "Hello 世界"
    assert chunks[0]["messageMetadata"]["session_id"] == "s"
    assert chunks[-1]["finishReason"] == "stop"
    numbers = [chunk["_number"] for chunk in chunks]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("reason", ["length", "content-filter"])
async def test_an_answer_that_is_not_whole_says_why_it_ended(tmp_path: Path, reason: str) -> None:
    async with serve(tmp_path, [{"text": "I can", "finish_reason": reason}]) as server:
        chunks = await server.chat("Hi")
    assert (text_of(chunks), chunks[-1]["finishReason"]) == ("I can", reason)


async def test_a_tool_call_shows_its_input_and_its_output(tmp_path: Path) -> None:
    async with serve(tmp_path, [CALL, "It is 3."], [add_tool()]) as server:
        chunks = await server.chat("1 + 2?")
        view = await server.get("/api/v1/sessions/s")
    by_type = {chunk["type"]: chunk for chunk in chunks}
    assert by_type["tool-input-start"]["title"] == "Add"
    available = by_type["tool-input-available"]
    assert (available["input"], available["dynamic"], available["providerExecuted"]) == (
        {"a": 1, "b": 2},
        True,
        True,
    )
    assert by_type["tool-output-available"]["output"] == 3
    assert by_type["tool-output-available"]["toolMetadata"]["kind"] == "think"
    assert text_of(chunks) == "It is 3."
    assert types_of(chunks).count("start-step") == 2
    user, answer = view["path"]
    assert [part["type"] for part in answer["parts"]] == ["step-start", "dynamic-tool", "step-start", "text"]
    assert answer["parts"][1]["output"] == 3
    assert user["parts"] == [{"type": "text", "text": "1 + 2?"}]
    assert (view["title"], view["head"], view["run_id"]) == ("1 + 2?", answer["id"], None)


async def test_the_model_reads_the_conversation_so_far(tmp_path: Path) -> None:
    async with serve(tmp_path, [CALL, "It is 3.", "As I said."], [add_tool()]) as server:
        await server.chat("1 + 2?")
        await server.chat("Sure?")
        roles = [message["role"] for message in server.model.requests[-1].messages]
        assert roles == ["system", "system", "user", "assistant", "tool", "assistant", "user"]


async def test_tools_of_the_browser_are_offered_only_where_there_is_one(tmp_path: Path) -> None:
    async with serve(tmp_path, ["One.", "Two."], [add_tool(), open_url]) as server:
        await server.chat("Hi")
        await server.client.post(
            "/api/v1/chat", json={"message": "Hi"}, headers={"accept": "application/json"}
        )
        offered = [{tool.name for tool in request.tools} for request in server.model.requests]
    assert [{"add", "open-url"} & names for names in offered] == [{"add", "open-url"}, {"add"}]


async def test_json_answers_whoever_asks_for_json(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello."]) as server:
        response = await server.client.post(
            "/api/v1/chat", json={"message": "Hi"}, headers={"accept": "application/json"}
        )
        body = response.json()
        assert response.status_code == 200
        assert body["response"] == "Hello."
        assert (await server.get(f"/api/v1/sessions/{body['session_id']}"))["head"] == body["message_id"]
        run = await server.get(f"/api/v1/runs/{body['run_id']}")
        assert (run["state"], run["reason"]) == ("ended", "goal")


async def test_a_failing_model_is_a_readable_error(tmp_path: Path) -> None:
    failure = ModelError("the key was refused", provider="openai", status=401, hint="Check DOVETAIL_API_KEY.")
    async with serve(tmp_path, [failure, failure]) as server:
        chunks = await server.chat("Hi")
        assert types_of(chunks)[-3:] == ["message-metadata", "error", "finish"]
        assert chunks[-2]["errorText"] == "the key was refused\nCheck DOVETAIL_API_KEY."
        response = await server.client.post(
            "/api/v1/chat", json={"message": "Hi"}, headers={"accept": "application/json"}
        )
        assert response.status_code == 502
        assert response.json()["error"]["type"] == "model_error"
        path = (await server.get("/api/v1/sessions/s"))["path"]
        assert path[-1]["metadata"]["error"]["message"] == "the key was refused"


async def test_a_reader_that_left_can_come_back_from_the_start_or_any_number(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, [["one ", "two ", gate, "three"]]) as server:
        body = {"message": "Count", "session_id": "s", "tab_id": "t"}
        stream = server.stream("POST", "/api/v1/chat", json=body)
        seen: list[dict[str, Any]] = []
        async for chunk in stream:
            seen.append(chunk)
            if text_of(seen) == "one two ":
                break
        await stream.aclose()
        gate.open()
        run_id = seen[0]["messageMetadata"]["run_id"]
        journal = [chunk async for chunk in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
        assert "".join(entry.get("delta", "") for entry in journal) == "one two three"
        number = seen[-1]["_number"]
        rest = [chunk async for chunk in server.stream("GET", f"/api/v1/runs/{run_id}/events?after={number}")]
        assert "".join(entry.get("delta", "") for entry in rest) == "three"
        assert (await server.client.get("/api/v1/chat/s/stream")).status_code == 204


async def test_a_running_answer_is_replayed_and_followed(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, [["one ", gate, "two"]]) as server:
        body = {"message": "Count", "session_id": "s", "tab_id": "t"}
        first = server.stream("POST", "/api/v1/chat", json=body)
        seen = [await anext(first) for _ in range(4)]
        assert text_of(seen) == "one "
        assert (await server.get("/api/v1/sessions/s"))["run_id"] == seen[0]["messageMetadata"]["run_id"]
        second = server.stream("GET", "/api/v1/chat/s/stream")
        replayed = [await anext(second) for _ in range(4)]
        assert replayed == seen
        headers = {"last-event-id": str(seen[-2]["_number"])}
        third = server.stream("GET", "/api/v1/chat/s/stream", headers=headers)
        assert await anext(third) == seen[-1]
        gate.open()
        assert text_of([chunk async for chunk in second]) == "two"
        assert types_of([chunk async for chunk in third]) == [
            "text-delta",
            "text-end",
            "finish-step",
            "finish",
        ]
        await first.aclose()


async def test_stop_ends_the_run_and_keeps_what_was_said(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, [["half an ans", gate, "wer"], "fine"]) as server:
        body = {"message": "Tell", "session_id": "s", "tab_id": "t"}
        stream = server.stream("POST", "/api/v1/chat", json=body)
        start = await anext(stream)
        await gate.reached.async_wait()
        busy = await server.client.post("/api/v1/chat", json=body)
        assert busy.status_code == 409
        run_id = start["messageMetadata"]["run_id"]
        response = await server.client.post(f"/api/v1/runs/{run_id}/cancel", json={"mode": "now"})
        assert response.status_code == 202
        rest = [chunk async for chunk in stream]
        assert rest[-1]["type"] == "abort"
        assert (await server.client.post(f"/api/v1/runs/{run_id}/cancel")).status_code == 409
        assert (await server.client.post("/api/v1/runs/nope/cancel")).status_code == 404
        path = (await server.get("/api/v1/sessions/s"))["path"]
        assert path[-1]["parts"][-1]["text"] == "half an ans"
        await server.chat("Go on")
        contents = [message["content"] for message in server.model.requests[-1].messages[2:]]
        assert contents == ["Tell", "half an ans", "Go on"]


async def test_an_unknown_message_is_named_and_nothing_else_is_answered_in_its_place(tmp_path: Path) -> None:
    async with serve(tmp_path, ["one", "two"]) as server:
        await server.chat("Question")
        view = await server.get("/api/v1/sessions/s")
        again = {"id": "s", "tab_id": "t", "trigger": "regenerate-message", "messageId": "gone"}
        below = {"session_id": "s", "message": "More", "parent_id": "gone"}
        for body in (again, {**again, "parent_id": "gone-too"}, below):
            refused = await server.client.post("/api/v1/chat", json=body)
            assert refused.status_code == 404
            assert refused.json()["error"]["message"] == "Message 'gone' not found in this session."
        assert await server.get("/api/v1/sessions/s") == view
        known = {**again, "parent_id": view["path"][0]["id"]}
        assert text_of([chunk async for chunk in server.stream("POST", "/api/v1/chat", json=known)]) == "two"


async def test_an_answer_that_is_still_being_written_cannot_be_asked_for_again(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, [["one ", gate, "two"]]) as server:
        stream = server.stream(
            "POST", "/api/v1/chat", json={"message": "Hi", "session_id": "s", "tab_id": "t"}
        )
        message_id = (await anext(stream))["messageId"]
        again = {"id": "s", "trigger": "regenerate-message", "messageId": message_id}
        refused = await server.client.post("/api/v1/chat", json=again)
        gate.open()
        assert text_of([chunk async for chunk in stream]) == "one two"
    assert refused.status_code == 409
    assert f"Message {message_id!r} is still being written" in refused.json()["error"]["message"]


async def test_retry_and_edit_make_siblings(tmp_path: Path) -> None:
    async with serve(tmp_path, ["one", "two", "three"]) as server:
        await server.chat("Question")
        first = (await server.get("/api/v1/sessions/s"))["path"]
        ask = {"id": "s", "tab_id": "t", "trigger": "regenerate-message", "messageId": first[1]["id"]}
        retried = [
            chunk async for chunk in server.stream("POST", "/api/v1/chat", json={**ask, "messages": []})
        ]
        assert text_of(retried) == "two"
        view = await server.get("/api/v1/sessions/s")
        assert view["path"][0]["id"] == first[0]["id"]
        assert view["path"][1]["siblings"] == {
            "index": 1,
            "total": 2,
            "previous": first[1]["id"],
            "next": None,
        }
        message = {"id": first[0]["id"], "role": "user", "parts": [{"type": "text", "text": "Edited"}]}
        edit = {"id": "s", "tab_id": "t", "messages": [message], "messageId": first[0]["id"]}
        edited = [chunk async for chunk in server.stream("POST", "/api/v1/chat", json=edit)]
        assert text_of(edited) == "three"
        view = await server.get("/api/v1/sessions/s")
        assert view["path"][0]["siblings"]["total"] == 2
        await server.client.patch("/api/v1/sessions/s", json={"head": first[0]["id"]})
        texts = [
            part["text"]
            for part in (await server.get("/api/v1/sessions/s"))["path"][1]["parts"]
            if "text" in part
        ]
        assert texts == ["two"]


async def test_bad_requests_are_rejected_with_the_reason(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        for body, status, told in [
            ({}, 422, "Missing message"),
            ({"message": "Hi", "agent": "nobody"}, 400, "Unknown agent 'nobody'"),
            ({"message": 7}, 422, "body.message"),
            ({"message": "Hi", "session_id": "a/b"}, 422, "session_id"),
            ({"message": "Hi", "session_id": "s", "parent_id": "gone"}, 404, "'gone'"),
        ]:
            response = await server.client.post("/api/v1/chat", json=body)
            assert response.status_code == status, body
            assert told in response.json()["error"]["message"]
        response = await server.client.get("/api/v1/nothing")
        assert response.json()["error"]["type"] == "not_found"


async def test_a_journal_holds_what_the_model_was_asked_and_the_chat_stream_does_not(tmp_path: Path) -> None:
    asks = {"tool_calls": [{"call_id": "c1", "name": "summarizer", "arguments": {"text": "A long tale"}}]}
    async with serve(tmp_path, [asks, "Short tale.", "It is short."]) as server:
        chunks = await server.chat("Sum it up")
        run_id = chunks[0]["messageMetadata"]["run_id"]
        journal = [chunk async for chunk in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
        view = await server.get("/api/v1/sessions/s")
    asked = [entry for entry in journal if entry["type"] == "model-request"]
    assert [len(entry["path"]) for entry in asked] == [1, 2, 1]
    assert asked[0]["messages"] == [dict(message) for message in server.model.requests[0].messages]
    assert asked[1]["messages"] == [dict(message) for message in server.model.requests[1].messages]
    assert asked[2]["kept"] == len(asked[0]["messages"])
    assert "model-request" not in str(chunks)
    assert [part["type"] for part in view["path"][-1]["parts"]][:2] == ["step-start", "dynamic-tool"]


async def test_what_the_model_is_asked_is_not_kept_when_that_is_switched_off(tmp_path: Path) -> None:
    settings = {"runtime": {"record_requests": False}}
    async with serve(tmp_path, ["Hello."], settings=settings) as server:
        run_id = (await server.chat("Hi"))[0]["messageMetadata"]["run_id"]
        journal = [chunk async for chunk in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
    assert "model-request" not in types_of(journal)


async def test_a_chat_without_a_model_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DOVETAIL_MODEL", raising=False)
    app = Dovetail({"model": {"base_url": "http://127.0.0.1:9"}}, workspace=tmp_path)
    async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
        plain = {"accept": "application/json"}
        answer = await client.post("/api/v1/chat", json={"message": "Hi"}, headers=plain)
        streamed = await client.post("/api/v1/chat", json={"message": "Hi"})
        compatible = await client.post(
            "/v1/chat/completions", json={"model": "master", "messages": [{"role": "user", "content": "Hi"}]}
        )
    assert (answer.status_code, compatible.status_code) == (503, 503)
    assert answer.json()["error"]["type"] == "config_error"
    for response in (answer, streamed, compatible):
        assert "Missing model name" in response.text
        assert "DOVETAIL_MODEL" in response.text


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("nope:x", "local, langchain, any-llm, own."),
        ("gpt", "local, langchain, any-llm, own."),
        ("local:huge", "Unknown embedded model 'huge'. Expected one of:"),
        ("local:good", "dovetail models pull good"),
    ],
)
async def test_an_unknown_model_named_by_the_client_is_rejected_before_anything_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, told: str
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    own = {"name": "own:m", "providers": {"own": {"base_url": "http://127.0.0.1:9"}}}
    app = Dovetail({"model": own}, workspace=tmp_path)
    async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
        body = {"message": "Hi", "session_id": "s", "model": model}
        refused = await client.post("/api/v1/chat", json=body)
        sessions = await client.get("/api/v1/sessions")
    error = refused.json()["error"]
    assert (refused.status_code, error["type"]) == (400, "config_error")
    assert repr(model) in error["message"]
    assert told in error["message"] + error.get("hint", "")
    assert sessions.json()["sessions"] == []


async def test_a_client_cannot_name_a_file_of_the_server_as_the_model(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello"]) as server:
        for name in (
            "local:/etc/hostname",
            "local:~/x.gguf",
            "local:../x.gguf",
            "LOCAL:/etc/x",
            " local : /etc/x",
        ):
            body = {"message": "Hi", "model": name}
            response = await server.client.post("/api/v1/chat", json=body)
            assert response.status_code == 400
            assert "cannot name a file by its path" in response.text


async def test_a_model_server_that_hangs_does_not_stop_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear_variables(monkeypatch)
    loop, asked, released = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def answer(received: Received) -> Any:
        if received.path.endswith("/models"):
            loop.call_soon_threadsafe(asked.set)
            released.wait(PATIENCE)
            return send_json({"data": [{"id": "house-model"}]})
        return send_events({"choices": [{"delta": {"content": "Hi."}, "finish_reason": "stop"}]}, "[DONE]")

    with run_server(answer) as model_server:
        providers = {"vllm": {"base_url": f"{model_server.url}/v1"}}
        app = Dovetail({"model": {"name": "openai:x", "providers": providers}}, workspace=tmp_path)
        async with serve_app(app) as url, httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            body = {"message": "Hello", "model": "house-model"}
            headers = {"accept": "application/json"}
            chat = asyncio.create_task(client.post("/api/v1/chat", json=body, headers=headers))
            await asked.wait()
            health = await client.get("/healthz")
            released.set()
            response = await chat
    assert health.status_code == 200
    assert response.status_code == 200, response.text
    assert "Hi." in response.text
