"""Streams that are watched over while they are read."""

import asyncio

import aiohttp

from dovetail.events.delta import TextDelta
from dovetail.requesters.http.stream import Watchdog
from dovetail.requesters.limits import TimeLimits
from dovetail.testing import Gate, Reply, ScriptedServer


async def test_a_paused_stream_reads_nothing_from_its_socket_and_continues_by_itself() -> None:
    gate = Gate()
    reply = Reply(steps=[TextDelta("one"), gate, TextDelta("two")])
    async with ScriptedServer([reply]) as server, aiohttp.ClientSession() as session:
        body = {"model": "m", "messages": [], "stream": True}
        async with session.post(f"{server.url}/chat/completions", json=body) as response:
            watchdog = Watchdog(response, TimeLimits(), asyncio.get_running_loop().time() + 30)
            while b"one" not in await watchdog.read():
                pass
            watchdog.rest(0.01)
            assert response.connection is not None
            assert response.connection.transport is not None
            assert not response.connection.transport.is_reading()
            gate.open()
            assert b"two" in await watchdog.read()
            watchdog.stop()
