"""The answers of the Messages API become deltas, however their bytes are cut."""

import json
from typing import Any

import pytest

from anthropic_events import START, begin, encode, end, more, stop
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
from dovetail.requesters.anthropic.answer import MessagesReader

SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srv_1",
    "content": [{"type": "web_search_result", "url": "https://a.example", "encrypted_content": "E"}],
}
CITATION = {"type": "web_search_result_location", "url": "https://a.example", "encrypted_index": "I"}


def complain(problem: str, status: int | None) -> ModelError:
    return ModelError(problem, provider="anthropic", status=status)


def make_reader() -> MessagesReader:
    return MessagesReader(complain, "anthropic")


EVENTS = [
    START,
    {"type": "ping"},
    begin(0, type="thinking", thinking="", signature=""),
    more(0, "thinking_delta", thinking="Zwei Grüße"),
    more(0, "thinking_delta", thinking=" und 🙂"),
    more(0, "signature_delta", signature="SIG"),
    more(0, "signature_delta", signature="NED"),
    stop(0),
    begin(1, type="redacted_thinking", data="OPAQUE"),
    stop(1),
    begin(2, type="text", text=""),
    more(2, "text_delta", text="Grüße"),
    more(2, "text_delta", text=", „Welt“"),
    more(2, "text_delta", text='\n"quoted"'),
    stop(2),
    begin(3, **SEARCH),
    more(3, "input_json_delta", partial_json='{"query": '),
    more(3, "input_json_delta", partial_json='"a"}'),
    stop(3),
    begin(4, **FOUND),
    stop(4),
    begin(5, type="text", text="", citations=[]),
    more(5, "text_delta", text="It "),
    more(5, "citations_delta", citation=CITATION),
    more(5, "text_delta", text="rains."),
    stop(5),
    begin(6, type="tool_use", id="toolu_1", name="add", input={}),
    more(6, "input_json_delta", partial_json=""),
    more(6, "input_json_delta", partial_json='{"a": '),
    more(6, "input_json_delta", partial_json="1}"),
    stop(6),
    begin(7, type="tool_use", id="toolu_2", name="now", input={}),
    stop(7),
    {"type": "a_later_event", "anything": 1},
    *end("tool_use", output_tokens=55),
]
STREAM = encode(*EVENTS)
DELTAS: list[Delta] = [
    ReasoningDelta("Zwei Grüße"),
    ReasoningDelta(" und 🙂"),
    ProviderPartDelta(
        "anthropic", {"type": "thinking", "thinking": "Zwei Grüße und 🙂", "signature": "SIGNED"}
    ),
    ProviderPartDelta("anthropic", {"type": "redacted_thinking", "data": "OPAQUE"}),
    TextDelta("Grüße"),
    TextDelta(", „Welt“"),
    TextDelta('\n"quoted"'),
    ProviderPartDelta("anthropic", {**SEARCH, "input": {"query": "a"}}),
    ProviderPartDelta("anthropic", FOUND),
    TextDelta("It "),
    TextDelta("rains."),
    ProviderPartDelta("anthropic", {"type": "text", "text": "It rains.", "citations": [CITATION]}),
    ToolCallDelta(0, "toolu_1", "add", ""),
    ToolCallDelta(0, arguments='{"a": '),
    ToolCallDelta(0, arguments="1}"),
    ToolCallDelta(1, "toolu_2", "now", ""),
    ToolCallDelta(1, arguments="{}"),
]


def read(*pieces: bytes) -> tuple[list[Delta], FinishDelta]:
    reader = make_reader()
    deltas = [delta for piece in pieces for delta in reader.feed(piece)] + reader.end()
    assert reader.done
    return deltas, reader.finish("req_1")


def test_every_block_becomes_its_deltas() -> None:
    deltas, finish = read(STREAM)
    assert deltas == DELTAS
    assert finish == FinishDelta(
        "tool-calls",
        Usage(input_tokens=1110, output_tokens=55, cached_tokens=1000, cache_write_tokens=100),
        "claude-sonnet-4-5-20250929",
        "req_1",
        EVENTS[-2],
    )


def test_a_stream_cut_at_every_byte_has_the_same_deltas() -> None:
    for place in range(1, len(STREAM)):
        assert read(STREAM[:place], STREAM[place:])[0] == DELTAS, place
    assert read(*(STREAM[place : place + 1] for place in range(len(STREAM))))[0] == DELTAS


def test_other_line_ends_and_missing_event_names_make_no_difference() -> None:
    assert read(STREAM.replace(b"\n", b"\r\n"))[0] == DELTAS
    lines = [line for line in STREAM.split(b"\n") if not line.startswith(b"event:")]
    assert read(b"\n".join(lines))[0] == DELTAS


