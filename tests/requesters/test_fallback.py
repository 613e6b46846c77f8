"""When a model does not answer, the next one is asked."""

from dataclasses import replace

import pytest

from dovetail import Agent
from dovetail.errors import ModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta, ProgressDelta, TextDelta
from dovetail.requesters.fallback import FallbackRequester
from dovetail.requesters.prices import Price, PublicPrice
from dovetail.testing import ScriptedRequester

HELLO = ModelRequest(messages=[{"role": "user", "content": "hello"}])


def down(name: str) -> ScriptedRequester:
    return ScriptedRequester([{"status": 503, "body": f"{name} is down"}], model=f"scripted:{name}")


async def collect(requester: FallbackRequester) -> list[Delta]:
    return [delta async for delta in requester.stream(HELLO)]


async def test_next_model_answers_when_the_first_does_not() -> None:
    second = ScriptedRequester(["hello"])
    assert (await collect(FallbackRequester([down("a"), second])))[0] == TextDelta("hello")
    assert second.requests == [HELLO]


def test_the_metadata_names_the_model_that_answered() -> None:
    fallback = FallbackRequester([down("a"), ScriptedRequester(["hello", "hi"], model="scripted:b")])
    assert Agent(requester=fallback).input("Hi").get_meta()["requested_model"] == "scripted:b"
    single = ScriptedRequester(["hello"], model="scripted:c")
    assert Agent(requester=single).input("Hi").get_meta()["requested_model"] == "scripted:c"


async def test_each_model_is_asked_under_its_own_name() -> None:
    second = ScriptedRequester(["hello"], model="scripted:b")
    both = FallbackRequester([down("a"), second])
    assert [delta async for delta in both.stream(replace(HELLO, model=both.model))]
    assert second.requests[0].model == ""


async def test_a_model_that_fails_while_it_reads_has_not_begun_to_answer() -> None:
    reading = ProgressDelta("read", 40, 100)
    first = ScriptedRequester([[reading, ModelError("lost", provider="scripted")]])
    deltas = await collect(FallbackRequester([first, ScriptedRequester(["hello"])]))
    assert deltas[:2] == [reading, TextDelta("hello")]


async def test_no_other_model_is_asked_once_one_has_begun() -> None:
    second = ScriptedRequester(["never"])
    stream = FallbackRequester([ScriptedRequester([{"text": "so far", "error": "lost"}]), second]).stream(
        HELLO
    )
    assert await anext(stream) == TextDelta("so far")
    with pytest.raises(ModelError, match="lost"):
        await anext(stream)
    assert second.requests == []


async def test_error_names_every_model_that_failed() -> None:
    with pytest.raises(ModelError, match="All 2 models failed") as caught:
        await collect(FallbackRequester([down("a"), down("b")]))
    assert "- scripted:a: " in str(caught.value)
    assert "b is down" in str(caught.value)
    assert caught.value.status == 503


async def test_it_promises_only_what_all_of_them_can_do() -> None:
    able, unable = ScriptedRequester([]), ScriptedRequester([], follows_schema=False, calls_tools=False)
    both = FallbackRequester([able, unable])
    assert (both.model, both.follows_schema, both.calls_tools) == ("scripted:model", False, False)
    await both.close()
    assert able.closed
    assert unable.closed


def test_the_price_is_the_highest_of_all_and_not_known_if_one_is_not() -> None:
    cheap, dear, unknown = (ScriptedRequester([]) for _ in range(3))
    cheap.price = Price(input=1.0, output=9.0, cache_write=4.0)
    dear.price = Price(input=3.0, output=5.0)
    unknown.price = PublicPrice("nobody:new")
    price = FallbackRequester([cheap, dear]).price
    assert price is not None
    assert price.find_price_for(1_000) == Price(input=4.0, output=9.0)
    price = FallbackRequester([cheap, unknown]).price
    assert price is not None
    assert price.find_price_for(1_000) is None
    assert FallbackRequester([cheap, ScriptedRequester([])]).price is None
