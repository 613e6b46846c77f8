"""Models that another library talks to: time limits and errors as for our own requesters."""

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, ClassVar

from dovetail.data.secrets import hide_traces
from dovetail.data.text import did_you_mean, expected_one_of, shorten
from dovetail.errors import ConfigError, ContextLengthError, ModelError, TransientModelError
from dovetail.requesters.limits import TimeLimits
from dovetail.requesters.overflow import is_overflow
from dovetail.requesters.prices import Pricing
from dovetail.requesters.refusal import is_transient

_SUPPORTED = re.compile(r"supported (?:model )?providers(?: are)?: ([\w-]+(?:, [\w-]+)*)", re.IGNORECASE)
"""The names in a library's error about a provider that it does not know."""


class ForeignRequester(ABC):
    """A requester whose library does the talking; retries are left to the library."""

    provider: ClassVar[str]
    follows_schema = False
    """The libraries have no common way to make a streamed answer follow a schema."""

    def __init__(self, *, limits: TimeLimits | None = None, price: Pricing | None = None) -> None:
        self._limits = limits or TimeLimits()
        self.price = price

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    @property
    @abstractmethod
    def model(self) -> str:
        """The model's name."""

    @property
    @abstractmethod
    def secrets(self) -> Sequence[str]:
        """Texts to mask when its messages are shown."""

    async def _watch(self, chunks: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
        """Yield the library's chunks within the time limits; its failures become model errors."""
        limit = self._limits.first_token
        try:
            while True:
                failure, chunk = None, None
                try:
                    async with asyncio.timeout(limit):
                        chunk = await anext(chunks)
                except StopAsyncIteration:
                    return
                except TimeoutError:
                    failure = TransientModelError(
                        f"No response from {self.model} within {limit:g} s.", provider=self.provider
                    )
                except Exception as error:  # the libraries raise whatever their own clients raise
                    failure = self._explain(error)
                if failure is not None:
                    raise failure
                yield chunk
                limit = self._limits.idle
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()

    def _explain(self, error: Exception) -> ModelError:
        """Return the model error; not raised from the original, whose text and request may contain a key."""
        if isinstance(error, ModelError):
            return error
        status = getattr(error, "status_code", None)
        status = status if isinstance(status, int) else None
        text = hide_traces(f"{type(error).__name__}: {error}", self.secrets)
        details: dict[str, Any] = {
            "provider": self.provider,
            "status": status,
            "request_id": getattr(error, "request_id", None),
        }
        passing = status is not None and is_transient(status)
        too_long = is_overflow(text) or "ContextLength" in type(error).__name__
        kind = TransientModelError if passing else ContextLengthError if too_long else ModelError
        return kind(f"{self.model} failed: {text}", **details)


def split_model(provider: str, model: str, example: str) -> tuple[str, str]:
    """Split `anthropic:claude-…` into the library's provider and its model."""
    inner, _, rest = model.partition(":")
    if not inner or not rest:
        raise ConfigError(
            f"Invalid model name {f'{provider}:{model}'!r}: expected {provider}:<provider>:<model>.",
            hint=f"For example: {provider}:{example}",
        )
    return inner, rest


def explain_failure(provider: str, model: str, reason: str, hint: str) -> ConfigError:
    """Return the error for a model that the library cannot make, with the names it knows if that is why."""
    inner, full_name = model.partition(":")[0], f"{provider}:{model}"
    if listed := _SUPPORTED.search(reason):
        known = listed[1].split(", ")
        near = did_you_mean(inner, known) or expected_one_of(known)
        return ConfigError(f"Unknown provider {inner!r} in the model name {shorten(full_name)}. {near}")
    return ConfigError(f"Cannot use model {full_name!r}: {reason}", hint=hint)
