"""Whatever a server sends: an answer, or a `ModelError` that says what was wrong."""

import copy
import json
import math
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import ModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta, FinishDelta, ProviderPartDelta, TextDelta, ToolCallDelta, Usage
from dovetail.requesters.border import clean_deltas
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.reader import LARGEST_EVENT
from dovetail.requesters.limits import RetryPolicy
from dovetail.requesters.openai.answer import ChatReader
from dovetail.requesters.openai.requester import OpenAIRequester
from dovetail.requesters.refusal import Refusal
from dovetail.testing import Reply, ScriptedServer

HELLO = ModelRequest(messages=[{"role": "user", "content": "hello"}])
DEEP = "[" * 100_000 + "]" * 100_000

CHUNK: dict[str, Any] = {
    "id": "c1",
    "model": "m",
    "choices": [
        {
            "index": 0,
            "delta": {
                "content": "Hi",
                "reasoning_content": "Hm",
                "tool_calls": [
                    {"index": 0, "id": "call_1", "function": {"name": "saw", "arguments": '{"a": 1}'}}
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {
        "prompt_tokens": 5,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 2},
    },
}
ODD: list[Any] = [
    *(None, True, False, 0, -1, 10**30, 1e308, math.nan, math.inf),
    *("", "x", "\0", "\ud83d", "x" * 100_000, [], {}, [None], [[]], {"a": 1}, ["x"], [{}], {"text": {}}),
]


def complain(message: str, status: int | None) -> ModelError:
    return ModelError(message, provider="test", status=status)


def find_places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything inside of a chunk."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*place, key)
        yield from find_places(item, (*place, key))


def put(place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    chunk = copy.deepcopy(CHUNK)
    inner: Any = chunk
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return chunk


async def read(data: bytes) -> list[Delta]:
    """The deltas as the runtime gets them."""
    reader = ChatReader(complain)

    async def speak() -> AsyncGenerator[Delta, None]:
        for delta in [*reader.feed(data), *reader.end()]:
            yield delta
        yield reader.finish("r")

    return [delta async for delta in clean_deltas(speak())]


def check(deltas: list[Delta]) -> None:
    """See that nothing in them can hurt a database, a metric or a page."""
    for delta in deltas:
        if isinstance(delta, ToolCallDelta):
            texts = [delta.call_id or "", delta.name or "", delta.arguments]
            assert len(delta.call_id or "") <= 200
            assert len(delta.name or "") <= 200
        elif isinstance(delta, FinishDelta):
            usage = delta.usage
            counts = [usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens]
            assert all(type(count) is int and 0 <= count <= 10**12 for count in counts)
            texts = [delta.reason, delta.model]
        elif isinstance(delta, ProviderPartDelta):
            texts = [delta.source, json.dumps(delta.data, ensure_ascii=False)]
        else:
            texts = [delta.text]
        for text in texts:
            assert "\0" not in text
            text.encode()


def to_event(chunk: Any) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


@pytest.mark.parametrize("place", list(find_places(CHUNK)), ids=lambda place: ".".join(map(str, place)))
async def test_a_wrong_value_at_any_place_is_an_answer_or_a_model_error(place: tuple[Any, ...]) -> None:
    for value in ODD:
        with suppress(ModelError):
            check(await read(to_event(put(place, value)) + b"data: [DONE]\n\n"))


@settings(max_examples=300)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(categories=None)),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["choices", "delta", "content", "tool_calls", "function", "error", "usage"]),
                inner,
                max_size=3,
            )
        ),
        max_leaves=12,
    )
)
async def test_any_json_is_an_answer_or_a_model_error(chunk: Any) -> None:
    with suppress(ModelError):
        check(await read(to_event(chunk) + b"data: [DONE]\n\n"))


