"""Answers are read the same however their bytes are cut, in the shapes that servers really send."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import ModelError, TransientModelError
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.reader import MOST_CHUNKS
from dovetail.requesters.openai.answer import ChatReader

GOLDEN = Path(__file__).parents[2] / "golden" / "openai"


def complain(message: str, status: int | None) -> ModelError:
    return ModelError(message, provider="test", status=status)


def read(pieces: Iterable[bytes]) -> list[Delta]:
    reader = ChatReader(complain)
    deltas = [delta for piece in pieces for delta in reader.feed(piece)]
    deltas += reader.end()
    assert reader.is_complete
    return [*deltas, reader.finish("request-1")]


def summarize(deltas: list[Delta]) -> dict[str, Any]:
    """The answer that the deltas add up to; parts that are empty are left out."""
    finish = deltas[-1]
    assert isinstance(finish, FinishDelta)
    calls: dict[int, list[Any]] = {}
    for delta in deltas:
        if isinstance(delta, ToolCallDelta):
            assert (delta.call_id is None) == (delta.index in calls), "id and name come with the first piece"
            calls.setdefault(delta.index, [delta.call_id, delta.name, ""])[2] += delta.arguments
    whole = {
        "text": "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)),
        "reasoning": "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)),
        "calls": [tuple(call) for call in calls.values()],
        "reason": finish.reason,
        "model": finish.model,
        "usage": finish.usage if finish.usage != Usage() else None,
    }
    return {name: value for name, value in whole.items() if value}


OPENAI = {"model": "gpt-4.1-2025-04-14", "usage": Usage(31, 12, 16)}
NO_USAGE = {"model": "gpt-4.1-2025-04-14"}

CASES: dict[str, dict[str, Any]] = {
    "text": {"text": "Grüße aus 北京 🦊!", "reason": "stop", **OPENAI},
    "two_tool_calls": {
        "calls": [
            ("call_Pa1", "get_weather", '{"city":"Paris"}'),
            ("call_Ro2", "get_weather", '{"city":"Rome"}'),
        ],
        "reason": "tool-calls",
        **OPENAI,
    },
    "refusal": {"text": "I'm sorry, I can't help.", "reason": "content-filter", **OPENAI},
    "cut_by_length": {"text": "One, two", "reason": "length", **OPENAI},
    "azure_filter": {"text": "Fine.", "reason": "content-filter", **OPENAI},
    "deepseek_reasoning": {
        "reasoning": "Two and two",
        "text": "4.",
        "reason": "stop",
        "model": "deepseek-reasoner",
        "usage": Usage(20, 9, 8, 5),
    },
    "openrouter_reasoning": {
        "reasoning": "Let me see",
        "text": "Yes",
        "reason": "stop",
        "model": "qwen/qwen3-32b",
        "usage": Usage(11, 4, cost=0.0001),
    },
    "ollama_tool_calls": {
        "reasoning": "I need both.",
        "calls": [("call_k1", "add", '{"a":1,"b":2}'), ("call_k2", "add", '{"a":3,"b":4}')],
        "reason": "tool-calls",
        "model": "qwen3:8b",
        "usage": Usage(120, 40),
    },
    "gemini_tool_calls": {
        "calls": [
            ("function-call-1", "search", '{"q":"a"}'),
            ("function-call-2", "search", '{"q":"b"}'),
        ],
        "reason": "tool-calls",
        "model": "gemini-2.5-flash",
        "usage": Usage(50, 22),
    },
    "vllm_text": {
        "text": '{"name": "Ana"}',
        "reason": "stop",
        "model": "Qwen/Qwen3-8B",
        "usage": Usage(9, 6),
    },
    "llamacpp_text": {"text": "Hi", "reason": "stop", "model": "good", "usage": Usage(14, 2, 10)},
    "mistral_thinking": {
        "reasoning": "Hm, yes.",
        "text": "Sure!",
        "reason": "stop",
        "model": "magistral-medium",
        "usage": Usage(7, 5),
    },
    "crlf": {"text": "线路 🦊", "reason": "stop", **NO_USAGE},
    "no_done": {"text": "ab", "reason": "stop", **NO_USAGE},
    "no_blank_lines": {"text": "ab", "reason": "stop", **NO_USAGE},
    "many_data_lines": {"text": "multi\nline", "reason": "stop", **NO_USAGE},
}


def test_every_golden_file_has_an_expectation() -> None:
    assert {path.stem for path in GOLDEN.glob("*.sse")} == {*CASES, "openrouter_error"}


@pytest.mark.parametrize("name", CASES)
def test_answer_is_read_in_its_server_s_shape(name: str) -> None:
    assert summarize(read([(GOLDEN / f"{name}.sse").read_bytes()])) == CASES[name]


@pytest.mark.parametrize("name", CASES)
def test_deltas_are_equal_however_the_bytes_are_cut(name: str) -> None:
    data = (GOLDEN / f"{name}.sse").read_bytes()
    whole = read([data])
    assert read(data[place : place + 1] for place in range(len(data))) == whole
    for place in range(1, len(data)):
        assert read([data[:place], data[place:]]) == whole


def test_error_in_the_stream_carries_the_server_s_words_and_status() -> None:
    reader = ChatReader(complain)
    with pytest.raises(ModelError, match="Provider disconnected") as caught:
        reader.feed((GOLDEN / "openrouter_error.sse").read_bytes())
    assert caught.value.status == 502


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"code": "overloaded", "message": "Busy."}, 503),
        ({"type": "overloaded_error", "message": "Busy."}, 503),
        ({"code": "rate_limit_exceeded", "type": "tokens", "message": "Busy."}, 429),
        ({"code": "invalid_prompt", "message": "No."}, None),
    ],
)
def test_the_code_of_an_error_in_the_stream_says_whether_another_model_may_be_asked(
    error: dict[str, str], status: int | None
) -> None:
    failures = Endpoint(base_url="http://127.0.0.1/v1", model="m").build_failures()
    with pytest.raises(ModelError) as caught:
        ChatReader(failures.fail_answer).feed(f"data: {json.dumps({'error': error})}\n\n".encode())
    assert caught.value.status == status
    assert isinstance(caught.value, TransientModelError) == (status is not None)


def test_finish_carries_the_last_payload_and_the_request_id() -> None:
    finish = read([(GOLDEN / "text.sse").read_bytes()])[-1]
    assert isinstance(finish, FinishDelta)
    assert finish.request_id == "request-1"
    assert finish.payload is not None
    assert finish.payload["usage"]["total_tokens"] == 43


def chunk(part: str) -> bytes:
    return b'data: {"choices":[{"index":0,"delta":' + part.encode() + b"}]}\n\n"


@pytest.mark.parametrize(
    ("piece", "check"),
    [
        (b"data: {oops\n\n", "sent an invalid answer: invalid JSON '{oops'"),
        (b"data: [1]\n\n", r"sent an invalid answer: expected a JSON object, got '\[1\]'"),
        (
            b'data: {"object":"error","message":"no memory","code":507}\n\n',
            "reported an error while answering: no memory",
        ),
        (b'data: {"error":"plain words"}\n\n', "reported an error while answering: plain words"),
    ],
)
def test_an_error_says_whether_the_answer_is_invalid_or_the_server_failed(piece: bytes, check: str) -> None:
    with pytest.raises(ModelError, match=check):
        ChatReader(complain).feed(piece)


def test_half_an_event_at_the_end_is_dropped() -> None:
    reader = ChatReader(complain)
    assert reader.feed(chunk('{"content":"a"}')) == [TextDelta("a")]
    assert reader.feed(b'data: {"choices":[{"delta":{"content":"b') == []
    assert reader.end() == []
    assert not reader.is_complete


def test_broken_character_does_not_end_the_answer() -> None:
    assert ChatReader(complain).feed(chunk('{"content":"a@b"}').replace(b"@", b"\xff")) == [
        TextDelta("a\ufffdb")
    ]


def test_call_without_id_gets_one_and_keeps_it() -> None:
    reader = ChatReader(complain)
    first = reader.feed(chunk('{"tool_calls":[{"function":{"name":"add","arguments":{"a":1}}}]}'))[0]
    more = reader.feed(chunk('{"tool_calls":[{"function":{"arguments":" "}}]}'))[0]
    assert isinstance(first, ToolCallDelta)
    assert (first.name, first.arguments, bool(first.call_id)) == ("add", '{"a": 1}', True)
    assert more == ToolCallDelta(0, arguments=" ")


def test_id_repeated_with_every_piece_is_one_call() -> None:
    reader = ChatReader(complain)
    piece = '{"tool_calls":[{"index":0,"id":"x","function":{"name":"add","arguments":"@"}}]}'
    first, second = (reader.feed(chunk(piece.replace("@", text))) for text in "[]")
    assert [*first, *second] == [ToolCallDelta(0, "x", "add", "["), ToolCallDelta(0, arguments="]")]


def test_only_the_first_of_several_answers_counts() -> None:
    data = b'data: {"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}]}\n\n'
    assert ChatReader(complain).feed(data) == [TextDelta("a")]


def test_long_line_comes_whole_from_small_pieces() -> None:
    text = "x" * 200_000
    data = chunk(f'{{"content":"{text}"}}')
    reader = ChatReader(complain)
    pieces = (data[place : place + 50] for place in range(0, len(data), 50))
    assert [delta for piece in pieces for delta in reader.feed(piece)] == [TextDelta(text)]


def test_chunks_without_blank_lines_are_read_in_order() -> None:
    chunks = [json.dumps({"choices": [{"delta": {"content": text}}]}) for text in "abc"]
    deltas = ChatReader(complain).feed(f"data: {chunks[0]}{chunks[1]} \t {chunks[2]} [DONE]\n\n".encode())
    assert deltas == [TextDelta("a"), TextDelta("b"), TextDelta("c")]


def test_an_event_of_countless_chunks_is_an_error() -> None:
    reader = ChatReader(complain)
    assert reader.feed(b"data: " + b'{"choices":[]}' * MOST_CHUNKS + b"\n\n") == []
    with pytest.raises(ModelError, match=f"more than {MOST_CHUNKS} chunks"):
        reader.feed(b"data: " + b'{"choices":[]}' * (MOST_CHUNKS + 1) + b"\n\n")


def test_whole_answer_yields_the_same_kinds_of_deltas() -> None:
    reader = ChatReader(complain)
    body = (
        b'{"id":"x","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi",'
        b'"reasoning_content":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"f",'
        b'"arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}'
    )
    assert reader.feed_whole(body) == [
        ReasoningDelta("hm"),
        ProviderPartDelta("openai", {"field": "reasoning_content", "text": "hm"}),
        TextDelta("Hi"),
        ToolCallDelta(0, "a", "f", "{}"),
    ]
    assert reader.finish().usage == Usage(3, 2)


NAMES = [
    *("choices", "delta", "message", "content", "reasoning", "tool_calls", "function", "name", "arguments"),
    *("index", "id", "usage", "finish_reason", "error", "text", "thinking", "refusal", "object"),
]
shapes = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=10,
)
bits = st.sampled_from(
    [b"data: ", b"data:", b"\n", b"\r\n", b"\r", b"{", b"}", b'"', b"[DONE]", b"\xc3", b"1"]
)


@settings(max_examples=60)
@given(st.lists(shapes | st.builds(lambda part: {"choices": [{"delta": part}]}, shapes), max_size=3))
def test_chunks_of_any_shape_give_deltas_of_text_or_a_model_error(chunks: list[Any]) -> None:
    assert_sane(b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks))


@settings(max_examples=60)
@given(st.lists(bits, max_size=12))
def test_bytes_of_any_kind_give_deltas_or_a_model_error(pieces: list[bytes]) -> None:
    assert_sane(b"".join(pieces))


def assert_sane(data: bytes) -> None:
    """The reader either answers or raises our error, and does the same for every cutting."""
    outcomes: list[Any] = []
    for pieces in ([data], [data[place : place + 1] for place in range(len(data))]):
        reader = ChatReader(complain)
        deltas: list[Delta] = []
        try:
            for piece in pieces:
                deltas += reader.feed(piece)
            deltas += reader.end()
            outcomes.append(reader.finish())
        except ModelError as error:
            outcomes.append(str(error))
        for delta in deltas:
            assert not isinstance(delta, TextDelta | ReasoningDelta) or isinstance(delta.text, str)
    assert outcomes[0] == outcomes[1]


PARTS = st.sampled_from(["content", "reasoning_content", "reasoning", "refusal"])
PIECES = st.text(alphabet=st.sampled_from('ab"\\\n{}:,é🦊 \u2028')) | st.sampled_from(
    ["content", '"content":"x"']
)
CHUNKS = st.lists(st.dictionaries(PARTS, PIECES, min_size=1, max_size=2), max_size=8)


def drop_parts(deltas: list[Delta]) -> list[Delta]:
    return [delta for delta in deltas if not isinstance(delta, ProviderPartDelta)]


@given(CHUNKS, st.booleans(), st.booleans())
def test_chunks_that_look_alike_are_read_as_each_would_be_alone(
    parts: list[dict[str, str]], is_ascii: bool, is_dense: bool
) -> None:
    separators = (",", ":") if is_dense else None
    reader = ChatReader(complain)
    for part in parts:
        chunk = {"model": "m", "choices": [{"index": 0, "delta": part, "finish_reason": None}]}
        text = json.dumps(chunk, ensure_ascii=is_ascii, separators=separators)
        data = b"data: " + text.encode() + b"\n\n"
        assert drop_parts(reader.feed(data)) == drop_parts(ChatReader(complain).feed(data))
        # The last chunk as it came, also when its text alone was read.
        assert reader.finish().payload == chunk
