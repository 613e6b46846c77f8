"""One answer, many readers, each from the start; limits, cancels and second tries."""

import asyncio
import math
import threading
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from dovetail.data.clean import DEEPEST
from dovetail.errors import (
    AnswerLengthError,
    AnswerTimeoutError,
    CancelledRunError,
    ConfigError,
    ModelError,
    ResponseError,
)
from dovetail.events.delta import FinishDelta, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from dovetail.response.log import LogEntry
from dovetail.response.parser import AnswerFormat
from dovetail.response.response import Correction, Response, Send
from dovetail.response.result import LONG
from dovetail.testing import Gate
from leap import Leap
from patience import PATIENCE

FINISH = FinishDelta(model="scripted", usage=Usage(3, 4), request_id="r1", payload={"id": "p"})
SCHEMA = {"a": (str,), "n": (int,)}


def play(
    *answers: Sequence[LogEntry | str | Exception | asyncio.Event | Gate],
) -> tuple[Send, list[Correction | None]]:
    """Sends the answers one after the other; an event in an answer is waited for."""
    sent: list[Correction | None] = []

    async def stream(answer: Sequence[Any]) -> AsyncGenerator[LogEntry, None]:
        for step in answer:
            if isinstance(step, asyncio.Event):
                await step.wait()
            elif isinstance(step, Gate):
                await step.pass_through()
            elif isinstance(step, Exception):
                raise step
            else:
                yield TextDelta(step) if isinstance(step, str) else step

    def send(correction: Correction | None) -> AsyncGenerator[LogEntry, None]:
        sent.append(correction)
        return stream(answers[len(sent) - 1])

    return send, sent


async def test_readers_that_come_late_read_from_the_start() -> None:
    gate = asyncio.Event()
    send, sent = play(["Hel", gate, "lo", FINISH])
    response = Response(send)
    early = response.async_get_generator()
    assert await anext(early) == "Hel"
    late = response.async_get_generator()
    assert await anext(late) == "Hel"
    gate.set()
    assert [text async for text in early] == ["lo"]
    assert [text async for text in late] == ["lo"]
    assert [text async for text in response.async_get_generator()] == ["Hel", "lo"]
    assert await response.async_get_text() == "Hello"
    assert sent == [None]


async def test_reader_that_leaves_stops_no_other() -> None:
    gate = asyncio.Event()
    response = Response(play(["a", gate, "b", FINISH])[0])
    async for _ in response.async_get_generator():
        break
    impatient = asyncio.create_task(response.async_get_text())
    await asyncio.sleep(0)
    impatient.cancel()
    gate.set()
    assert await response.async_get_text() == "ab"


async def test_events_come_in_order_and_the_closing_ones_once() -> None:
    call = ToolCallDelta(0, "c1", "add", '{"x": 1}')
    answer = [("tool", {"name": "add"}), ReasoningDelta("hm"), "Hi", call, FINISH]
    response = Response(play(answer)[0])
    pairs = [pair async for pair in response.async_get_generator("all")]
    names = [name for name, _ in pairs if name != "original_delta"]
    assert names == [
        "tool",
        "reasoning_delta",
        "delta",
        "tool_calls",
        "original_done",
        "reasoning_done",
        "done",
        "meta",
    ]
    data = dict(pairs)
    assert (data["done"], data["reasoning_done"], data["original_done"]) == ("Hi", "hm", {"id": "p"})
    assert [(call.call_id, call.name, call.arguments) for call in data["tool_calls"]] == [
        ("c1", "add", '{"x": 1}')
    ]
    assert data["meta"]["usage"]["output_tokens"] == 4
    assert [delta async for delta in response.async_get_generator("original")] == [
        ReasoningDelta("hm"),
        TextDelta("Hi"),
        call,
        FINISH,
    ]
    chosen = [pair async for pair in response.async_get_generator("specific", specific="delta")]
    assert chosen == [("delta", "Hi")]
    usual = [name async for name, _ in response.async_get_generator("specific")]
    assert usual == ["tool", "reasoning_delta", "delta", "tool_calls", "reasoning_done", "done"]


async def test_field_arrives_while_the_rest_still_streams() -> None:
    gate = asyncio.Event()
    response = Response(play(['{"a": "x", ', gate, '"n": 1}', FINISH])[0], AnswerFormat(schema=SCHEMA))
    fields = response.async_get_generator("instant")
    first = [await anext(fields), await anext(fields)]
    assert [(event.path, event.event_type) for event in first] == [("a", "delta"), ("a", "done")]
    assert not gate.is_set()
    gate.set()
    assert [event.value async for event in fields] == [1]
    again = [event.path async for event in response.async_get_generator("streaming_parse")]
    assert again == ["a", "a", "n"]


