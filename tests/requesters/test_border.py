"""What any requester brings is clean when it reaches the runtime."""

import math
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.data.clean import clean_text
from dovetail.data.shapes import LARGEST_COUNT
from dovetail.errors import ModelError
from dovetail.events.delta import Delta, FinishDelta, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from dovetail.requesters.border import LONGEST_ID, LONGEST_NAME, MOST_CALLS, clean_deltas


async def play(deltas: Sequence[Delta]) -> AsyncGenerator[Delta, None]:
    for delta in deltas:
        yield delta


async def clean(*deltas: Delta) -> list[Delta]:
    return [delta async for delta in clean_deltas(play(deltas))]


async def test_clean_deltas_pass_as_the_same_objects() -> None:
    given: list[Delta] = [TextDelta("a"), TextDelta("é"), ReasoningDelta("日本"), TextDelta("😀")]
    cleaned = await clean(*given)
    assert all(one is other for one, other in zip(cleaned, given, strict=True))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    ("text", "thought", "rest"),
    [
        ('<think>{"a": 9}</think>{"a": 1}', '{"a": 9}', '{"a": 1}'),
        ("\n<think>\nHm <b>\n</think>\n\nYes </think>", "\nHm <b>\n", "Yes </think>"),
        ("<think>cut off", "cut off", ""),
        ('<thinking>{"a": 9}</think></thinking>{"a": 1}', '{"a": 9}</think>', '{"a": 1}'),
        ("<thinker>", "", "<thinker>"),
        ("<thin air>", "", "<thin air>"),
        ("  Yes <think>no</think>", "", "  Yes <think>no</think>"),
        ("<thi", "", "<thi"),
        ("\n ", "", "\n "),
    ],
)
@pytest.mark.parametrize("end", [(FinishDelta(),), ()])
async def test_text_in_think_tags_at_the_beginning_is_reasoning(
    text: str, thought: str, rest: str, size: int, end: tuple[FinishDelta, ...]
) -> None:
    pieces = [TextDelta(text[place : place + size]) for place in range(0, len(text), size)]
    cleaned = await clean(*pieces, *end)
    assert "".join(delta.text for delta in cleaned if isinstance(delta, ReasoningDelta)) == thought
    assert "".join(delta.text for delta in cleaned if isinstance(delta, TextDelta)) == rest
    assert cleaned[-1:] == [*end] or not end


@pytest.mark.parametrize("kind", [TextDelta, ReasoningDelta])
async def test_a_character_whose_halves_come_in_two_deltas_is_joined(kind: Any) -> None:
    assert await clean(kind("a\ud83d"), kind("\ude00b")) == [kind("a"), kind("😀b")]
    assert await clean(kind("\ud83d"), kind("\ude00")) == [kind("😀")]


async def test_half_a_character_is_replaced_when_something_else_follows() -> None:
    finish = FinishDelta()
    assert await clean(TextDelta("a\ud83d"), TextDelta("b"), finish) == [
        TextDelta("a"),
        TextDelta("\ufffdb"),
        finish,
    ]
    assert await clean(TextDelta("a\ud83d"), ReasoningDelta("b")) == [
        TextDelta("a"),
        TextDelta("\ufffd"),
        ReasoningDelta("b"),
    ]
    assert await clean(TextDelta("a\ud83d"), finish) == [TextDelta("a"), TextDelta("\ufffd"), finish]
    assert await clean(TextDelta("a\ud83d")) == [TextDelta("a"), TextDelta("\ufffd")]


async def test_arguments_of_two_calls_keep_their_halves_apart() -> None:
    cleaned = await clean(
        ToolCallDelta(0, "a", "f", '{"x": "\ud83d'),
        ToolCallDelta(1, "b", "g", '\ude00"}'),
        ToolCallDelta(0, arguments='\ude00"}'),
    )
    assert cleaned == [
        ToolCallDelta(0, "a", "f", '{"x": "'),
        ToolCallDelta(0, arguments="\ufffd"),
        ToolCallDelta(1, "b", "g", '\ufffd"}'),
        ToolCallDelta(0, arguments='\ufffd"}'),
    ]


@pytest.mark.parametrize("call_id", ["call\0", "\ud83d", "\ude00x", "x" * (LONGEST_ID + 1)])
async def test_an_id_that_cannot_be_stored_is_replaced_by_one_of_ours(call_id: str) -> None:
    first, again = await clean(ToolCallDelta(0, call_id, "f"), ToolCallDelta(0, call_id, "f"))
    assert isinstance(first, ToolCallDelta)
    assert first.call_id is not None
    assert first.call_id.startswith("call_")
    assert first.call_id.isascii()
    assert first == again


async def test_names_are_cleaned_and_bounded() -> None:
    [dirty, long] = await clean(ToolCallDelta(0, "a", "f\0\ud83d"), ToolCallDelta(1, "b", "x" * 10**6))
    assert dirty == ToolCallDelta(0, "a", "f\ufffd\ufffd")
    assert long == ToolCallDelta(1, "b", "x" * LONGEST_NAME)


async def test_the_finish_has_counts_that_can_be_added_and_stored() -> None:
    wrong: Any = Usage(-5, math.nan, True, "7", math.inf)  # pyright: ignore[reportArgumentType]
    [finish] = await clean(FinishDelta("x" * 10**6, wrong, "m\0", "r\ud83d"))
    assert isinstance(finish, FinishDelta)
    assert finish.usage == Usage()
    assert (finish.model, finish.request_id, len(finish.reason)) == ("m\ufffd", "r\ufffd", LONGEST_NAME)
    [large] = await clean(FinishDelta(usage=Usage(10**30, 7, cost=0.5)))
    assert isinstance(large, FinishDelta)
    assert large.usage == Usage(LARGEST_COUNT, 7, cost=0.5)


@given(st.lists(st.text(st.sampled_from("aé😀\ud83d\ude00\0"), max_size=3), max_size=8))
async def test_any_cutting_of_a_text_results_in_the_same_clean_text(pieces: list[str]) -> None:
    cleaned = await clean(*(TextDelta(piece) for piece in pieces if piece))
    texts = [delta.text for delta in cleaned if isinstance(delta, TextDelta)]
    assert "".join(texts) == clean_text("".join(pieces))


async def test_closing_early_closes_the_requester() -> None:
    closed: list[bool] = []

    async def speak() -> AsyncGenerator[Delta, None]:
        try:
            yield TextDelta("a")
            yield TextDelta("b")
        finally:
            closed.append(True)

    cleaned = clean_deltas(speak())
    await anext(cleaned)
    await cleaned.aclose()
    assert closed == [True]


async def test_thousands_of_calls_in_one_answer_are_an_error() -> None:
    calls = [ToolCallDelta(index, f"c{index}", "look", "{}") for index in range(MOST_CALLS)]
    assert len(await clean(*calls, *calls)) == 2 * MOST_CALLS
    with pytest.raises(ModelError, match=f"more than {MOST_CALLS} tool calls"):
        await clean(*calls, ToolCallDelta(MOST_CALLS, "one-more", "look", "{}"))
