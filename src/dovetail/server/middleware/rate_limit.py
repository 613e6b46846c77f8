"""Rate limits: a token bucket for each caller, which refills over time."""

import math
import time
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from dovetail.server.errors import error_response, is_api

_MOST_CALLERS = 10_000


class Buckets:
    """Token buckets by caller; each holds `per_minute` tokens and refills in one minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = float(per_minute)
        self._rate = per_minute / 60
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, caller: str) -> float:
        """Take a token; return the seconds to wait if none is left, otherwise 0."""
        now = self._clock()
        left, since = self._left.get(caller, (self._size, now))
        left = min(self._size, left + (now - since) * self._rate)
        if left < 1:
            return (1 - left) / self._rate
        if caller not in self._left and len(self._left) >= _MOST_CALLERS:
            self._forget(now)
        self._left[caller] = (left - 1, now)
        return 0.0

    def _forget(self, now: float) -> None:
        """Forget callers whose buckets are full again; if all are in use, the oldest ones."""
        full = [
            caller
            for caller, (left, since) in self._left.items()
            if left + (now - since) * self._rate >= self._size
        ]
        for caller in full or list(self._left)[: _MOST_CALLERS // 10]:
            del self._left[caller]


class RateLimit:
    """Respond with 429 if a caller exceeds the limit: an owner, or an address if the owner is not known.

    With `by_address` owners are ignored: if all callers are the same owner, only addresses differ.
    """

    def __init__(self, app: ASGIApp, *, per_minute: int, by_address: bool = False) -> None:
        self._app = app
        self._by_address = by_address
        self._per_minute = per_minute
        self._buckets = Buckets(per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "http" and is_api(scope["path"]):
            seconds = math.ceil(self._buckets.take(self._find_caller(scope)))
            if seconds:
                response = refuse_for(
                    seconds, f"Rate limit exceeded: {self._per_minute} requests per minute.", scope
                )
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _find_caller(self, scope: Scope) -> str:
        owner = None if self._by_address else scope.get("owner")
        if owner is not None:
            return f"owner {owner}"
        client = scope.get("client")
        return f"address {client[0] if client else ''}"


def refuse_for(seconds: int, message: str, scope: Scope) -> Response:
    """Return the response to a caller who has to wait."""
    error = {"type": "rate_limited", "message": message, "hint": f"Try again in {seconds} s."}
    response = error_response(429, error, scope["path"])
    response.headers["retry-after"] = str(seconds)
    return response
