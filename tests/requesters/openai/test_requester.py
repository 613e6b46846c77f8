"""Requests to an OpenAI-compatible server over a real socket, when all goes well."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import openai
import pytest

from dovetail.concurrency import iterate_sync
from dovetail.errors import ConfigError
from dovetail.events.call import ModelRequest, ToolCall, ToolSpec
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from dovetail.requesters.http import stream as http_stream
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.openai.requester import OpenAIRequester
from dovetail.requesters.prices import Price
from dovetail.requesters.requester import Requester
from dovetail.testing import Break, Gate, Reply, ScriptedServer
from mock_provider import MockProvider

HELLO = ModelRequest(messages=[{"role": "user", "content": "hello"}])


def connect(server: ScriptedServer, **fields: Any) -> OpenAIRequester:
    return OpenAIRequester(Endpoint(model="m", base_url=server.url, **fields))


def join(deltas: list[Delta], kind: type[TextDelta | ReasoningDelta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, kind))


async def collect(requester: Requester, request: ModelRequest = HELLO) -> list[Delta]:
    return [delta async for delta in requester.stream(request)]


@pytest.mark.parametrize("wire_cut", [0, 1, 10])
@pytest.mark.parametrize("stream", [True, False])
async def test_reasoning_text_calls_and_usage_arrive(wire_cut: int, stream: bool) -> None:
    calls = [{"name": "add", "arguments": {"a": 1}}, {"name": "find", "arguments": {}}]
    usage = Usage(9, 5, 4, 2)
    reply = {"text": "grüße", "reasoning": "hm", "tool_calls": calls, "usage": usage}
    async with ScriptedServer([reply], wire_cut=wire_cut) as server:
        deltas = await collect(connect(server), ModelRequest(messages=HELLO.messages, stream=stream))
    kept = ProviderPartDelta("openai", {"field": "reasoning_content", "text": "hm"})
    assert deltas[:3] == [ReasoningDelta("hm"), kept, TextDelta("grüße")]
    pieces = [delta for delta in deltas if isinstance(delta, ToolCallDelta)]
    assert [(piece.index, piece.name) for piece in pieces if piece.name] == [(0, "add"), (1, "find")]
    assert "".join(piece.arguments for piece in pieces if piece.index == 0) == '{"a": 1}'
    finish = deltas[-1]
    assert isinstance(finish, FinishDelta)
    assert (finish.reason, finish.usage, finish.model) == ("tool-calls", usage, "scripted")
    assert finish.request_id == "scripted-1"


async def test_body_holds_model_messages_tools_schema_and_options() -> None:
    tool = ToolSpec(name="add", description="adds", parameters={"type": "object"})
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    request = ModelRequest(
        messages=HELLO.messages,
        tools=[tool],
        tool_choice="required",
        schema=schema,
        options={"temperature": 0},
    )
    async with ScriptedServer(["{}"]) as server:
        requester = connect(server, options={"temperature": 1, "top_p": 0.5}, body={"seed": 7})
        await collect(requester, request)
    assert server.requests[0].body == {
        "model": "m",
        "messages": [{"role": "user", "content": "hello"}],
        "tools": [
            {
                "type": "function",
                "function": {"name": "add", "description": "adds", "parameters": {"type": "object"}},
            }
        ],
        "tool_choice": "required",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema, "strict": True},
        },
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0,
        "top_p": 0.5,
        "seed": 7,
    }


async def test_key_and_own_headers_are_sent() -> None:
    async with ScriptedServer(["x"], key="sk-test") as server:
        await collect(connect(server, api_key="sk-test", headers={"X-Team": "blue"}))
    assert server.requests[0].headers["x-team"] == "blue"


async def test_request_may_name_another_model_with_or_without_the_provider() -> None:
    async with ScriptedServer(["x", "x"]) as server:
        for name in ("openai:big", "big"):
            await collect(connect(server), ModelRequest(messages=HELLO.messages, model=name))
    assert [recorded.body["model"] for recorded in server.requests] == ["big", "big"]


async def test_deltas_arrive_while_the_server_still_speaks() -> None:
    gate = Gate()
    async with (
        ScriptedServer([["first", gate, "second"]]) as server,
        aclosing(connect(server).stream(HELLO)) as deltas,
    ):
        assert await anext(deltas) == TextDelta("first")
        gate.open()
        assert await anext(deltas) == TextDelta("second")


async def test_closing_early_ends_the_request_at_the_server() -> None:
    async with ScriptedServer([["first", Gate("never")]]) as server:
        deltas = connect(server).stream(HELLO)
        await anext(deltas)
        assert server.active == 1
        await deltas.aclose()
        assert await asyncio.to_thread(server.wait_idle)
        assert server.active == 0


async def test_connection_is_used_again() -> None:
    async with ScriptedServer([{"text": "x", "repeat": True}]) as server:
        requester = connect(server)
        for _ in range(5):
            await collect(requester)
        assert server.connections == 1


async def test_connection_is_used_again_when_its_end_comes_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_stream, "DRAIN_LIMIT", 5.0)
    gate = Gate()
    last = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    async with ScriptedServer([["x", last, gate, Break("end")], "y"]) as server:
        requester = connect(server)
        async for delta in requester.stream(HELLO):
            if isinstance(delta, FinishDelta):
                gate.open()
        await collect(requester)
        assert server.connections == 1


async def test_many_requests_at_once_do_not_mix() -> None:
    async with ScriptedServer(
        [{"text": f"answer {n}", "cut": 1, "when": f"question {n}."} for n in range(50)]
    ) as server:
        requester = connect(server)

        async def ask(number: int) -> str:
            message = {"role": "user", "content": f"question {number}."}
            deltas = await collect(requester, ModelRequest(messages=[message]))
            return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))

        assert await asyncio.gather(*map(ask, range(50))) == [f"answer {n}" for n in range(50)]


async def test_server_that_cannot_stream_is_read_all_the_same() -> None:
    body = {"choices": [{"index": 0, "message": {"content": "whole"}, "finish_reason": "stop"}]}
    async with ScriptedServer([Reply(body=body)]) as server:
        assert (await collect(connect(server)))[0] == TextDelta("whole")


async def test_stream_under_a_wrong_content_type_is_read_all_the_same() -> None:
    reply = Reply(text="x", headers={"content-type": "text/plain"})
    async with ScriptedServer([reply]) as server:
        assert (await collect(connect(server)))[0] == TextDelta("x")


async def test_streaming_can_be_turned_off() -> None:
    async with ScriptedServer(["whole"]) as server:
        assert (await collect(connect(server, stream=False)))[0] == TextDelta("whole")
    assert "stream" not in server.requests[0].body


async def test_price_sets_the_cost() -> None:
    price = Price(input=2.0, output=10.0, cached=1.0)
    async with ScriptedServer([Reply(text="x", usage=Usage(1_000_000, 100_000, 500_000))]) as server:
        finish = (await collect(connect(server, price=price)))[-1]
    assert isinstance(finish, FinishDelta)
    assert finish.usage.cost == pytest.approx(0.5 * 2.0 + 0.5 * 1.0 + 0.1 * 10.0)


@pytest.mark.parametrize(("structured", "sends"), [("auto", True), ("schema", True), ("prompt", False)])
async def test_setting_says_whether_schemas_are_sent(structured: Any, sends: bool) -> None:
    request = ModelRequest(messages=HELLO.messages, schema={"type": "object"})
    async with ScriptedServer(["{}"]) as server:
        requester = connect(server, structured=structured)
        await collect(requester, request)
        assert requester.follows_schema == sends
    assert ("response_format" in server.requests[0].body) == sends


@pytest.mark.parametrize(
    "message",
    [
        "This response_format type is unavailable now",
        "response_format.type: Input should be 'text' or 'json_object'",
        "'response_format.type' must be one of: text, json_object",
    ],
)
async def test_auto_does_without_a_schema_once_the_server_refuses_it(message: str) -> None:
    refusal = {"status": 400, "body": {"error": {"message": message}}}
    request = ModelRequest(messages=HELLO.messages, schema={"type": "object"})
    async with ScriptedServer([refusal, "{}", "{}"]) as server:
        requester = connect(server)
        assert requester.follows_schema
        assert [(await collect(requester, request))[0] for _ in range(2)] == [TextDelta("{}")] * 2
        assert not requester.follows_schema
    assert ["response_format" in recorded.body for recorded in server.requests] == [True, False, False]


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
RESULTS = [
    {"role": "user", "content": "Draw."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": name, "type": "function", "function": {"name": "draw", "arguments": "{}"}}
            for name in ("c1", "c2")
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "(A picture.)"}, PICTURE]},
    {"role": "tool", "tool_call_id": "c2", "content": "Nothing."},
]


async def test_pictures_of_tools_follow_their_results_unless_the_model_reads_text_only() -> None:
    words = "No endpoints found that support image input"
    async with ScriptedServer(
        [{"status": 404, "body": {"error": {"message": words}}}, "Nice.", "Again."]
    ) as server:
        requester = connect(server)
        for _ in range(2):
            await collect(requester, ModelRequest(messages=RESULTS))
    first, *others = (recorded.body["messages"] for recorded in server.requests)
    assert [message["role"] for message in first] == ["user", "assistant", "tool", "tool", "user"]
    assert first[2]["content"] == "(A picture.)"
    assert first[4]["content"][1:] == [PICTURE]
    assert others == [first[:4], first[:4]]


async def test_wrong_schema_is_left_out_of_its_own_request_only() -> None:
    words = "Invalid schema for response_format 'answer': In context=(), 'minimum' is not permitted."
    request = ModelRequest(messages=HELLO.messages, schema={"type": "object"})
    async with ScriptedServer([refuse(words), "{}", "{}"]) as server:
        requester = connect(server)
        for _ in range(2):
            assert (await collect(requester, request))[0] == TextDelta("{}")
        assert requester.follows_schema
    assert ["response_format" in recorded.body for recorded in server.requests] == [True, False, True]


async def test_server_without_stream_options_is_asked_without_them() -> None:
    refusal = {"status": 422, "body": {"detail": "Extra inputs are not permitted: stream_options"}}
    async with ScriptedServer([refusal, "x"]) as server:
        assert (await collect(connect(server)))[0] == TextDelta("x")
    assert "stream_options" not in server.requests[1].body


async def test_query_of_the_base_address_stays() -> None:
    endpoint = Endpoint(model="m", base_url="https://x.test/openai/v1/?api-version=2")
    assert endpoint.join("chat/completions") == "https://x.test/openai/v1/chat/completions?api-version=2"


async def test_proxy_gets_the_request() -> None:
    async with ScriptedServer(["through the proxy"]) as proxy:
        endpoint = Endpoint(model="m", base_url="http://model.test/v1", proxy=proxy.url.removesuffix("/v1"))
        assert (await collect(OpenAIRequester(endpoint)))[0] == TextDelta("through the proxy")
    assert proxy.requests[0].headers["host"] == "model.test"


def test_proxy_of_the_environment_is_taken_unless_the_host_is_excepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.test:3128")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert Endpoint(model="m", base_url="http://model.test/v1").choose_proxy() == "http://proxy.test:3128"
    assert Endpoint(model="m", base_url="http://127.0.0.1:1/v1").choose_proxy() is None


def test_works_from_sync_code_and_again_on_the_same_loop() -> None:
    with ScriptedServer(["one", "two"]) as server:
        requester = connect(server)
        first, second = (next(iterate_sync(requester.stream(HELLO))) for _ in range(2))
    assert (first, second) == (TextDelta("one"), TextDelta("two"))


def test_one_requester_serves_several_event_loops_and_leaves_nothing_open() -> None:
    with ScriptedServer(["one", "two"]) as server:
        requester = connect(server)
        assert asyncio.run(collect(requester))[0] == TextDelta("one")
        assert asyncio.run(collect(requester))[0] == TextDelta("two")


async def test_closing_one_requester_leaves_the_other_its_connections() -> None:
    async with ScriptedServer(["one", "two", "three"]) as server:
        first, second = connect(server), connect(server)
        await collect(first)
        await collect(second)
        await first.close()
        await collect(second)
        assert server.connections == 1
        await second.close()


async def test_a_paced_answer_is_the_same_and_its_connection_serves_again() -> None:
    reply = Reply(text="one two three four", reasoning="hm, well", cut=2, repeat=True)
    calls = Reply(text="a word", tool_calls=[ToolCall(call_id="c", name="add", arguments={"a": 1})], cut=1)
    async with ScriptedServer([calls, reply]) as server:
        requester = connect(server)
        paced = replace(HELLO, pace=0.005)
        called = [delta for delta in await collect(requester, paced) if isinstance(delta, ToolCallDelta)]
        assert called[0].name == "add"
        whole = await collect(requester)
        steps = await collect(requester, paced)
        for kind in (TextDelta, ReasoningDelta):
            assert join(steps, kind) == join(whole, kind)
        assert server.connections == 1


ADD = ToolSpec(name="add", description="adds", parameters={"type": "object", "properties": {}})


def refuse(message: str) -> dict[str, Any]:
    return {"status": 400, "body": {"error": {"message": message, "type": "invalid_request_error"}}}


async def test_conversation_is_sent_as_the_official_package_sends_it(mock_provider: MockProvider) -> None:
    mock_provider.reply("Hi", "Hi")
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "1 + 2?"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
    ]
    own = [
        {"source": "deepseek", "text": 0, "calls": 0, "data": {"field": "reasoning_content", "text": "Hm"}}
    ]
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    endpoint = Endpoint(
        provider="deepseek",
        model="m",
        base_url=f"{mock_provider.url}/v1",
        api_key="test-key",
        thinking="high",
    )
    await collect(
        OpenAIRequester(endpoint),
        ModelRequest(
            messages=[*messages[:2], {**messages[2], "provider_parts": own}, *messages[3:]],
            tools=[ADD],
            schema=schema,
            options={"max_tokens": 50},
        ),
    )
    async with openai.AsyncOpenAI(base_url=f"{mock_provider.url}/v1", api_key="test-key") as client:
        await client.chat.completions.create(
            model="m",
            messages=[*messages[:2], {**messages[2], "reasoning_content": "Hm"}, *messages[3:]],
            tools=[
                {
                    "type": "function",
                    "function": {"name": "add", "description": "adds", "parameters": dict(ADD.parameters)},
                }
            ],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": schema, "strict": True},
            },
            max_tokens=50,
            reasoning_effort="high",
            stream=True,
            stream_options={"include_usage": True},
            extra_body={"thinking": {"type": "enabled"}},
        )
    ours, theirs = mock_provider.requests
    assert ours.body == theirs.body
    assert (ours.path, ours.headers["authorization"]) == (theirs.path, theirs.headers["authorization"])


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
        ("property 'reasoning_effort' is unsupported", "reasoning_effort"),
    ],
)
async def test_rejected_option_is_left_out_with_one_warning(
    message: str, field: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with ScriptedServer([refuse(message), "x", "x"]) as server:
        requester = connect(server, thinking="low", options={"temperature": 0.2})
        for _ in range(2):
            assert (await collect(requester))[0] == TextDelta("x")
    assert [field in recorded.body for recorded in server.requests] == [True, False, False]
    warnings = [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]
    assert warnings == [f"openai:m rejects {field!r}, which is left out from now on: {message}"]


async def test_limit_of_tokens_gets_the_name_that_the_server_knows() -> None:
    words = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    async with ScriptedServer([refuse(words), "x"]) as server:
        await collect(connect(server, options={"max_tokens": 7}))
    assert [recorded.body.get("max_completion_tokens") for recorded in server.requests] == [None, 7]


async def test_option_that_many_requests_sent_at_once_is_left_out_of_all() -> None:
    rejected = refuse("Unsupported parameter: 'temperature' is not supported with this model.")
    async with ScriptedServer([*[rejected] * 3, "x", "x", "x"]) as server:
        requester = connect(server, options={"temperature": 0.2})
        answers = await asyncio.gather(*(collect(requester) for _ in range(3)))
    assert [answer[0] for answer in answers] == [TextDelta("x")] * 3


async def test_reasoning_that_a_server_rejects_is_left_out_from_then_on() -> None:
    part = {"source": "groq", "text": 0, "calls": 0, "data": {"field": "reasoning", "text": "Hm"}}
    call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    messages = [
        *HELLO.messages,
        {"role": "assistant", "content": None, "tool_calls": [call], "provider_parts": [part]},
        {"role": "tool", "tool_call_id": "c", "content": "3"},
    ]
    words = "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property "
    async with ScriptedServer([refuse(f"{words}'reasoning' is unsupported)]"), "x", "x"]) as server:
        requester = connect(server, provider="groq")
        for _ in range(2):
            await collect(requester, ModelRequest(messages=messages))
    sent = [recorded.body["messages"][1].get("reasoning") for recorded in server.requests]
    assert sent == ["Hm", None, None]


async def test_model_that_thinks_is_asked_over_chat_completions_where_responses_are_missing() -> None:
    async with ScriptedServer(["x"]) as server:
        requester = OpenAIRequester(Endpoint(model="gpt-5-mini", base_url=server.url))
        assert (await collect(requester))[0] == TextDelta("x")


async def test_tags_of_reasoning_are_read_where_the_settings_say_so() -> None:
    async with ScriptedServer([{"text": "<think>Hm</think>\n\nYes", "cut": 3}]) as server:
        deltas = await collect(connect(server, think_tags=True))
    assert (join(deltas, ReasoningDelta), join(deltas, TextDelta)) == ("Hm", "Yes")


@pytest.mark.parametrize(
    ("part", "complaint"),
    [
        ({"type": "file", "url": "https://example.com/a.pdf"}, "do not fetch files by URL"),
        ({"type": "file", "url": "https://example.com/a.wav"}, "do not fetch files by URL"),
        ({"type": "file", "data": b"x", "media_type": "video/mp4"}, "do not take video"),
    ],
)
async def test_attachment_that_chat_completions_do_not_take_is_refused_before_it_is_sent(
    part: dict[str, Any], complaint: str
) -> None:
    request = ModelRequest(messages=[{"role": "user", "content": [part]}])
    async with ScriptedServer([]) as server:
        with pytest.raises(ConfigError, match=f"^openai:m .* {complaint}"):
            await collect(connect(server), request)
    assert server.requests == []


async def test_file_by_url_is_passed_on_to_a_server_that_fetches_it() -> None:
    part = {"type": "file", "url": "https://example.com/a.pdf", "filename": "a.pdf"}
    request = ModelRequest(messages=[{"role": "user", "content": [part]}])
    async with ScriptedServer(["A plan."]) as server:
        assert join(await collect(connect(server, provider="openrouter"), request), TextDelta) == "A plan."
