"""A scripted server speaks to any OpenAI-compatible client, faults included."""

import json
from typing import Any

import httpx
import pytest

from dovetail.errors import ConfigError
from dovetail.events.delta import ReasoningDelta, TextDelta, Usage
from dovetail.testing import Break, Gate, Reply, ScriptedServer
from patience import PATIENCE


def body(*, stream: bool = True, text: str = "hi", **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], "stream": stream, **more}


def post(server: ScriptedServer, **fields: Any) -> httpx.Response:
    return httpx.post(f"{server.url}/chat/completions", json=body(**fields), timeout=PATIENCE)


def read_events(text: str) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


@pytest.mark.parametrize("wire_cut", [0, 1, 7])
def test_streamed_text_is_the_same_however_it_is_cut(wire_cut: int) -> None:
    with ScriptedServer([{"text": "grüße", "cut": 2}], wire_cut=wire_cut) as server:
        events = read_events(post(server).text)
    pieces = [event["choices"][0]["delta"].get("content") for event in events]
    assert pieces == ["gr", "üß", "e", None]
    assert events[-1]["choices"][0]["finish_reason"] == "stop"


def test_usage_is_streamed_when_asked_for() -> None:
    reply = Reply(text="x", usage=Usage(5, 1, cached_tokens=4))
    with ScriptedServer([reply, reply]) as server:
        asked = read_events(post(server, stream_options={"include_usage": True}).text)
        plain = read_events(post(server).text)
    assert asked[-1]["choices"] == []
    assert asked[-1]["usage"]["prompt_tokens_details"] == {"cached_tokens": 4, "cache_write_tokens": 0}
    assert all("usage" not in event for event in plain)


def test_request_that_is_longer_than_the_window_is_refused() -> None:
    with ScriptedServer(["Short enough."], context_tokens=100) as server:
        long = post(server, messages=[{"role": "user", "content": "x" * 1_000}])
        short = post(server)
    assert (long.status_code, long.json()["error"]["code"]) == (400, "context_length_exceeded")
    assert "maximum context length is 100 tokens" in long.json()["error"]["message"]
    assert short.status_code == 200


def test_calls_and_reasoning_are_streamed_by_index() -> None:
    call = {"name": "add", "arguments": {"a": 1}}
    with ScriptedServer([{"reasoning": "hm", "tool_calls": [call, call]}]) as server:
        deltas = [event["choices"][0]["delta"] for event in read_events(post(server).text)]
    assert deltas[0] == {"role": "assistant", "reasoning_content": "hm"}
    assert all("role" not in delta for delta in deltas[1:])
    assert [delta["tool_calls"][0]["index"] for delta in deltas[1:5]] == [0, 0, 1, 1]
    function = {"name": "add", "arguments": ""}
    assert deltas[3]["tool_calls"] == [{"index": 1, "id": "call_2", "type": "function", "function": function}]


def test_whole_answer_when_no_stream_is_asked_for() -> None:
    steps = ["Hel", TextDelta("lo"), ReasoningDelta("hm")]
    with ScriptedServer([steps, {"tool_calls": [{"name": "add"}]}]) as server:
        first, second = (post(server, stream=False).json()["choices"][0] for _ in range(2))
    assert first["message"] == {"role": "assistant", "content": "Hello", "reasoning_content": "hm"}
    assert second["finish_reason"] == "tool_calls"
    assert second["message"]["tool_calls"][0]["function"] == {"name": "add", "arguments": "{}"}


def test_what_the_client_sent_is_kept() -> None:
    tool = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "array"}}}
    with ScriptedServer(["x"]) as server:
        post(server, tools=[tool], response_format=schema, temperature=0)
    recorded = server.requests[0]
    assert (recorded.path, recorded.headers["content-type"]) == ("/v1/chat/completions", "application/json")
    assert recorded.body["tools"] == [tool]
    assert (recorded.request.tools[0].name, recorded.request.schema) == ("add", {"type": "array"})
    assert recorded.request.options["temperature"] == 0


def test_status_headers_and_page_come_as_written() -> None:
    limit = Reply(status=429, headers={"retry-after": "7"}, body={"error": {"message": "slow down"}})
    page = Reply(headers={"content-type": "text/html"}, body="<html>")
    with ScriptedServer([limit, page]) as server:
        first, second = post(server), post(server)
    assert (first.status_code, first.headers["retry-after"], first.json()["error"]) == (
        429,
        "7",
        {"message": "slow down"},
    )
    assert (second.status_code, second.headers["content-type"], second.text) == (200, "text/html", "<html>")


def test_wrong_key_is_refused() -> None:
    with ScriptedServer(["x"], key="right") as server:
        assert post(server).status_code == 401
        right = {"authorization": "Bearer right"}
        assert (
            httpx.post(
                f"{server.url}/chat/completions", json=body(), headers=right, timeout=PATIENCE
            ).status_code
            == 200
        )


def test_one_request_too_many_gets_a_clear_answer() -> None:
    with ScriptedServer([]) as server:
        answer = post(server, text="and this?")
    assert answer.status_code == 400
    assert (
        "The script has no reply for request 1; its last message is 'and this?'."
        in answer.json()["error"]["message"]
    )


@pytest.mark.parametrize(
    ("steps", "stream"), [([Break()], True), ([b": here\n\n", Break()], True), ([Break()], False)]
)
def test_connection_is_reset_where_the_script_says(steps: list[Any], stream: bool) -> None:
    with ScriptedServer([steps]) as server, pytest.raises(httpx.ReadError):
        post(server, stream=stream)


def test_stream_is_closed_before_its_end() -> None:
    with ScriptedServer([["a", Break("close")]]) as server, pytest.raises(httpx.RemoteProtocolError):
        post(server)


def test_half_a_character_can_be_sent() -> None:
    with ScriptedServer([[b"data: \xc3", b"\xbc\n\n"]]) as server:
        assert post(server).text.startswith("data: ü\n\n")


def test_stalled_stream_ends_with_the_server() -> None:
    gate = Gate()
    server = ScriptedServer([["a", gate]])
    with (
        server,
        httpx.stream("POST", f"{server.url}/chat/completions", json=body(), timeout=PATIENCE) as response,
    ):
        lines = response.iter_lines()
        assert "content" in next(lines)
        assert gate.reached.wait()
        server.stop()
        with pytest.raises(httpx.RemoteProtocolError):
            list(lines)


def test_address_of_a_stopped_server_is_refused() -> None:
    with pytest.raises(ConfigError, match="not running"):
        _ = ScriptedServer().url


async def test_runs_next_to_an_event_loop() -> None:
    async with ScriptedServer(["hello"]) as server, httpx.AsyncClient(timeout=PATIENCE) as client:
        answer = await client.post(f"{server.url}/chat/completions", json=body(stream=False))
        assert answer.json()["choices"][0]["message"]["content"] == "hello"
        assert (await client.get(f"{server.url}/models")).json()["data"][0]["id"] == "scripted"


def test_error_in_a_stream_is_an_error_event() -> None:
    with ScriptedServer([{"text": "a", "error": "overloaded"}]) as server:
        last = post(server).text.strip().split("\n\n")[-1]
    assert json.loads(last.removeprefix("data: "))["error"]["message"] == "overloaded"
