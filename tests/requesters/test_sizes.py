"""An answer without an end is ended by us."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from itertools import repeat
from typing import Any

import pytest

from dovetail import Agent
from dovetail.errors import AnswerLengthError
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from dovetail.requesters.border import clean_deltas
from dovetail.settings.limits import AnswerLimits
from dovetail.testing import ScriptedRequester
from endless import PIECES, chat, serve_endless
from patience import PATIENCE

SIZES = AnswerLimits(text=10, reasoning=20, arguments=30)


async def read(delta: Delta, sizes: AnswerLimits = SIZES) -> tuple[list[Delta], bool]:
    """Return what is read of an answer that repeats a delta without an end, and whether it was closed."""
    is_closed = False

    async def speak() -> AsyncGenerator[Delta, None]:
        nonlocal is_closed
        try:
            for each in repeat(delta):
                yield each
        finally:
            is_closed = True

    return [each async for each in clean_deltas(speak(), sizes)], is_closed


@pytest.mark.parametrize(
    ("delta", "expected", "setting"),
    [
        (TextDelta("abcd"), ["abcd", "abcd", "ab"], "10 characters of text. Raise limits.answer.text"),
        (ReasoningDelta("abcdefgh"), ["abcdefgh", "abcdefgh", "abcd"], "limits.answer.reasoning"),
        (ToolCallDelta(0, "c", "saw", "x" * 29), ["x" * 29, "x"], "limits.answer.arguments"),
    ],
)
async def test_an_endless_answer_ends_as_length_at_its_limit(
    delta: Delta, expected: list[str], setting: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        (*deltas, last), is_closed = await read(delta)
    texts = [each.arguments if isinstance(each, ToolCallDelta) else each.text for each in deltas]  # type: ignore[union-attr]
    assert texts == expected
    assert isinstance(last, FinishDelta)
    assert last.reason == "length"
    assert setting in last.notice
    assert setting in caplog.text
    assert is_closed


async def test_an_answer_of_exactly_its_limit_is_whole() -> None:
    async def speak() -> AsyncGenerator[Delta, None]:
        yield TextDelta("abcde")
        yield TextDelta("fghij")
        yield FinishDelta()

    assert [each async for each in clean_deltas(speak(), SIZES)][-1] == FinishDelta()


@pytest.mark.parametrize("delta", [TextDelta(""), ToolCallDelta(0, "c", "saw"), ProviderPartDelta("x", {})])
async def test_pieces_without_a_text_have_an_end(delta: Delta) -> None:
    deltas, is_closed = await read(delta)
    assert is_closed
    assert isinstance(deltas[-1], FinishDelta)


@pytest.mark.parametrize("api", PIECES)
async def test_the_connection_of_an_endless_answer_is_closed(
    api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    first, piece = PIECES[api]
    content_type = "application/vnd.amazon.eventstream" if api == "bedrock" else ""
    async with serve_endless(first, piece, content_type) as server:
        provider = "bedrock" if api == "bedrock" else "mine"
        own = {"base_url": server.url, "api_key": "k", "api": api}
        settings = {
            "model": {"providers": {provider: own}},
            "limits": {"answer": {"text": 1000}},
        }
        agent = Agent(model=f"{provider}:m", settings=settings)
        result = await agent.input("Go.").get_response().async_get_result()
        assert len(result.text) == 1000
        assert result.meta["finish_reason"] == "length"
        async with asyncio.timeout(PATIENCE):
            await server.closed.wait()


async def test_data_of_an_endless_answer_are_refused_with_the_setting() -> None:
    async with serve_endless(chat(content='["'), chat(content="saw, ")) as server:
        settings = {
            "model": {"base_url": server.url, "api_key": "k"},
            "limits": {"answer": {"text": 1000}},
        }
        agent = Agent(model="openai:m", settings=settings).input("Go.").returns(list[str])
        with pytest.raises(
            AnswerLengthError, match=r"cut off after 1,000 characters .* Raise limits\.answer\.text"
        ):
            await agent.async_start()


async def test_a_call_whose_arguments_were_cut_off_is_not_carried_out() -> None:
    called: list[str] = []

    def note(text: str = "") -> str:
        """Note a text."""
        called.append(text)
        return "Noted."

    calls = [ToolCallDelta(0, "a", "note", '{"text": "x"}'), ToolCallDelta(1, "b", "note", '{"text": "y"}')]
    model = ScriptedRequester([[*calls, ToolCallDelta(2, "c", "note", "")], "I could not note it."])
    agent = Agent(model=model, tools=[note], settings={"limits": {"answer": {"arguments": 26}}})
    result = await agent.async_run("Go.")
    assert called == []
    assert (result.text, result.turns, result.notice) == ("I could not note it.", 2, None)


async def test_a_run_whose_answer_was_cut_off_says_so() -> None:
    agent = Agent(model=ScriptedRequester(["saw " * 100]), settings={"limits": {"answer": {"text": 8}}})
    result = await agent.async_run("Go.")
    assert (result.reason, result.finish_reason, result.text) == ("goal", "length", "saw saw ")
    assert result.notice is not None
    assert result.notice.startswith(
        "The answer was cut off after 8 characters of text. Raise limits.answer.text"
    )
