"""Answers of the Responses API are read the same however their bytes are cut, in the shapes servers send."""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import ModelError
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from dovetail.requesters.openai.responses_answer import ResponsesReader

GOLDEN = Path(__file__).parents[2] / "golden" / "openai_responses"
USAGE = Usage(31, 12, 16, 5, cache_write_tokens=8)
FAILURES = {"failed", "error"}


def complain(message: str, status: int | None) -> ModelError:
    return ModelError(message, provider="test", status=status)


def make_reader() -> ResponsesReader:
    return ResponsesReader(complain, "openai-responses")


def read(pieces: Iterable[bytes]) -> list[Delta]:
    reader = make_reader()
    deltas = [delta for piece in pieces for delta in reader.feed(piece)]
    deltas += reader.end()
    assert reader.done
    return [*deltas, reader.finish("request-1")]


def summarize(deltas: list[Delta]) -> dict[str, Any]:
    """The answer that the deltas add up to: what is not empty, with each part where it stood."""
    whole: dict[str, Any] = {"text": "", "reasoning": "", "calls": [], "parts": []}
    for delta in deltas:
        if isinstance(delta, TextDelta):
            whole["text"] += delta.text
        elif isinstance(delta, ReasoningDelta):
            whole["reasoning"] += delta.text
        elif isinstance(delta, ProviderPartDelta):
            assert delta.source == "openai-responses"
            kind = delta.data.get("phase") or delta.data["type"]
            whole["parts"].append((kind, len(whole["text"]), len(whole["calls"])))
        elif isinstance(delta, ToolCallDelta):
            if delta.name:
                whole["calls"].append([delta.call_id, delta.name, ""])
            whole["calls"][delta.index][2] += delta.arguments
        else:
            whole["reason"] = delta.reason
            assert (delta.model, delta.usage) == ("gpt-5-mini-2025-08-07", USAGE)
    return {name: value for name, value in whole.items() if value}


CASES: dict[str, dict[str, Any]] = {
    "text": {"text": "Grüße aus 北京 🦊!", "reason": "stop"},
    "reasoning_and_calls": {
        "reasoning": "**Two cities**\n\nAsk both",
        "text": "I ask both.",
        "calls": [
            ["call_Pa1", "get_weather", '{"city":"Paris"}'],
            ["call_Ro2", "get_weather", '{"city":"Rome"}'],
        ],
        "parts": [("reasoning", 0, 0), ("commentary", 0, 0)],
        "reason": "tool-calls",
    },
    "web_search": {
        "text": "Sunny [1].",
        "parts": [("reasoning", 0, 0), ("web_search_call", 0, 0)],
        "reason": "stop",
    },
    "refusal": {"text": "I can't help.", "reason": "content-filter"},
    "cut_by_length": {"text": "One, two", "reason": "length"},
    "content_filter": {"text": "Fine.", "reason": "content-filter"},
    "whole_items": {
        "reasoning": "Hm, yes.",
        "text": "Done.",
        "calls": [["call_9", "add", '{"a":1}']],
        "parts": [("reasoning", 0, 0)],
        "reason": "tool-calls",
    },
    "two_messages": {
        "reasoning": "Let me see",
        "text": "First:\n\nthe end.",
        "parts": [("reasoning", 0, 0), ("commentary", 0, 0), ("final_answer", 6, 0)],
        "reason": "stop",
    },
}


def load(name: str) -> bytes:
    return (GOLDEN / f"{name}.sse").read_bytes()


def test_every_golden_file_has_an_expectation() -> None:
    assert {path.stem for path in GOLDEN.glob("*.sse")} == {*CASES, *FAILURES}


@pytest.mark.parametrize("name", CASES)
def test_answer_is_read_item_by_item(name: str) -> None:
    assert summarize(read([load(name)])) == CASES[name]


@pytest.mark.parametrize("name", CASES)
def test_deltas_are_equal_however_the_bytes_are_cut(name: str) -> None:
    data = load(name)
    whole = read([data])
    assert read(data[place : place + 1] for place in range(len(data))) == whole
    for place in range(1, len(data)):
        assert read([data[:place], data[place:]]) == whole


@pytest.mark.parametrize("name", CASES)
def test_answer_in_one_piece_is_the_same(name: str) -> None:
    last = load(name).decode().strip().rpartition("data: ")[2]
    reader = make_reader()
    deltas = reader.feed_whole(json.dumps(json.loads(last)["response"]).encode())
    assert summarize([*deltas, reader.finish()]) == CASES[name]


@pytest.mark.parametrize("name", CASES)
def test_fields_of_an_event_may_come_in_any_order(name: str) -> None:
    pieces: list[bytes] = []
    for line in load(name).decode().splitlines():
        if line.startswith("data: "):
            event = dict(sorted(json.loads(line[6:]).items()))
            pieces.append(f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode())
    assert summarize(read(pieces)) == CASES[name]


