"""The feed gathers news for other processes, and a reader that is too slow starts again."""

import asyncio
import json
from typing import Any

from dovetail.runs.feed import MOST_WAITING, RESET, Feed


async def test_news_that_come_together_are_announced_together() -> None:
    announced: asyncio.Queue[str] = asyncio.Queue()
    feed = Feed(announced.put_nowait)
    feed.report_session("ann", "s", "created")
    feed.report_run("ann", "r", "s", "running")
    bundle: list[Any] = json.loads(await announced.get())
    assert [(owner, news["type"]) for owner, news in bundle] == [("ann", "session"), ("ann", "run")]
    assert announced.empty()


async def test_long_bundles_are_cut_so_that_none_is_lost() -> None:
    announced: list[str] = []
    feed = Feed(announced.append)
    for number in range(200):
        feed.report_session("ann", f"session-{number}", "changed")
    feed.flush()
    assert len(announced) > 1
    assert max(map(len, announced)) < 7000
    heard = Feed(lambda news: None)
    async with heard.read("ann") as reader:
        await reader.next()
        for bundle in announced:
            heard.hear(bundle)
        assert len(await reader.next()) == 200


async def test_a_reader_that_is_too_slow_starts_again() -> None:
    feed = Feed(lambda news: None)
    async with feed.read("ann") as reader:
        assert await reader.next() == [RESET]
        for number in range(MOST_WAITING + 1):
            feed.report_session("ann", str(number), "changed")
        assert await reader.next() == [RESET]
    feed.flush()


async def test_a_reset_drops_no_news_that_wait() -> None:
    feed = Feed(lambda news: None)
    async with feed.read("ann") as reader:
        await reader.next()
        feed.report_session("ann", "s", "changed")
        feed.reset()
        feed.reset()
        reset, changed = await reader.next()
        assert reset == RESET
        assert changed["session_id"] == "s"
    feed.flush()


async def test_what_repeats_the_newest_news_is_left_out() -> None:
    feed = Feed(lambda news: None)
    async with feed.read("ann") as reader:
        await reader.next()
        for _ in range(3):
            feed.report_session("ann", "s", "changed")
        assert len(await reader.next()) == 1
    feed.flush()
