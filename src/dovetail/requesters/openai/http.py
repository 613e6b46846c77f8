"""Where an OpenAI-compatible model is reached, and the HTTP session that its requesters share.

Each event loop has one session; it is closed when its last user releases it or the loop ends.
"""

import asyncio
import atexit
import concurrent.futures
import threading
import weakref
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from dovetail.data.secrets import find_secrets, show_address
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.requesters.errors import Failures
from dovetail.requesters.limits import RetryPolicy, TimeLimits
from dovetail.requesters.prices import Price

aiohttp = lazy("aiohttp")
urllib_request = lazy("urllib.request")
Structured: TypeAlias = Literal["auto", "schema", "prompt"]
"""How a schema is enforced: by the server, by the prompt only, or by the server if it can."""

LIMIT = 1000
"""Maximum connections of one loop; further requests wait for a free one."""
KEEP_ALIVE = 30.0
"""Seconds that an idle connection stays open."""

CLOSE_LIMIT = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One model at one address; `body` is merged into every request, over everything else.

    With `stream` off, answers are requested whole, for servers that cannot stream.
    """

    provider: str = "openai"
    model: str
    base_url: str = "https://api.openai.com/v1"
    api_key: str | None = field(default=None, repr=False)
    structured: Structured = "auto"
    stream: bool = True
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    body: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    proxy: str | None = field(default=None, repr=False)
    limits: TimeLimits = field(default_factory=TimeLimits)
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    price: Price | None = None

    def __post_init__(self) -> None:
        if urlsplit(self.base_url).scheme not in ("http", "https"):
            raise ConfigError(
                f"Invalid base_url {show_address(self.base_url)!r} of {self.provider}: must begin with http.",
                hint="Set model.base_url to a full URL, such as http://127.0.0.1:8000/v1.",
            )

    def join(self, path: str) -> str:
        """Return the URL of a route; a query in the base URL is kept."""
        base, _, query = self.base_url.partition("?")
        return f"{base.rstrip('/')}/{path}{'?' if query else ''}{query}"

    def build_headers(self) -> dict[str, str]:
        """Return the headers of every request; the user's own headers win."""
        headers = {"content-type": "application/json"}
        if self.api_key:
            headers["authorization"] = f"Bearer {self.api_key}"
        return {**headers, **{name.lower(): value for name, value in self.headers.items()}}

    def choose_proxy(self) -> str | None:
        """Return the configured proxy, or the environment's for this address, if any."""
        if self.proxy:
            return self.proxy
        parts = urlsplit(self.base_url)
        found = urllib_request.getproxies().get(parts.scheme)
        return None if found is None or urllib_request.proxy_bypass(parts.hostname or "") else found

    def build_failures(self) -> Failures:
        """Return the maker of this endpoint's errors."""
        addresses = [self.base_url, *([self.proxy] if self.proxy else [])]
        return Failures(
            provider=self.provider,
            model=self.model,
            address=show_address(self.base_url),
            has_key=bool(self.api_key),
            secrets=find_secrets(self.api_key, self.headers, addresses),
        )


class _Shared:
    """A loop's session, its users, and the generator that closes it when the loop ends."""

    def __init__(self) -> None:
        connector = aiohttp.TCPConnector(limit=LIMIT, keepalive_timeout=KEEP_ALIVE)
        self.session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
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
