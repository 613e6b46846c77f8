"""Several models for one request: if the first one fails, the next one is asked."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from dovetail.errors import ContextLengthError, ModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta, FinishDelta, ProgressDelta
from dovetail.requesters.clock import note_retry
from dovetail.requesters.prices import HighestPrice, Pricing
from dovetail.requesters.requester import Requester, find_window

logger = logging.getLogger(__name__)


class FallbackRequester:
    """Ask requesters in order, each for its own model; once one has begun to answer, no other is asked.

    `follows_schema` and `calls_tools` are true only if they are true for all of them.

    >>> busy = ScriptedRequester([TransientModelError("Busy.", provider="scripted")])
    >>> Agent(model=FallbackRequester([busy, ScriptedRequester(["Oak."])])).input("A wood?").start()
    'Oak.'
    """

    def __init__(self, requesters: Sequence[Requester]) -> None:
        self.requesters = list(requesters)

    def __repr__(self) -> str:
        return f"FallbackRequester({self.requesters})"

    @property
    def model(self) -> str:
        """The first model's name."""
        return self.requesters[0].model

    @property
    def secrets(self) -> list[str]:
        """Texts to mask when its messages are shown."""
        return [secret for requester in self.requesters for secret in getattr(requester, "secrets", ())]

    @property
    def price(self) -> Pricing | None:
        """The highest price of all models: each of them may answer."""
        prices: list[Pricing | None] = [getattr(requester, "price", None) for requester in self.requesters]
        known = [price for price in prices if price is not None]
        return HighestPrice(tuple(known)) if len(known) == len(prices) else None

    @property
    def follows_schema(self) -> bool:
        """Whether all models can be made to follow a schema."""
        return all(requester.follows_schema for requester in self.requesters)

    @property
    def calls_tools(self) -> bool:
        """Whether all models support tools."""
        return all(requester.calls_tools for requester in self.requesters)

    @property
    def context_tokens(self) -> int | None:
        """The context window of the first model, if it is known without asking its server."""
        return getattr(self.requesters[0], "context_tokens", None)

    async def find_context_tokens(self) -> int | None:
        """Return the context window of the first model; its server may be asked."""
        return await find_window(self.requesters[0])

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the deltas of the first model that answers."""
        failed: list[tuple[str, ModelError]] = []
        for requester in self.requesters:
            begun = False
            try:
                async with aclosing(requester.stream(replace(request, model=""))) as deltas:
                    async for delta in deltas:
                        begun = begun or not isinstance(delta, ProgressDelta)
                        is_end = isinstance(delta, FinishDelta)
                        yield replace(delta, requested=requester.model) if is_end else delta
                return
            except ModelError as error:
                if begun:
                    raise
                failed.append((requester.model, error))
                note_retry(error, 0.0)
                logger.warning("%s failed, trying the next model: %s", requester.model, error.message)
        raise _join(failed) from failed[-1][1]

    async def close(self) -> None:
        """Close all requesters."""
        for requester in self.requesters:
            await requester.close()


def _join(failed: Sequence[tuple[str, ModelError]]) -> ModelError:
    last = failed[-1][1]
    reasons = "\n".join(f"- {model}: {error.message}" for model, error in failed)
    is_too_long = any(isinstance(error, ContextLengthError) for _, error in failed)
    kind = ContextLengthError if is_too_long else ModelError
    return kind(
        f"All {len(failed)} models failed:\n{reasons}",
        provider=last.provider,
        status=last.status,
        request_id=last.request_id,
        hint=last.hint,
        remedy=last.remedy,
    )