def test_sync_and_async_readers_of_other_threads_share_one_answer() -> None:
    send, sent = play([*"Hello", FINISH])
    response = Response(send)
    texts: list[str] = []

    def read() -> None:
        texts.append("".join(response.get_generator()))
        texts.append(asyncio.run(response.async_get_text()))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert texts == ["Hello"] * 8
    assert sent == [None]


async def test_sync_faces_work_inside_a_running_loop() -> None:
    response = Response(play([*"Hello", FINISH])[0])
    assert list(response.get_generator()) == list("Hello")
    assert response.get_text() == "Hello"


async def test_sync_call_in_the_loop_that_reads_is_refused_instead_of_hanging() -> None:
    gate = asyncio.Event()
    response = Response(play(["a", gate, FINISH])[0])
    await anext(response.async_get_generator())
    with pytest.raises(ConfigError, match="async_"):
        response.get_text()
    with pytest.raises(ConfigError, match="async_"):
        list(response.get_generator())
    gate.set()
    await response.async_get_text()
    assert response.get_text() == "a"


async def test_cancel_keeps_what_has_arrived() -> None:
    response = Response(play(["so far", asyncio.Event(), FINISH])[0])
    reader = response.async_get_generator()
    assert await anext(reader) == "so far"
    response.cancel()
    with pytest.raises(CancelledRunError):
        await anext(reader)
    with pytest.raises(CancelledRunError):
        await response.async_get_data()
    assert response.received.text == "so far"
    assert response.received.meta["finish_reason"] == "interrupted"


async def test_cancel_before_the_first_reader_sends_nothing() -> None:
    response = Response(play([ModelError("must not be sent", provider="x")])[0])
    response.cancel()
    with pytest.raises(CancelledRunError, match="before it was sent"):
        await response.async_get_text()


async def test_time_limit_says_what_had_arrived() -> None:
    response = Response(play(["abc", Leap(), FINISH])[0], timeout=60)
    with pytest.raises(AnswerTimeoutError, match=r"after 60 s; 3 characters had arrived"):
        await response.async_get_text()
    with pytest.raises(TimeoutError):
        await response.async_get_text()


def test_a_time_limit_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ConfigError, match="finite number of seconds or None, got nan"):
        Response(play([FINISH])[0], timeout=math.nan)


async def test_broken_stream_yields_its_text_then_the_error() -> None:
    error = ModelError("connection lost", provider="openai")
    response = Response(play(['{"a": "x', error])[0], AnswerFormat(schema=SCHEMA))
    pairs = response.async_get_generator("specific", specific=["delta", "error"])
    assert [await anext(pairs), await anext(pairs)] == [("delta", '{"a": "x'), ("error", error)]
    with pytest.raises(ModelError, match="connection lost"):
        await anext(pairs)
    fields = response.async_get_generator("instant")
    assert (await anext(fields)).event_type == "delta"
    with pytest.raises(ModelError):
        await anext(fields)


async def test_missing_keys_are_asked_for_again_and_every_view_speaks_of_the_winner() -> None:
    send, sent = play(['{"a": "x"}', FINISH], ["no JSON", FINISH], ['{"a": "y", "n": 2}', FINISH])
    response = Response(send, AnswerFormat(schema=SCHEMA))
    assert await response.async_get_data() == {"a": "x"}
    assert await response.async_get_data(ensure_keys=["a", "/n"]) == {"a": "y", "n": 2}
    assert sent == [
        None,
        Correction('{"a": "x"}', "these keys are missing: /n", FINISH.usage),
        Correction("no JSON", "the answer contains no JSON object", FINISH.usage),
    ]
    assert await response.async_get_text() == '{"a": "y", "n": 2}'
    assert [event.value async for event in response.async_get_generator("instant")][-1] == 2


async def test_readers_that_miss_the_same_key_share_the_second_try() -> None:
    send, sent = play(['{"a": "x"}', FINISH], ['{"n": 2}', FINISH])
    response = Response(send, AnswerFormat(schema=SCHEMA))
    both = await asyncio.gather(*(response.async_get_data(ensure_keys=["n"]) for _ in range(2)))
    assert both == [{"n": 2}, {"n": 2}]
    assert len(sent) == 2


async def test_answer_that_never_has_the_key_raises_or_returns_the_last_one() -> None:
    response = Response(play(*[['{"a": "x"}', FINISH]] * 4)[0], AnswerFormat(schema=SCHEMA))
    with pytest.raises(ResponseError, match=r"missing: n \(attempts: 2\)"):
        await response.async_get_data(ensure_keys=["n"], max_retries=1)
    last = await response.async_get_data(ensure_keys=["n"], max_retries=3, raise_ensure_failure=False)
    assert last == {"a": "x"}


