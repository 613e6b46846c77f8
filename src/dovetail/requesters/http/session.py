"""The HTTP session that requesters share.

Each event loop has one session; it is closed when its last user releases it or the loop ends.
"""

import asyncio
import atexit
import concurrent.futures
import threading
import weakref
from collections.abc import AsyncGenerator
from typing import Any

from dovetail.lazy import lazy
from dovetail.version import __version__

aiohttp = lazy("aiohttp")
LIMIT = 1000
"""Maximum connections of one loop; further requests wait for a free one."""
KEEP_ALIVE = 30.0
"""Seconds that an idle connection stays open."""

CLOSE_LIMIT = 1.0


class _Shared:
    """A loop's session, its users, and the generator that closes it when the loop ends."""

    def __init__(self) -> None:
        connector = aiohttp.TCPConnector(limit=LIMIT, keepalive_timeout=KEEP_ALIVE)
        self.session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"user-agent": f"dovetail/{__version__}"},
        )
        self.users: weakref.WeakSet[Any] = weakref.WeakSet()
        self.keeper = self._keep()

    async def _keep(self) -> AsyncGenerator[None, None]:
        # Event loops close their open generators before they end: that is the moment to close the session.
        try:
            yield
        finally:
            await self.session.close()


_lock = threading.Lock()
_shared: dict[asyncio.AbstractEventLoop, _Shared] = {}


async def get_session(user: object) -> Any:
    """Return the running loop's session; `user` keeps it open until `release`."""
    loop = asyncio.get_running_loop()
    shared = _shared.get(loop)
    if shared is None or shared.session.closed:
        shared = _Shared()
        await anext(shared.keeper)
        _remember(loop, shared)
    shared.users.add(user)
    return shared.session


async def release(user: object) -> None:
    """Close the running loop's session if `user` was its last user."""
    loop = asyncio.get_running_loop()
    shared = _shared.get(loop)
    if shared is None or user not in shared.users:
        return
    shared.users.discard(user)
    if not shared.users:
        with _lock:
            _shared.pop(loop, None)
        await shared.keeper.aclose()


def _remember(loop: asyncio.AbstractEventLoop, shared: _Shared) -> None:
    with _lock:
        for ended in [known for known in _shared if known.is_closed()]:
            del _shared[ended]
        _shared[loop] = shared


@atexit.register
def _close_all() -> None:
    """Close the sessions of loops in other threads, to avoid warnings at exit."""
    closing = [
        asyncio.run_coroutine_threadsafe(shared.keeper.aclose(), loop)
        for loop, shared in list(_shared.items())
        if loop.is_running()
    ]
    concurrent.futures.wait(closing, timeout=CLOSE_LIMIT)  # a loop may stop before it gets to it
