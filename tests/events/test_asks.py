"""An open ask takes exactly one answer, whichever way it comes."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from dovetail.events.asks import TIMEOUT, OpenAsk, OpenAsks, adopt, raised


def make_ask(timeout: float | None = None) -> OpenAsk:
    return OpenAsk(kind="approval", call_id="c", payload={}, timeout=timeout)


async def test_first_answer_wins() -> None:
    ask = make_ask()
    assert ask.answer({"approved": True})
    assert not ask.answer({"approved": False})
    assert await ask.wait() == {"approved": True}


async def test_of_answers_from_many_threads_one_wins() -> None:
    ask = make_ask()
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(ask.answer, range(200)))
    assert won.count(True) == 1
    assert await ask.wait() == won.index(True)


async def test_a_claimed_ask_is_closed_to_others_until_it_is_released() -> None:
    ask = make_ask()
    assert ask.claim()
    assert (ask.is_open, ask.answer(1)) == (False, False)
    ask.release()
    assert ask.answer(2)
    assert await ask.wait() == 2


async def test_a_time_limit_that_passes_while_an_answer_is_stored_applies_if_storing_fails() -> None:
    ask = make_ask(0.001)
    assert ask.claim()
    waiting = asyncio.create_task(ask.wait())
    assert not (await asyncio.wait({waiting}, timeout=0.05))[0]
    ask.release()
    assert await waiting is TIMEOUT


async def test_an_ask_whose_wait_was_cancelled_takes_no_answer() -> None:
    ask = make_ask(60)
    waiting = asyncio.create_task(ask.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not ask.answer(1)


async def test_an_ask_is_known_while_it_is_open() -> None:
    asks, ask = OpenAsks(), make_ask()
    with asks.opened(ask), asks.opened(ask, "another name"):
        assert (asks.get(ask.ask_id), asks.get("another name")) == (ask, ask)
    assert asks.ids == []


async def test_an_asker_adopts_the_ask_that_was_raised_for_its_call_and_no_other() -> None:
    ask = make_ask()
    with raised(ask):
        assert (adopt("approval", "other"), adopt("browser", "c"), ask.is_adopted) == (None, None, False)
        assert adopt("approval", "c") is ask
    assert (ask.is_adopted, adopt("approval", "c")) == (True, None)
