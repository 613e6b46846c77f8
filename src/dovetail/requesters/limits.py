"""Time limits and retries of a request."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from dovetail.settings.model import RetrySettings, TimeLimits

__all__ = ["RetryPolicy", "TimeLimits"]


class RetryPolicy(RetrySettings):
    """The number of attempts, and the seconds between them: doubled each time, with jitter.

    A server's `Retry-After` is used instead; if it is longer than `longest_wait`, the error is raised.
    """

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def choose_delay(self, attempt: int, retry_after: float | None) -> float | None:
        """Return the seconds to wait after failed attempt number `attempt`; None means give up."""
        if attempt >= self.attempts or (retry_after or 0.0) > self.longest_wait:
            return None
        if retry_after is not None:
            return retry_after
        delay = min(self.longest_delay, self.first_delay * 2 ** min(attempt - 1, 60))
        return delay * random.SystemRandom().uniform(0.5, 1.0)
