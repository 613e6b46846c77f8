"""Gemini's answers are read the same however their bytes are cut and their events are framed."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
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
from dovetail.requesters.errors import Failures
from dovetail.requesters.google.answer import CountedPattern, GoogleReader
from dovetail.requesters.google.contents import ContentWriter

FAILURES = Failures(
    provider="google", model="gemini-3-flash-preview", address="http://g", has_key=True, secrets=["k3y"]
)
MODEL = "gemini-3-flash"


def chunk(*parts: Any, tokens: int = 0, reason: str | None = None, **candidate: Any) -> dict[str, Any]:
    """A chunk as the API sends it, with the tokens so far."""
    end = {"finishReason": reason} if reason else {}
    return {
        "candidates": [{"content": {"parts": list(parts), "role": "model"}, **end, "index": 0, **candidate}],
        "usageMetadata": {
            "promptTokenCount": 9,
            "candidatesTokenCount": tokens,
            "totalTokenCount": 9 + tokens,
            "thoughtsTokenCount": 4,
            "cachedContentTokenCount": 2,
        },
        "modelVersion": MODEL,
        "responseId": "r-1",
    }


def kept(kind: str, **data: Any) -> ProviderPartDelta:
    return ProviderPartDelta("google", {"kind": kind, "model": MODEL, **data})


USAGE = Usage(input_tokens=9, output_tokens=9, cached_tokens=2, reasoning_tokens=4)
CODE = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
OUTPUT = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}}
GROUNDING = {"webSearchQueries": ["fox"], "groundingChunks": [{"web": {"uri": "https://x.example"}}]}

CASES: dict[str, tuple[list[Any], list[Delta], str]] = {
    "text": (
        [
            chunk({"text": "Grüße "}, tokens=1),
            chunk({"text": "aus "}, tokens=2),
            chunk({"text": "北京 "}, tokens=3),
            chunk({"text": '"🦊"\n'}, tokens=4),
            chunk({"text": "!"}, tokens=5, reason="STOP"),
        ],
        [TextDelta("Grüße "), TextDelta("aus "), TextDelta("北京 "), TextDelta('"🦊"\n'), TextDelta("!")],
        "stop",
    ),
    "thoughts, then text with an empty signed part": (
        [
            chunk({"text": "Two and ", "thought": True}),
            chunk({"text": "two", "thought": True}),
            chunk({"text": "4"}, tokens=2),
            chunk({"text": "."}, tokens=5),
            chunk({"text": "", "thoughtSignature": "s1"}, tokens=5, reason="STOP"),
        ],
        [
            ReasoningDelta("Two and "),
            ReasoningDelta("two"),
            TextDelta("4"),
            TextDelta("."),
            kept("part", part={"text": "", "thoughtSignature": "s1"}),
        ],
        "stop",
    ),
    "signed text": (
        [
            chunk({"text": "one "}),
            chunk({"text": "two", "thoughtSignature": "s1"}, tokens=5, reason="MAX_TOKENS"),
        ],
        [
            TextDelta("one "),
            kept("text", length=3, fields={"thoughtSignature": "s1"}),
            TextDelta("two"),
        ],
        "length",
    ),
    "parallel calls, the first one signed": (
        [
            chunk(
                {
                    "functionCall": {"name": "add", "args": {"a": "ü"}, "id": "c1"},
                    "thoughtSignature": "s1",
                },
                {"functionCall": {"name": "now", "id": "c2"}},
            ),
            chunk({"text": ""}, tokens=5, reason="STOP"),
        ],
        [
            kept("call", fields={"thoughtSignature": "s1"}),
            ToolCallDelta(0, "c1", "add", '{"a": "ü"}'),
            ToolCallDelta(1, "c2", "now", "{}"),
        ],
        "tool-calls",
    ),
    "built-in tools": (
        [
            chunk(CODE),
            chunk(OUTPUT),
            chunk({"text": "1"}),
            chunk({"text": "."}, tokens=5, reason="STOP", groundingMetadata=GROUNDING),
        ],
        [
            kept("part", part=CODE),
            kept("part", part=OUTPUT),
            TextDelta("1"),
            TextDelta("."),
            kept("metadata", groundingMetadata=GROUNDING),
        ],
        "stop",
    ),
    "text stopped by a filter": (
        [chunk({"text": "So "}), chunk(tokens=5, reason="SAFETY")],
        [TextDelta("So ")],
        "content-filter",
    ),
}


def frame(chunks: Iterable[Any]) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(one, ensure_ascii=False).encode() for one in chunks)


def frame_with_returns(chunks: Iterable[Any]) -> bytes:
    return b"".join(b"data: %s\r\n\r\n" % json.dumps(one).encode() for one in chunks)


def frame_in_lines(chunks: Iterable[Any]) -> bytes:
    lines = (json.dumps(one, ensure_ascii=False, indent=2).split("\n") for one in chunks)
    return "".join("".join(f"data: {line}\r\n" for line in event) + "\r\n" for event in lines).encode()


FRAMES: list[Callable[[Iterable[Any]], bytes]] = [frame, frame_with_returns, frame_in_lines]


def read(pieces: Iterable[bytes]) -> tuple[list[Delta], FinishDelta]:
    reader = GoogleReader(FAILURES)
    deltas = [delta for piece in pieces for delta in reader.feed(piece)]
    deltas += reader.end()
    assert reader.is_complete
    return deltas, reader.finish("request-1")


@pytest.mark.parametrize("framed", FRAMES)
@pytest.mark.parametrize("case", CASES)
def test_deltas_are_the_same_wherever_the_bytes_are_cut(
    case: str, framed: Callable[[Iterable[Any]], bytes]
) -> None:
    chunks, expected, reason = CASES[case]
    data = framed(chunks)

    cuts = [[data], [data[place : place + 1] for place in range(len(data))]]
    cuts += [[data[:place], data[place:]] for place in range(1, len(data))]
    for pieces in cuts:
        deltas, finish = read(pieces)
        assert deltas == expected
        assert (finish.reason, finish.model, finish.usage) == (reason, MODEL, USAGE)
        assert finish.payload == chunks[-1]


@pytest.mark.parametrize("case", CASES)
def test_an_answer_in_one_piece_has_the_same_deltas(case: str) -> None:
    chunks, expected, reason = CASES[case]
    parts = [part for one in chunks for part in one["candidates"][0]["content"]["parts"]]
    whole = {**chunks[-1], "candidates": [{**chunks[-1]["candidates"][0], "content": {"parts": parts}}]}
    reader = GoogleReader(FAILURES)

    assert reader.feed_whole(json.dumps(whole).encode()) == expected
    assert reader.finish().reason == reason


@pytest.mark.parametrize("case", CASES)
def test_what_gemini_wants_back_goes_back_in_its_place(case: str) -> None:
    chunks, expected, _ = CASES[case]
    text, calls, parts = "", [], []
    for delta in expected:
        if isinstance(delta, TextDelta):
            text += delta.text
        elif isinstance(delta, ToolCallDelta):
            calls.append(
                {"id": delta.call_id, "function": {"name": delta.name, "arguments": delta.arguments}}
            )
        elif isinstance(delta, ProviderPartDelta):
            parts.append({"source": "google", "text": len(text), "calls": len(calls), "data": delta.data})
    message = {"role": "assistant", "content": text, "tool_calls": calls, "provider_parts": parts}

    written = ContentWriter(3).write([message])[0]["parts"]

    sent = [part for one in chunks for part in one["candidates"][0]["content"]["parts"]]
    special = [part for part in sent if set(part) - {"text", "thought"}]
    assert [part for part in written if set(part) - {"text"}] == [
        {**part, "functionCall": {"args": {}, **part["functionCall"]}} if "functionCall" in part else part
        for part in special
    ]
    assert "".join(part.get("text", "") for part in written) == text


def test_chunks_that_differ_in_text_and_tokens_have_one_pattern() -> None:
    first, text = json.dumps(chunk({"text": "a"}, tokens=1)), TextDelta("a")
    pattern = CountedPattern.learn(first, text, GoogleReader.places)

    assert pattern is not None
    assert pattern.read(json.dumps(chunk({"text": 'b"'}, tokens=22))) == TextDelta('b"')
    for other in (
        chunk({"text": ""}),
        chunk({"text": "b", "thought": True}),
        chunk({"text": "b", "thoughtSignature": "s"}),
        chunk({"text": "b"}, {"text": "c"}),
        chunk({"text": "b"}, reason="STOP"),
        {**chunk({"text": "b"}), "error": {"message": "x"}},
    ):
        assert pattern.read(json.dumps(other)) is None


def test_a_call_without_an_id_gets_one() -> None:
    deltas, _ = read([frame([chunk({"functionCall": {"name": "add", "args": {}}}, reason="STOP")])])

    assert isinstance(deltas[0], ToolCallDelta)
    assert deltas[0].call_id


def test_only_the_first_of_several_candidates_counts() -> None:
    second = {"content": {"parts": [{"text": "no"}]}, "finishReason": "STOP", "index": 1}
    one = chunk({"text": "yes"}, reason="STOP")
    one["candidates"].append(second)

    deltas, _ = read([frame([one])])

    assert deltas == [TextDelta("yes")]


@pytest.mark.parametrize(
    ("chunks", "problem"),
    [
        (
            [{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}}],
            "at http://g refused to answer: it blocked the prompt (PROHIBITED_CONTENT)",
        ),
        (
            [chunk(reason="RECITATION", finishMessage="From a book.")],
            "google:gemini-3-flash-preview at http://g refused to answer (RECITATION: From a book.)",
        ),
        (
            [{"error": {"code": 400, "message": "Bad thing.", "status": "INVALID_ARGUMENT"}}],
            "google:gemini-3-flash-preview at http://g reported an error while answering: Bad thing.",
        ),
        (
            [{"candidates": [{"content": {"parts": ["x"]}}]}],
            "google:gemini-3-flash-preview at http://g sent an invalid answer",
        ),
        (
            [{"candidates": [{"content": {"parts": [{"text": 5}]}}]}],
            "google:gemini-3-flash-preview at http://g sent an invalid",
        ),
        ([{"candidates": [{"content": {"parts": [{"functionCall": {}}]}}]}], "sent an invalid answer"),
    ],
)
def test_an_answer_that_fails_has_one_clear_error(chunks: list[Any], problem: str) -> None:
    with pytest.raises(ModelError) as raised:
        read([frame(chunks)])

    assert problem in raised.value.message
    assert not isinstance(raised.value, TransientModelError)


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
def test_a_spoiled_call_may_be_tried_again(reason: str) -> None:
    with pytest.raises(TransientModelError, match="made an invalid function call") as raised:
        read([frame([chunk(reason=reason, finishMessage="Malformed function call: print(")])])

    assert "print(" in raised.value.message


def test_an_overload_in_the_stream_may_be_tried_again() -> None:
    with pytest.raises(TransientModelError, match="The model is overloaded"):
        read([frame([{"error": {"code": 503, "message": "The model is overloaded."}}])])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = ("text", "thought", "functionCall", "thoughtSignature", "inlineData")
PARTS = st.dictionaries(st.sampled_from(NAMES), JSON | st.fixed_dictionaries({"name": JSON, "args": JSON}))
CANDIDATES = st.fixed_dictionaries(
    {},
    optional={
        "content": JSON | st.fixed_dictionaries({"parts": st.lists(PARTS | JSON, max_size=3)}),
        "finishReason": JSON,
        "index": JSON,
        "groundingMetadata": JSON,
    },
)
CHUNKS = st.fixed_dictionaries(
    {},
    optional={
        "candidates": JSON | st.lists(CANDIDATES | JSON, max_size=2),
        "usageMetadata": JSON | st.dictionaries(st.just("promptTokenCount"), JSON),
        "promptFeedback": JSON,
        "modelVersion": JSON,
        "error": JSON,
    },
)


@given(st.lists(CHUNKS, max_size=3))
def test_a_chunk_of_any_shape_is_an_answer_or_a_clear_error(chunks: list[Any]) -> None:
    reader = GoogleReader(FAILURES)
    failure = ""
    try:
        deltas = [*reader.feed(frame(chunks)), *reader.end(), reader.finish()]
    except ModelError as error:
        deltas, failure = [], error.message
    assert failure.startswith("google") if failure else isinstance(deltas[-1], FinishDelta)