def test_an_answer_in_one_piece_has_the_same_blocks() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "S"},
        {"type": "text", "text": "Hello"},
        {"type": "text", "text": "It rains.", "citations": [CITATION]},
        {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}},
        {"type": "tool_use", "id": "t2", "name": "now", "input": {}},
    ]
    whole = {**START["message"], "content": blocks, "stop_reason": "end_turn"}
    reader = make_reader()
    assert reader.feed_whole(json.dumps(whole).encode()) == [
        ReasoningDelta("hm"),
        ProviderPartDelta("anthropic", blocks[0]),
        TextDelta("Hello"),
        TextDelta("It rains."),
        ProviderPartDelta("anthropic", blocks[2]),
        ToolCallDelta(0, "t1", "add", '{"a": 1}'),
        ToolCallDelta(1, "t2", "now", ""),
        ToolCallDelta(1, arguments="{}"),
    ]
    assert (reader.done, reader.finish().usage.input_tokens) == (True, 1110)


@pytest.mark.parametrize(("reason", "given"), [("tool_use", ["{}", "{}"]), ("max_tokens", ["{}"])])
def test_a_call_that_was_cut_off_before_its_arguments_gets_no_empty_ones(
    reason: str, given: list[str]
) -> None:
    calls = [{"type": "tool_use", "id": name, "name": name, "input": {}} for name in ("a", "b")]
    whole = {**START["message"], "content": calls, "stop_reason": reason}
    deltas = make_reader().feed_whole(json.dumps(whole).encode())
    arguments = [delta.arguments for delta in deltas if isinstance(delta, ToolCallDelta)]
    assert [text for text in arguments if text] == given


@pytest.mark.parametrize(
    ("reason", "ours"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool-calls"),
        ("refusal", "content-filter"),
        ("pause_turn", "pause"),
        ("something_new", "other"),
    ],
)
def test_the_reason_of_the_end_is_named_in_our_words(reason: str, ours: str) -> None:
    text = [begin(0, type="text", text="Hello"), stop(0)]
    assert read(encode(START, *text, *end(reason)))[1].reason == ours


def test_usage_of_the_last_event_counts_and_reasoning_is_known() -> None:
    last = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    usage = {"input_tokens": 12, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 7}}
    finish = read(encode(START, {**last, "usage": usage}, {"type": "message_stop"}))[1]
    assert finish.usage == Usage(1112, 9, 1000, 7, None, 100)


def test_a_thinking_block_without_text_keeps_its_signature() -> None:
    opened = begin(0, type="thinking", thinking="", signature="")
    events = [START, opened, more(0, "signature_delta", signature="S"), stop(0), *end("end_turn")]
    part = {"type": "thinking", "thinking": "", "signature": "S"}
    assert read(encode(*events))[0] == [ProviderPartDelta("anthropic", part)]


def test_the_use_of_a_tool_that_was_cut_off_is_left_out() -> None:
    cut = more(0, "input_json_delta", partial_json='{"query": "a')
    deltas, finish = read(encode(START, begin(0, **SEARCH), cut, stop(0), *end("max_tokens")))
    assert (deltas, finish.reason) == ([], "length")


@pytest.mark.parametrize(
    ("kind", "status"),
    [("overloaded_error", 529), ("rate_limit_error", 429), ("api_error", 500), ("new", 500)],
)
def test_an_error_in_the_stream_has_the_status_of_its_type(kind: str, status: int) -> None:
    reader = make_reader()
    reader.feed(encode(START, begin(0, type="text", text="")))
    with pytest.raises(ModelError, match="reported an error while answering: Overloaded") as caught:
        reader.feed(encode({"type": "error", "error": {"type": kind, "message": "Overloaded"}}))
    assert caught.value.status == status


@pytest.mark.parametrize(
    "event",
    [
        more(5, "text_delta", text="no block"),
        {"type": "content_block_delta", "index": 0, "delta": []},
        {"type": "content_block_start", "index": 0},
        begin(0, type="text", text=["list"]),
        begin(0, type="tool_use", id=1, name="add"),
        {"type": "message_start", "message": None},
    ],
)
def test_an_event_of_an_unknown_shape_is_an_invalid_answer(event: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="sent an invalid answer"):
        make_reader().feed(encode(event))


def test_a_stream_without_an_end_is_not_complete() -> None:
    reader = make_reader()
    reader.feed(encode(*EVENTS[:-2]))
    assert (reader.end(), reader.is_complete) == ([], False)