async def test_invalid_object_is_asked_for_again_with_the_reason() -> None:
    def build(data: Any) -> int:
        return int(data["n"])

    send, sent = play(['{"n": "many"}', FINISH], ['{"n": "7"}', FINISH])
    response = Response(send, AnswerFormat(schema=SCHEMA, build=build))
    assert await response.async_get_data_object() == 7
    assert sent[1] is not None
    assert "invalid literal" in sent[1].problem


async def test_result_says_what_is_wrong() -> None:
    answer = ["{", FinishDelta(reason="length")]
    result = await Response(play(answer)[0], AnswerFormat(schema=[(str,)])).async_get_result()
    assert result.parsed is None
    assert result.errors == [
        "the answer was cut off at the model's length limit",
        "the answer contains no JSON array",
    ]


async def test_all_views_of_one_result() -> None:
    response = Response(play(['{"a": "x"}', FINISH])[0], AnswerFormat(schema=SCHEMA))
    assert await response.async_get_data("original") == {"id": "p"}
    assert await response.async_get_data("text") == '{"a": "x"}'
    everything = await response.async_get_data("all")
    assert everything["parsed"] == everything["object"] == {"a": "x"}
    assert everything["meta"]["timings"]["total"] >= everything["meta"]["timings"]["first_token"]
    assert await Response(play(["plain", FINISH])[0]).async_get_data() == "plain"


async def test_fields_of_plain_text_are_a_clear_error() -> None:
    with pytest.raises(ConfigError, match=r"plain text[\s\S]*\.returns\(Model\)`, or .*\.output\("):
        await anext(Response(play(["x", FINISH])[0]).async_get_generator("instant"))


async def test_end_handler_runs_before_any_reader_is_done() -> None:
    order: list[str] = []

    async def at_end(result: Any) -> None:
        await asyncio.sleep(0)
        order.append(result.text)

    response = Response(play(["a", "b", FINISH])[0], at_end=at_end)
    async for text in response.async_get_generator():
        order.append(text)
    assert order == ["a", "b", "ab"]


async def test_error_of_an_end_handler_is_not_lost() -> None:
    async def at_end(result: Any) -> None:
        raise ValueError("handler broke")

    with pytest.raises(ValueError, match="handler broke"):
        await Response(play(["a", FINISH])[0], at_end=at_end).async_get_text()


CUT = FinishDelta(reason="length", usage=Usage(3, 40))


async def test_object_that_was_cut_off_is_a_failure_of_its_own_and_not_asked_for_again() -> None:
    send, sent = play(['{"a": "Christo', CUT])
    response = Response(send, AnswerFormat(schema=SCHEMA, build=dict))
    with pytest.raises(AnswerLengthError, match=r"after 40 tokens: '\{\"a\": \"Christo'\.\n.*`max_tokens`"):
        await response.async_get_data_object()
    assert sent == [None]
    with pytest.raises(AnswerLengthError):
        await response.async_get_data(ensure_keys=["a"])


async def test_object_that_ended_before_the_cut_is_whole() -> None:
    answer = ['{"a": "x", "n": 3} and a lot', CUT]
    result = await Response(play(answer)[0], AnswerFormat(schema=SCHEMA)).async_get_result(check=True)
    assert result.data == {"a": "x", "n": 3}
    assert result.errors == []


async def test_data_that_was_cut_off_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    response = Response(play(['["oak", "a', CUT])[0], AnswerFormat(schema=[(str,)]))
    assert await response.async_get_data() == ["oak", "a"]
    assert "The data is incomplete: the answer was cut off" in caplog.text
    assert "max_tokens" in caplog.text


async def test_output_that_ends_within_its_data_is_read_and_warned_about(
    caplog: pytest.LogCaptureFixture,
) -> None:
    response = Response(play(['["oak", "a', FINISH])[0], AnswerFormat(schema=[(str,)], build=tuple))
    assert await response.async_get_data() == ["oak", "a"]
    assert "The data may be incomplete: the JSON is not complete" in caplog.text
    cut = Response(play(['["oak", "a', CUT])[0], AnswerFormat(schema=[(str,)], build=tuple))
    assert (await cut.async_get_result()).object is None


async def test_answer_that_repeated_itself_is_asked_for_again() -> None:
    send, sent = play(['{"a": "x x x', FinishDelta(reason="repetition")], ['{"a": "x"}', FINISH])
    response = Response(send, AnswerFormat(schema=SCHEMA, build=dict))
    assert await response.async_get_data_object() == {"a": "x"}
    assert sent[1] is not None
    assert "repeated itself" in sent[1].problem