@pytest.mark.parametrize(
    "chunk",
    [
        DEEP,
        f'{{"choices": {DEEP}}}',
        f'{{"choices": [{{"delta": {{"content": {DEEP}}}}}]}}',
        f'{{"error": {{"message": {DEEP}}}}}',
        f'{{"choices": [], "usage": {DEEP}}}',
    ],
)
async def test_a_chunk_that_is_nested_without_end_is_a_model_error(chunk: str) -> None:
    with pytest.raises(ModelError, match="invalid JSON"):
        await read(b"data: " + chunk.encode() + b"\n\n")


@pytest.mark.parametrize("depth", [300, 900, 100_000])
def test_a_refusal_that_is_nested_without_end_is_read_as_text(depth: int) -> None:
    body = '{"error": {"message": ' + "[" * depth + "]" * depth + ', "code": "x"}}'
    assert Refusal.read(400, body.encode()).status == 400


async def test_arguments_that_are_an_object_nested_too_deeply_are_a_model_error_or_text() -> None:
    nested = "[" * 950 + "]" * 950
    call = f'{{"index": 0, "id": "c", "function": {{"name": "f", "arguments": {nested}}}}}'
    chunk = f'data: {{"choices": [{{"delta": {{"tool_calls": [{call}]}}}}]}}\n\n'
    with suppress(ModelError):
        check(await read(chunk.encode() + b"data: [DONE]\n\n"))


def test_an_event_without_an_end_is_refused_before_memory_is_full() -> None:
    reader = ChatReader(complain)
    reader.feed(b"x" * LARGEST_EVENT)
    with pytest.raises(ModelError, match="an event of the stream is larger than 32000000 bytes"):
        reader.feed(b"x")


def feed(*chunks: dict[str, Any]) -> FinishDelta:
    reader = ChatReader(complain)
    for chunk in chunks:
        reader.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n")
    return reader.finish()


def make_chunk(text: str, **more: Any) -> dict[str, Any]:
    finish = more.pop("finish_reason", None)
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}], **more}


def test_usage_of_the_last_chunk_counts_also_when_each_chunk_carries_one() -> None:
    chunks = [
        make_chunk(f"w{n}", usage={"prompt_tokens": 5, "completion_tokens": min(n, 10)}) for n in range(99)
    ]
    chunks += [make_chunk("x", usage={"prompt_tokens": 5, "completion_tokens": 99})] * 2
    assert feed(*chunks).usage == Usage(5, 99)
    stale = [
        make_chunk("x", usage={"completion_tokens": 99}),
        make_chunk("y", usage={"completion_tokens": 10}),
        make_chunk("z", usage={"completion_tokens": 99}),
    ]
    assert feed(*([stale[0]] * 12), stale[1], stale[2], stale[1]).usage.output_tokens == 10


def test_finish_reason_of_the_last_chunk_counts() -> None:
    first = [make_chunk("a", finish_reason="length")] * 11
    assert feed(*first, make_chunk("b", finish_reason="stop"), first[0]).reason == "length"
    assert feed(*first, make_chunk("b", finish_reason="stop")).reason == "stop"


async def test_a_header_with_broken_bytes_does_not_break_the_error() -> None:
    reply = Reply(
        status=500, headers={"x-request-id": "r" * 5000}, body='{"error": {"message": "a\\ud83d\\u0000"}}'
    )
    async with ScriptedServer([reply]) as server:
        endpoint = Endpoint(model="m", base_url=server.url, retries=RetryPolicy(attempts=1))
        with pytest.raises(ModelError) as caught:
            _ = [delta async for delta in OpenAIRequester(endpoint).stream(HELLO)]
    assert "a\ufffd\ufffd" in caught.value.message
    caught.value.message.encode()


async def test_text_split_in_the_middle_of_a_character_arrives_whole() -> None:
    halves = [make_chunk("a\ud83d"), make_chunk("\ude00b", finish_reason="stop")]
    deltas = await read(b"".join(map(to_event, halves)))
    texts = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert "".join(texts) == "a😀b"
