"""The guard in front of a model: it sends a request only if every spend limit allows its worst case.

The worst case is the estimated input at its full price, and an answer as long as the options allow
(`max_tokens`) or of `USUAL_ANSWER` tokens. Only an answer that is longer than that can exceed a limit of
money, by the price of the tokens above it.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dovetail.errors import ConfigError, LimitError, ModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta, FinishDelta, ToolCallDelta, Usage
from dovetail.events.spend import DayAccount, Need
from dovetail.loop.budget import Budget
from dovetail.loop.spend import Purse, explain_shortage
from dovetail.loop.tokens import estimate_text, estimate_tokens, estimate_tools
from dovetail.requesters.prices import Price, Pricing
from dovetail.requesters.requester import Requester

Phase: TypeAlias = Literal["only", "work", "last"]
"""Which request comes next: one that may be all, one that a last answer must follow, or the last answer."""

USUAL_ANSWER = 4_000
"""Output tokens of an answer whose length no option limits."""

LAST_ANSWER = 1_000
"""Output tokens that are kept for the last answer of a run."""

_LENGTHS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


class GuardedRequester:
    """A requester whose requests count for a budget, for those above it and for their days.

    With `counts_tokens` it counts the tokens, too; a loop does so itself.
    """

    def __init__(
        self, requester: Requester, budget: Budget, price: Pricing | None, *, counts_tokens: bool = False
    ) -> None:
        self.phase: Phase = "only"
        self._requester = requester
        self._budget = budget
        self._price = price
        self._counts_tokens = counts_tokens
        self._purses = budget.purses
        self._days = budget.days
        self._admitted: _Admission | None = None
        accounts: Sequence[DayAccount] = self._days.accounts if self._days else ()
        self._limits_cost = any(limited.limits.cost is not None for limited in (*self._purses, *accounts))

    @property
    def model(self) -> str:
        """The model's name."""
        return self._requester.model

    @property
    def follows_schema(self) -> bool:
        """Whether the model can be made to follow a schema."""
        return self._requester.follows_schema

    @property
    def calls_tools(self) -> bool:
        """Whether the model calls functions."""
        return self._requester.calls_tools

    def __getattr__(self, name: str) -> Any:
        """Return an optional attribute of the requester."""
        return getattr(self._requester, name)

    async def close(self) -> None:
        """Close the requester."""
        await self._requester.close()

    async def admit(self, request: ModelRequest) -> None:
        """Hold now what the next request that is sent needs; raises as `stream` does."""
        self._admitted = await self._open(request)

    async def withdraw(self) -> None:
        """Release what `admit` holds, if the request was not sent."""
        admitted, self._admitted = self._admitted, None
        if admitted is not None:
            await self._settle(admitted, is_sent=False)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the answer's deltas, if the limits allow the request.

        Raises:
            LimitError: a limit does not allow it; nothing was sent.
            ConfigError: money is limited, and the price of the model is not known.
        """
        admitted, self._admitted = self._admitted or await self._open(request), None
        answer = admitted.answer
        try:
            async with aclosing(self._requester.stream(request)) as deltas:
                async for delta in deltas:
                    answer.take(delta)
                    yield delta
        except ModelError:
            answer.has_failed = True
            raise
        finally:
            if self._counts_tokens:
                self._budget.use_tokens(answer.usage)
            await self._settle(admitted)

    async def _open(self, request: ModelRequest) -> "_Admission":
        answer = _Answer(self._measure(request), self._price)
        return _Admission(answer, await self._hold(answer.need))

    def _measure(self, request: ModelRequest) -> "_Measure":
        """Return the worst case of a request."""
        is_work = self.phase == "work"
        if not self._limits_cost:
            return _Measure(0, Need(kept_calls=int(is_work)))
        tokens = _estimate_input(request)
        price = self._price.find_price_for(tokens) if self._price is not None else None
        if price is None:
            raise ConfigError(
                f"The cost of a run is limited, but the price of {self.model!r} is not known.",
                hint=f'Set model.prices."{self.model}" to {{input = …, output = …}}, per million tokens '
                "(0 if it is free), or remove the limit of cost.",
            )
        usual = LAST_ANSWER if self.phase == "last" else USUAL_ANSWER
        longest = _find_longest_answer(self._requester, request) or usual
        kept = _compute(price, tokens, min(LAST_ANSWER, longest)) if is_work else 0.0
        need = Need(cost=_compute(price, tokens, longest), kept_cost=kept, kept_calls=int(is_work))
        return _Measure(tokens, need)

    async def _hold(self, need: Need) -> str | None:
        """Hold what a request needs, in every purse and account; return the day that it counts for."""
        if self._counts_tokens and self._budget.reached() == "max-tokens":
            raise LimitError(self._budget.explain("max-tokens"), limit="max-tokens")
        shortage = Purse.hold(self._purses, need)
        if shortage is not None:
            raise explain_shortage(shortage)
        if self._days is None:
            return None
        try:
            return await self._days.book.reserve(self._days.accounts, need)
        except BaseException:
            Purse.settle(self._purses, need, None)
            raise

    async def _settle(self, admitted: "_Admission", *, is_sent: bool = True) -> None:
        answer, day = admitted.answer, admitted.day
        cost = answer.cost if is_sent else 0.0
        Purse.settle(self._purses, answer.need, cost if is_sent else None)
        if self._days is not None and day is not None:
            change, calls = cost - answer.need.cost, 0 if is_sent else -1
            # A request that is cancelled is settled all the same.
            await asyncio.shield(self._days.book.correct(day, self._days.accounts, change, calls))


def guard(requester: Requester, budget: Budget, price: Pricing | None) -> Requester:
    """Return the requester behind a guard, if the budget has spend limits; otherwise as it is."""
    return GuardedRequester(requester, budget, price) if budget.limits_spending else requester


@dataclass(frozen=True, slots=True)
class _Measure:
    input_tokens: int
    need: Need


class _Answer:
    """What the answer to one request costs."""

    def __init__(self, measure: _Measure, price: Pricing | None) -> None:
        self.need = measure.need
        self.has_failed = False
        self._input_tokens = measure.input_tokens
        self._price = price
        self._received = 0
        self._finish: FinishDelta | None = None

    def take(self, delta: Delta) -> None:
        """Note one delta."""
        if isinstance(delta, FinishDelta):
            self._finish = delta
        elif isinstance(delta, ToolCallDelta):
            self._received += len(delta.arguments)
        else:
            self._received += len(getattr(delta, "text", ""))

    @property
    def usage(self) -> Usage:
        """The usage that the model reported."""
        return self._finish.usage if self._finish else Usage()

    @property
    def cost(self) -> float:
        """The cost as reported; as estimated, if the answer broke off or its usage was not reported."""
        usage, price = self.usage, self._price
        if self.has_failed and not self._received:
            return 0.0  # providers charge nothing for a request that they refuse
        if usage.cost is not None or price is None:
            return usage.cost or 0.0
        if not usage.input_tokens and not usage.output_tokens:
            usage = Usage(input_tokens=self._input_tokens, output_tokens=self._received // 3)
        return price.apply(usage).cost or 0.0


@dataclass(frozen=True, slots=True)
class _Admission:
    """A request that the limits allow, and the day that it counts for, if days are limited."""

    answer: _Answer
    day: str | None


def _estimate_input(request: ModelRequest) -> int:
    schema = json.dumps(request.schema, ensure_ascii=False, default=str) if request.schema else ""
    return estimate_tokens(request.messages) + estimate_tools(request.tools) + estimate_text(schema)


def _find_longest_answer(requester: Requester, request: ModelRequest) -> int | None:
    """Return the output tokens that the options of a request or its requester allow, if they are limited."""
    for options in (request.options, getattr(requester, "options", {})):
        for name in _LENGTHS:
            if isinstance(limit := options.get(name), int):
                return limit
    return None


def _compute(price: Price, input_tokens: int, output_tokens: int) -> float:
    """Return the most that these tokens may cost."""
    highest = Price(input=price.highest_input, output=price.highest_output)
    return highest.cost_of(Usage(input_tokens=input_tokens, output_tokens=output_tokens))