@pytest.mark.parametrize(("length", "on_the_loop"), [(LONG - 1, True), (LONG, False)])
async def test_document_of_a_long_answer_is_read_in_a_thread(length: int, on_the_loop: bool) -> None:
    threads: set[bool] = set()
    here = threading.get_ident()

    def read_bare(text: str) -> Any:
        threads.add(threading.get_ident() == here)
        return {"a": len(text)}

    format = AnswerFormat(schema=SCHEMA, build=dict, read_bare=read_bare, is_typed=True)
    response = Response(play(["x" * length, FINISH])[0], format)
    assert await response.async_get_data_object() == {"a": length}
    assert await response.async_get_data() == {"a": length}
    assert [event async for event in response.async_get_generator("instant")] == []
    assert [pair async for pair in response.async_get_generator("specific", specific=["error"])] == []
    assert threads == {on_the_loop}


async def test_answer_that_is_nested_too_deeply_is_asked_for_again_with_the_reason() -> None:
    send, sent = play(['{"a": ' + "[" * 1_000_000, FINISH], ['{"a": "x"}', FINISH])
    response = Response(send, AnswerFormat(schema=SCHEMA, build=dict, is_typed=True))
    assert await response.async_get_data_object() == {"a": "x"}
    assert sent[1] is not None
    assert sent[1].problem == f"the answer is nested deeper than {DEEPEST} levels"


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"a": "draft"}</think>{"a": "x"}', {"a": "x"}),
        ('{"a": "draft"} no\n</think>\n```json\n{"a": "x"}\n```', {"a": "x"}),
        ('{"a": "1"} and {"a": "2"}</thinking>{"a": "x"}', {"a": "x"}),
        ('{"a": "draft"}</think>{"b": "x"}', {"a": "draft"}),
        ('{"a": "draft"}</think>{"a": "x', None),
        ("so it is\n</think>\n42", {"a": 42}),
        ('{"a": "of </think>{\\"a\\": 1}"}', {"a": 'of </think>{"a": 1}'}),
        ('{"a": "x"} in <think>{"a": 1}</think> {"a": 2}', {"a": "x"}),
        ('{"a": "x"}, then I wrote </think>.', {"a": "x"}),
    ],
)
async def test_document_before_a_lone_end_of_reasoning_is_a_draft(text: str, data: Any) -> None:
    def read_bare(text: str) -> Any:
        return {"a": int(text)}

    format = AnswerFormat(schema=SCHEMA, read_bare=read_bare, is_typed=True)
    result = await Response(play([text, FINISH])[0], format).async_get_result()
    assert (result.data, result.text) == (data, text)


async def test_text_that_names_the_end_of_reasoning_stays_whole() -> None:
    text = 'Write </think> first, then {"a": 1}.'
    assert await Response(play([text, FINISH])[0]).async_get_data() == text


async def test_error_about_an_answer_shows_only_its_beginning() -> None:
    answer = ['{"a": "' + "x" * 500_000, FINISH]
    response = Response(
        play(answer)[0], AnswerFormat(schema=SCHEMA, build=dict, is_typed=True), max_retries=0
    )
    with pytest.raises(ResponseError, match=r"The last answer was: .*xxx") as caught:
        await response.async_get_data_object()
    assert len(str(caught.value)) < 1000


async def test_fields_of_prose_end_with_an_error_event() -> None:
    response = Response(play(["Jupiter.", FINISH])[0], AnswerFormat(schema=SCHEMA))
    (event,) = [event async for event in response.async_get_generator("instant")]
    assert (event.event_type, event.path, event.value, event.is_complete) == ("error", "", None, False)
    assert event.error is not None
    assert event.error.message.startswith("Cannot read data: the answer contains no JSON object")
    (pair,) = [pair async for pair in response.async_get_generator("specific", specific="error")]
    assert isinstance(pair[1], ResponseError)


async def test_fields_that_were_cut_off_end_with_an_error_event() -> None:
    response = Response(play(['{"a": "Christo', CUT])[0], AnswerFormat(schema=SCHEMA))
    events = [event async for event in response.async_get_generator("instant")]
    assert isinstance(events[-1].error, AnswerLengthError)
    assert events[-1].full_data == {"a": "Christo"}
    assert not any(event.is_complete for event in events)


async def test_only_reader_of_fields_is_warned_of_prose(caplog: pytest.LogCaptureFixture) -> None:
    response = Response(play(["Jupiter.", FINISH])[0], AnswerFormat(schema=SCHEMA))
    assert len([event async for event in response.stream_alone("instant", None)]) == 1
    assert caplog.text.count("contains no JSON object: 'Jupiter.'") == 1
