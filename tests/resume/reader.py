"""A client that follows the events of a run across faults, as its page would."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

from patience import PATIENCE
from resume.world import World

Entry = dict[str, Any]


class Reader:
    """Reads a run to its end; `entries` are the events it knows, without those that were reported as void."""

    def __init__(self, world: World, run_id: str) -> None:
        self.run_id = run_id
        self.entries: list[Entry] = []
        self._world = world
        self._news = asyncio.Condition()
        self._task = asyncio.create_task(self._follow())

    async def wait_for(self, matches: Callable[[Entry], bool], what: str) -> Entry:
        """Wait for an event."""
        try:
            async with asyncio.timeout(PATIENCE), self._news:
                while not (found := [entry for entry in self.entries if matches(entry)]):
                    await self._news.wait()
        except TimeoutError as error:
            seen = [(entry["number"], entry["type"]) for entry in self.entries[-8:]]
            raise AssertionError(f"timed out: {what}; last seen of {self.run_id}: {seen}") from error
        return found[-1]

    async def wait_for_end(self) -> Entry:
        """Wait until the run has ended."""
        return await self.wait_for(self._is_end, "the end of the run")

    async def close(self) -> None:
        """Stop reading; a stream that is closing by itself is let, or its connection would stay open."""
        if not self._has_ended:
            self._task.cancel()
        await asyncio.wait([self._task])

    @property
    def _has_ended(self) -> bool:
        return bool(self.entries) and self._is_end(self.entries[-1])

    def _is_end(self, entry: Entry) -> bool:
        return entry["type"] == "run-end" and entry["path"] == [self.run_id]

    async def _follow(self) -> None:
        while not self._has_ended:
            after = self.entries[-1]["number"] if self.entries else 0
            stream = self._world.stream(f"/api/v1/runs/{self.run_id}/events?after={after}")
            async with aclosing(stream):  # left to the garbage collector, it would keep its connection
                async for entry in stream:
                    await self._take(entry)
                    if self._has_ended:
                        return

    async def _take(self, entry: Entry) -> None:
        async with self._news:
            if entry["type"] == "run-resume":  # what was shown beyond that number was never stored
                self.entries = [one for one in self.entries if one["number"] <= entry["after"]]
            self.entries.append(entry)
            self._news.notify_all()
