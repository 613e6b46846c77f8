"""How long a request may take, and how often it is tried."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from dovetail.data.numbers import is_number
from dovetail.data.text import explain_choices
from dovetail.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimits:
    """Seconds: to connect, until the first token, between two pieces, and for the whole request."""

    connect: float = 10.0
    first_token: float = 180.0
    idle: float = 90.0
    total: float = 900.0

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """The limits that the setting `model.timeouts` asks for."""
        return cls(**_read_numbers(cls, values, "model.timeouts"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often a request is tried, and the seconds between: doubled each time, a little random.

    A server's `Retry-After` counts instead, unless it is longer than `longest_wait`: then the error is told.
    """

    attempts: int = 4
    first_delay: float = 0.5
    longest_delay: float = 8.0
    longest_wait: float = 60.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """The policy that the setting `model.retries` asks for."""
        return cls(**_read_numbers(cls, values, "model.retries"))

    def choose_delay(self, attempt: int, retry_after: float | None) -> float | None:
        """The seconds to wait after the failed attempt number `attempt`; None means give up."""
        if attempt >= self.attempts or (retry_after or 0.0) > self.longest_wait:
            return None
        if retry_after is not None:
            return retry_after
        delay = min(self.longest_delay, self.first_delay * 2 ** min(attempt - 1, 60))
        return delay * random.uniform(0.5, 1.0)


def _read_numbers(kind: type[Any], values: Mapping[str, Any], setting: str) -> dict[str, Any]:
    known = [field.name for field in fields(kind) if field.name != "sleep"]
    for name, value in values.items():
        if name not in known:
            raise ConfigError(f"{setting}: {explain_choices('key', name, known)}")
        if not is_number(value) or value < 0:
            raise ConfigError(f"{setting}.{name} must be a finite number that is not negative, got {value!r}")
    return dict(values)
