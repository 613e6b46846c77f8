"""A scripted model plays its script."""

import asyncio
from typing import Any

import pytest

from dovetail.errors import ConfigError, ModelError
from dovetail.events.call import ModelRequest, ToolCall
from dovetail.events.delta import Delta, FinishDelta, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from dovetail.requesters.requester import Requester
from dovetail.testing import Break, Gate, Reply, ScriptedRequester


def ask(text: str = "hello") -> ModelRequest:
    return ModelRequest(messages=[{"role": "user", "content": text}])


async def collect(requester: Requester, request: ModelRequest | None = None) -> list[Delta]:
    return [delta async for delta in requester.stream(request or ask())]


async def test_text_comes_as_one_delta_and_an_end() -> None:
    requester = ScriptedRequester(["Hello"])
    assert await collect(requester) == [
        TextDelta("Hello"),
        FinishDelta("stop", model="scripted", request_id="scripted-1"),
    ]


async def test_list_comes_as_one_delta_per_item() -> None:
    deltas = await collect(ScriptedRequester([["Hel", "lo", ReasoningDelta("why")]]))
    assert deltas[:-1] == [TextDelta("Hel"), TextDelta("lo"), ReasoningDelta("why")]


async def test_reasoning_text_and_calls_come_in_this_order_and_cut() -> None:
    calls = [{"name": "add", "arguments": {"a": 1}}, ToolCall(call_id="x", name="find", arguments="{}")]
    usage = {"input_tokens": 3, "output_tokens": 2}
    reply = {"text": "abc", "reasoning": "hm", "tool_calls": calls, "cut": 2, "usage": usage}
    assert await collect(ScriptedRequester([reply])) == [
        ReasoningDelta("hm"),
        TextDelta("ab"),
        TextDelta("c"),
        ToolCallDelta(0, "call_1", "add"),
        ToolCallDelta(0, arguments='{"'),
        ToolCallDelta(0, arguments='a"'),
        ToolCallDelta(0, arguments=": "),
        ToolCallDelta(0, arguments="1}"),
        ToolCallDelta(1, "x", "find"),
        ToolCallDelta(1, arguments="{}"),
        FinishDelta("tool-calls", Usage(3, 2), "scripted", "scripted-1"),
    ]


async def test_requests_are_kept_and_one_too_many_is_named() -> None:
    requester = ScriptedRequester(["one"])
    await collect(requester, ask("first"))
    with pytest.raises(
        ConfigError, match="The script has no reply for request 2; its last message is 'again'"
    ):
        await collect(requester, ask("again"))
    assert [request.messages[0]["content"] for request in requester.requests] == ["first", "again"]


async def test_error_comes_after_what_was_said() -> None:
    stream = ScriptedRequester([{"text": "so far", "error": "it broke"}]).stream(ask())
    assert await anext(stream) == TextDelta("so far")
    with pytest.raises(ModelError, match="it broke"):
        await anext(stream)


async def test_error_that_is_a_number_is_refused_with_the_way_to_write_a_status() -> None:
    with pytest.raises(ConfigError, match=r"(?s)must be text, a mapping or an exception, got 401.*'status'"):
        await collect(ScriptedRequester([{"error": 401}]))


async def test_exception_as_reply_is_raised_as_it_is() -> None:
    error = ModelError("no", provider="p", status=500)
    with pytest.raises(ModelError) as caught:
        await collect(ScriptedRequester([error]))
    assert caught.value is error


async def test_status_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="status 429: slow down") as caught:
        await collect(ScriptedRequester([Reply(status=429, body="slow down")]))
    assert caught.value.status == 429


async def test_reply_may_depend_on_the_request() -> None:
    requester = ScriptedRequester([lambda request: str(request.messages[0]["content"]).upper()])
    assert (await collect(requester, ask("loud")))[0] == TextDelta("LOUD")


async def test_when_chooses_the_reply_by_the_last_message() -> None:
    requester = ScriptedRequester(["plain", {"text": "title", "when": "name this", "repeat": True}])
    for said, answer in [("please name this", "title"), ("hi", "plain"), ("name this too", "title")]:
        assert (await collect(requester, ask(said)))[0] == TextDelta(answer)
    assert requester.script.unused == []


async def test_gate_holds_the_reply_until_it_is_opened() -> None:
    gate = Gate()
    seen: list[Delta] = []

    async def read() -> None:
        async for delta in ScriptedRequester([["a", gate, "b"]]).stream(ask()):
            seen.append(delta)

    task = asyncio.create_task(read())
    await gate.reached.async_wait()
    assert seen == [TextDelta("a")]
    gate.open()
    await task
    assert seen[1] == TextDelta("b")


async def test_gate_opens_from_another_thread() -> None:
    requester = ScriptedRequester([["a", {"hold": "middle"}, "b"]])
    gate = requester.script.gate("middle")

    def open_when_reached() -> None:
        assert gate.reached.wait()
        gate.open()

    deltas, _ = await asyncio.gather(collect(requester), asyncio.to_thread(open_when_reached))
    assert deltas[:-1] == [TextDelta("a"), TextDelta("b")]


async def test_gate_that_was_opened_is_closed_again_after_the_script_was_cleared() -> None:
    requester = ScriptedRequester([["a", {"hold": "middle"}, "b"]])
    requester.script.gate("middle").open()
    await collect(requester)
    requester.script.clear()
    requester.script.add(["c", {"hold": "middle"}, "d"])
    deltas = requester.stream(ask())
    assert await anext(deltas) == TextDelta("c")
    following = asyncio.ensure_future(anext(deltas))
    await requester.script.gate("middle").reached.async_wait()
    assert not following.done()
    requester.script.gate("middle").open()
    assert await following == TextDelta("d")
    await deltas.aclose()


@pytest.mark.parametrize("step", [b"data: x", Break()])
async def test_step_that_needs_a_connection_is_refused(step: Any) -> None:
    with pytest.raises(ConfigError, match="needs a connection"):
        await collect(ScriptedRequester([[step]]))


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ({"txt": "a"}, "Unknown reply field 'txt'. Expected one of: text, "),
        ([{"break": "stall"}], "Unknown break 'stall'. Expected one of: reset, close, end"),
        ([{"pause": 1}], r"Invalid step \{'pause': 1\}: expected one of the keys text, "),
    ],
)
async def test_misspelt_script_is_reported(reply: Any, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        await collect(ScriptedRequester([reply]))


async def test_fits_the_contract_and_records_that_it_was_closed() -> None:
    requester = ScriptedRequester([], model="scripted:x", calls_tools=False)
    assert isinstance(requester, Requester)
    await requester.close()
    assert (requester.model, requester.calls_tools, requester.closed) == ("scripted:x", False, True)
