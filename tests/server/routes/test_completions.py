"""The `openai` package as a client: agents as models."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest

from dovetail.errors import ModelError, TransientModelError
from dovetail.events.call import Kind
from dovetail.events.delta import ReasoningDelta, Usage
from dovetail.events.run_events import RunEnd
from dovetail.events.tool_context import ToolContext
from dovetail.testing import Gate, Reply
from dovetail.tools.tool import Tool
from patience import PATIENCE
from serving import Serving, serve

CALL = {"text": "Let me look.", "tool_calls": [{"call_id": "c", "name": "look"}]}


@asynccontextmanager
async def connect(
    folder: Path, *options: Any, key: str = "none", **more: Any
) -> AsyncIterator[tuple[openai.AsyncOpenAI, Serving]]:
    async with (
        serve(folder, *options, **more) as server,
        openai.AsyncOpenAI(
            base_url=f"{server.address}/v1", api_key=key, max_retries=0, timeout=PATIENCE
        ) as client,
    ):
        yield client, server


def ask(text: str = "Hi", **fields: Any) -> dict[str, Any]:
    return {"model": "master", "messages": [{"role": "user", "content": text}], **fields}


def show(image: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "image_url", "image_url": image}]}


def make_tool(kind: Kind = Kind.Read) -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> str:
        return "it is blue"

    return Tool(name="look", description="Look.", parameters={"type": "object"}, execute=execute, kind=kind)


async def test_a_conversation_is_answered_and_no_session_is_kept(tmp_path: Path) -> None:
    reply = Reply(text="Hello.", usage=Usage(7, 3))
    async with connect(tmp_path, [reply]) as (client, server):
        messages = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "One"},
            {"role": "assistant", "content": "Two"},
            {"role": "user", "content": [{"type": "text", "text": "Three"}]},
        ]
        answer = await client.chat.completions.create(**ask(messages=messages, temperature=0.5))
        asked = server.model.requests[-1]
        assert [message["content"] for message in asked.messages[-4:]] == [
            "Be brief.",
            "One",
            "Two",
            [{"type": "text", "text": "Three"}],
        ]
        assert asked.options["temperature"] == 0.5
        assert (await server.get("/api/v1/sessions"))["sessions"] == []
        assert (await server.get(f"/api/v1/runs/{answer.id}"))["reason"] == "goal"
    assert answer.model == "master"
    assert answer.choices[0].message.content == "Hello."
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.total_tokens) == (7, 10)


async def test_a_stream_brings_the_text_piece_by_piece_and_its_usage_last(tmp_path: Path) -> None:
    gate = Gate()
    reply = Reply(steps=[ReasoningDelta("Hm."), 'Hello "', gate, '世界"\n'], usage=Usage(7, 3))
    async with connect(tmp_path, [reply]) as (client, _):
        options = {"include_usage": True}
        stream = await client.chat.completions.create(**ask(stream=True, stream_options=options))
        chunks: list[Any] = []
        async for chunk in stream:
            chunks.append(chunk)
            if chunk.choices and chunk.choices[0].delta.content:
                gate.open()
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == 'Hello "世界"\n'
    assert len([delta for delta in deltas if delta.content]) == 2
    assert "".join((delta.model_extra or {}).get("reasoning_content", "") for delta in deltas) == "Hm."
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 10
    assert {chunk.id for chunk in chunks} == {chunks[0].id}


@pytest.mark.parametrize(("reason", "theirs"), [("length", "length"), ("content-filter", "content_filter")])
async def test_an_answer_that_is_not_whole_says_why_it_ended(
    tmp_path: Path, reason: str, theirs: str
) -> None:
    async with connect(tmp_path, [Reply(text="I can", finish_reason=reason)] * 2) as (client, _):
        whole = await client.chat.completions.create(**ask())
        chunks = [chunk async for chunk in await client.chat.completions.create(**ask(stream=True))]
    assert whole.choices[0].finish_reason == theirs
    assert chunks[-1].choices[0].finish_reason == theirs


async def test_an_answer_in_one_piece_brings_its_reasoning_too(tmp_path: Path) -> None:
    async with connect(tmp_path, [{"reasoning": "Hm.", "text": "Hello"}, "Hi"]) as (client, _):
        answers = [await client.chat.completions.create(**ask()) for _ in range(2)]
    extras = [answer.choices[0].message.model_extra or {} for answer in answers]
    assert [extra.get("reasoning_content") for extra in extras] == ["Hm.", None]


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_tools_of_the_agent_run_inside(tmp_path: Path, is_streamed: bool) -> None:
    async with connect(tmp_path, [CALL, "It is blue."], [make_tool()]) as (client, server):
        text = await read(client, ask(stream=is_streamed))
        assert server.model.requests[-1].messages[-1]["content"] == "it is blue"
    assert text == "Let me look.\n\nIt is blue."


async def test_a_call_that_needs_approval_is_denied_and_the_model_is_informed(tmp_path: Path) -> None:
    async with connect(tmp_path, [CALL, "I may not."], [make_tool(Kind.Delete)]) as (client, server):
        assert await read(client, ask()) == "Let me look.\n\nI may not."
        told = server.model.requests[-1].messages[-1]["content"]
        assert (await server.get("/api/v1/asks"))["asks"] == []
    assert "look" in told
    assert "blue" not in told


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_a_model_that_fails_is_an_error_of_the_client(tmp_path: Path, is_streamed: bool) -> None:
    failure = ModelError("the key was refused", provider="x", hint="Check it.")
    async with connect(tmp_path, [failure]) as (client, _):
        with pytest.raises(openai.APIError, match=r"the key was refused\. Check it\.") as raised:
            await read(client, ask(stream=is_streamed))
    assert raised.value.code == "model_error"
    assert raised.value.type == "server_error"


async def test_a_failure_that_may_pass_is_a_bad_gateway(tmp_path: Path) -> None:
    async with connect(tmp_path, [TransientModelError("busy", provider="x")]) as (client, _):
        with pytest.raises(openai.InternalServerError) as raised:
            await client.chat.completions.create(**ask())
    assert raised.value.status_code == 502


async def test_agents_are_listed_as_models_and_an_unknown_one_is_named(tmp_path: Path) -> None:
    async with connect(tmp_path) as (client, _):
        names = [model.id async for model in client.models.list()]
        assert "master" in names
        assert (await client.models.retrieve("master")).owned_by == "dovetail"
        with pytest.raises(openai.NotFoundError, match=r"Unknown agent 'nobody'\. Expected"):
            await client.chat.completions.create(**ask(model="nobody"))
        with pytest.raises(openai.NotFoundError, match="Unknown agent 'nobody'"):
            await client.models.retrieve("nobody")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"messages": []}, "body.messages"),
        ({"n": 2}, "body.n"),
        ({"tools": [{"type": "function"}]}, "leave `tools` out"),
        ({"response_format": {"type": "json_object"}}, "agents answer with text"),
        ({"messages": [{"role": "tool", "tool_call_id": "c", "content": "x"}]}, "role"),
        ({"messages": [{"role": "user", "content": [{"type": "video"}]}]}, "a part must be"),
        ({"messages": [show({"url": "file:///etc/passwd"})]}, "must begin with data:, https:// or http://"),
        ({"messages": [show("/etc/passwd")]}, "must begin with data:"),
        ({"messages": [show({})]}, "must begin with data:"),
    ],
)
async def test_what_cannot_be_done_is_a_bad_request_with_words(
    tmp_path: Path, fields: dict[str, Any], told: str
) -> None:
    async with connect(tmp_path) as (client, _):
        with pytest.raises(openai.BadRequestError, match=told) as raised:
            await client.chat.completions.create(**ask(**fields))
    assert raised.value.type == "invalid_request_error"


async def test_a_wrong_key_is_an_error_of_authentication(tmp_path: Path) -> None:
    settings = {"server": {"api_keys": "ann:one"}}
    async with connect(tmp_path, ["Hello."], settings=settings, key="wrong") as (client, _):
        with pytest.raises(openai.AuthenticationError, match="API key"):
            await client.models.list()
        assert await read(client.with_options(api_key="one"), ask()) == "Hello."


async def test_leaving_a_stream_stops_the_run(tmp_path: Path) -> None:
    gate = Gate()
    async with connect(tmp_path, [["one ", gate, "two"]]) as (client, server):
        stream = await client.chat.completions.create(**ask(stream=True))
        run_id = ""
        async for chunk in stream:
            run_id = chunk.id
            if chunk.choices[0].delta.content:
                break
        await stream.close()
        assert await wait_for_end(server, run_id) == "cancelled"


async def test_leaving_a_plain_request_stops_the_run(tmp_path: Path) -> None:
    gate = Gate()
    async with connect(tmp_path, [["one ", gate, "two"]]) as (client, server):
        asking = asyncio.create_task(client.chat.completions.create(**ask()))
        await gate.reached.async_wait()
        [record] = await server.app.runs.store.find(state="running")
        asking.cancel()
        assert await wait_for_end(server, record.id) == "cancelled"


async def read(client: openai.AsyncOpenAI, request: dict[str, Any]) -> str:
    answer = await client.chat.completions.create(**request)
    if not request.get("stream"):
        return answer.choices[0].message.content or ""
    return "".join([chunk.choices[0].delta.content or "" async for chunk in answer])


async def wait_for_end(server: Serving, run_id: str) -> str:
    async with asyncio.timeout(PATIENCE), await server.app.runs.read(run_id) as reader:
        while True:
            for entry in await reader.next():
                if isinstance(entry.event, RunEnd):
                    return entry.event.reason