@pytest.mark.parametrize(
    ("name", "message", "status"),
    [
        ("failed", "The model failed to answer. \\(server_error\\)", 500),
        ("error", "Too many tokens per minute. \\(rate_limit_exceeded\\)", 429),
    ],
)
def test_failure_in_the_stream_carries_the_server_s_words_and_status(
    name: str, message: str, status: int
) -> None:
    with pytest.raises(ModelError, match=f"reported an error while answering: {message}") as caught:
        make_reader().feed(load(name))
    assert caught.value.status == status


def test_reasoning_is_kept_as_it_was_when_it_was_complete() -> None:
    parts = [delta for delta in read([load("reasoning_and_calls")]) if isinstance(delta, ProviderPartDelta)]
    assert parts[0].data == {
        "id": "rs_1",
        "type": "reasoning",
        "encrypted_content": "gAAAA-1",
        "summary": [
            {"type": "summary_text", "text": "**Two cities**"},
            {"type": "summary_text", "text": "Ask both"},
        ],
    }
    assert parts[1].data == {"type": "message", "phase": "commentary"}


def test_stream_that_ends_early_is_not_complete() -> None:
    reader = make_reader()
    data = load("text")
    deltas = reader.feed(data[: data.index(b"event: response.output_text.done")])
    assert deltas[-1] == TextDelta("!")
    assert reader.end() == []
    assert not reader.is_complete


def test_finish_carries_the_last_event_as_it_came() -> None:
    finish = read([load("text")])[-1]
    assert isinstance(finish, FinishDelta)
    assert finish.request_id == "request-1"
    assert finish.payload is not None
    assert finish.payload["response"]["usage"]["total_tokens"] == 43


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.output_text.delta", "output_index": 0, "delta": 5},
        {"type": "response.output_text.delta", "delta": "x"},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{"},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call"}},
        {"type": "response.output_item.done", "output_index": 0, "item": []},
        {"type": "response.completed"},
        {"choices": [{"index": 0, "delta": {"content": "Hi"}}]},
    ],
)
def test_event_of_an_unexpected_shape_is_an_invalid_answer(event: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="sent an invalid answer: unexpected chunk"):
        make_reader().feed(f"data: {json.dumps(event)}\n\n".encode())


def test_unknown_events_are_skipped() -> None:
    assert make_reader().feed(b'data: {"type":"response.brand_new.delta","delta":"x"}\n\n') == []


DELTAS = st.text(alphabet=st.sampled_from('ab"\\\n{}:,é🦊 \u2028')) | st.sampled_from(
    ['"delta":"x"', '"sequence_number":7', '","obfuscation":"y"}']
)
KINDS = st.sampled_from(["output_text", "reasoning_summary_text"])
EVENTS = st.lists(st.tuples(KINDS, st.sampled_from(["a", "b"]), DELTAS, st.integers(0, 99)), max_size=8)


@settings(max_examples=60)
@given(EVENTS, st.booleans(), st.booleans())
def test_events_that_look_alike_are_read_as_each_would_be_alone(
    events: list[tuple[str, str, str, int]], is_ascii: bool, is_dense: bool
) -> None:
    reader = make_reader()
    for kind, item, delta, number in events:
        event = {
            "type": f"response.{kind}.delta",
            "sequence_number": number,
            "item_id": item,
            "output_index": 0,
            "delta": delta,
            "logprobs": [],
            "obfuscation": "x" * (number % 5),
        }
        text = json.dumps(event, ensure_ascii=is_ascii, separators=(",", ":") if is_dense else None)
        data = f"event: response.{kind}.delta\ndata: {text}\n\n".encode()
        assert reader.feed(data) == make_reader().feed(data)
        assert reader.finish().payload == event


ODD: list[Any] = [None, True, -1, 1e308, "", "x", [], {}, [None], {"type": "x"}, [[]]]


def find_places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(found for key, part in inner for found in find_places(part, (*place, key)))]


def put(value: Any, place: tuple[Any, ...], odd: Any) -> Any:
    if not place:
        return odd
    copied = value.copy()
    copied[place[0]] = put(value[place[0]], place[1:], odd)
    return copied


@pytest.mark.parametrize("name", ["reasoning_and_calls", "web_search", "refusal", "failed"])
def test_a_wrong_value_at_any_place_is_an_answer_or_a_model_error(name: str) -> None:
    events = [json.loads(line[6:]) for line in load(name).decode().splitlines() if line.startswith("data: ")]
    first = {event["type"]: number for number, event in reversed([*enumerate(events)])}
    for number in first.values():
        event = events[number]
        for place in find_places(event):
            for odd in ODD:
                changed = [*events[:number], put(event, place, odd), *events[number + 1 :]]
                data = "".join(f"data: {json.dumps(each)}\n\n" for each in changed).encode()
                reader = make_reader()
                with suppress(ModelError):
                    for delta in [*reader.feed(data), *reader.end()]:
                        texts = delta.text if isinstance(delta, TextDelta | ReasoningDelta) else ""
                        assert isinstance(texts, str)
                    assert isinstance(reader.finish().usage.input_tokens, int)
