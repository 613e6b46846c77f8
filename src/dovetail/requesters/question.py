"""Ask a model one question, to see whether it answers and how fast."""

import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from dovetail.errors import TransientModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProgressDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from dovetail.requesters.border import clean_deltas
from dovetail.requesters.requester import Requester

QUESTION = "What is the capital of France? Answer in one short sentence."
SHORTEST_SPAN = 0.05
"""Seconds between the first and the last delta from which on a speed can be measured."""


@dataclass(slots=True)
class Answer:
    """One answer of a model, with the seconds until its first and its last delta."""

    text: str = ""
    reasoning: str = ""
    call: str = ""
    arguments: str = ""
    usage: Usage = field(default_factory=Usage)
    first: float = 0.0
    total: float = 0.0

    def take(self, delta: Delta) -> None:
        """Add one more delta."""
        if isinstance(delta, TextDelta):
            self.text += delta.text
        elif isinstance(delta, ReasoningDelta):
            self.reasoning += delta.text
        elif isinstance(delta, ToolCallDelta) and delta.index == 0:
            self.call = delta.name or self.call
            self.arguments += delta.arguments
        elif isinstance(delta, FinishDelta):
            self.usage = delta.usage

    @property
    def speed(self) -> float | None:
        """Tokens per second after the first delta; None if the answer came too fast to measure it."""
        usage, span = self.usage, self.total - self.first
        written = usage.output_tokens if self.reasoning else usage.output_tokens - usage.reasoning_tokens
        return written / span if written > 0 and span >= SHORTEST_SPAN else None


async def ask(requester: Requester, request: ModelRequest, *, limit: float, hint: str = "") -> Answer:
    """Return a model's answer to a request; it may take `limit` seconds.

    Raises:
        ModelError: the model does not answer; `hint` is what helps if it took too long.
    """
    try:
        async with asyncio.timeout(limit):
            return await _listen(requester, request)
    except TimeoutError:
        raise TransientModelError(
            f"{requester.model} did not answer within {limit:g} s.",
            provider=requester.model.partition(":")[0],
            hint=hint or None,
        ) from None


def say(content: Any) -> list[dict[str, Any]]:
    """Return the messages of a request that asks this."""
    return [{"role": "user", "content": content}]


async def _listen(requester: Requester, request: ModelRequest) -> Answer:
    answer, start = Answer(), time.monotonic()
    asked = replace(request, model=requester.model, stream=True)
    async with aclosing(clean_deltas(requester.stream(asked), asked.sizes)) as deltas:
        async for delta in deltas:
            if isinstance(delta, ProgressDelta):
                continue
            answer.total = time.monotonic() - start
            answer.first = answer.first or answer.total
            answer.take(delta)
    return answer
