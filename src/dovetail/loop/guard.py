"""The guard in front of a model: it sends a request only if every spend limit allows its worst case.

The worst case is the estimated input at its full price, and an answer as long as the options allow
(`max_tokens`) or of `USUAL_ANSWER` tokens, which the model is then limited to. Only a model that does not
obey, or whose requester passes no limit on, can exceed a limit of money.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager, aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from dovetail.errors import ConfigError, LimitError, ModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta, FinishDelta, ToolCallDelta, Usage
from dovetail.events.run_context import current_context
from dovetail.events.spend import Booking, Need, Spending
from dovetail.ids import new_id
from dovetail.loop.budget import Budget
from dovetail.loop.purse import Purse
from dovetail.loop.spend import Days, explain_shortage
from dovetail.loop.tokens import estimate_text, estimate_tokens, estimate_tools
from dovetail.requesters.lengths import find_longest_answer, list_requesters, read_length, without_length
from dovetail.requesters.prices import Price, Pricing
from dovetail.requesters.requester import Requester

Phase: TypeAlias = Literal["only", "first", "work", "last"]
"""Which request comes next: one that may be all, one that may be all or need a last answer after it, one that
a last answer must follow, or the last answer."""

USUAL_ANSWER = 4_000
"""Output tokens of an answer whose length no option limits."""

LAST_ANSWER = 1_000
"""Output tokens that are kept for the last answer of a run."""


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
        self._kept = Need(kept_calls=1)
        self._last_id = new_id("last")
        self._keeps = False
        accounts = [account for days in self._days for account in days.accounts]
        self._limits_cost = any(limited.limits.cost is not None for limited in (*self._purses, *accounts))

    @property
    def model(self) -> str:
        """The model's name."""
        return self._requester.model

    @property
    def unguarded(self) -> Requester:
        """The requester behind the guard."""
        return self._requester

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

    def keep_last_answer(self) -> AbstractContextManager[None]:
        """Keep what the last answer needs, while the calls of the run may ask models, too."""
        return Purse.keep(self._purses, self._kept)

    async def release(self) -> None:
        """Give back what the days keep for the last answer, once the run has ended."""
        if self._keeps:
            self._keeps = False
            for days in self._days:
                await asyncio.shield(days.book.release(last_id=self._last_id))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the answer's deltas, if the limits allow the request.

        Raises:
            LimitError: a limit does not allow it; nothing was sent.
            ConfigError: money is limited, and the price of the model is not known.
        """
        admitted, self._admitted = self._admitted or await self._open(request), None
        answer = admitted.answer
        sent = self._limit_length(request, admitted.longest) if self._limits_cost else request
        try:
            async with aclosing(self._requester.stream(sent)) as deltas:
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
        """Hold what a request needs; the last answer is shorter if a longer one does not fit."""
        try:
            return await self._hold_answer(request, USUAL_ANSWER)
        except LimitError as error:
            if self.phase != "last" or error.limit != "max-cost":
                raise
        return await self._hold_answer(request, LAST_ANSWER)

    async def _hold_answer(self, request: ModelRequest, longest: int) -> "_Admission":
        answer = _Answer(self._measure(self._limit_length(request, longest), longest), self._price)
        request_id = new_id("req")
        return _Admission(answer, request_id, await self._hold(answer.need, request_id), longest)

    def _measure(self, request: ModelRequest, usual: int) -> "_Measure":
        """Return the worst case of a request."""
        need = self._kept if self.phase == "work" else Need(is_last=self.phase == "last")
        if not self._limits_cost:
            return _Measure(0, need)
        tokens = _estimate_input(request)
        price = self._price.find_price_for(tokens) if self._price is not None else None
        if price is None:
            model = self._name_unpriced(tokens)
            raise ConfigError(
                f"The cost of a run is limited, but the price of {model!r} is not known.",
                hint=f'Set model.prices."{model}" to {{input = …, output = …}}, per million tokens '
                "(0 if it is free), or remove the limit of cost.",
            )
        longest = find_longest_answer(self._requester, request, usual)
        last = self._limit_length(request, LAST_ANSWER)
        shortest = min(find_longest_answer(self._requester, last, LAST_ANSWER), longest)
        self._kept = Need(kept_cost=_compute(price, tokens, shortest), kept_calls=1)
        need = self._kept if self.phase == "work" else need
        return _Measure(tokens, replace(need, cost=_compute(price, tokens, longest)))

    def _limit_length(self, request: ModelRequest, longest: int) -> ModelRequest:
        """Return the request for an answer of this length; the options may allow more, except in the last."""
        own = [read_length(getattr(each, "options", {})) for each in list_requesters(self._requester)]
        given = read_length(request.options) or max((each for each in own if each), default=None)
        if given is None or longest == USUAL_ANSWER:
            return replace(request, longest=longest)
        options = {**without_length(request.options), "max_tokens": min(given, longest)}
        return replace(request, options=options)

    def _name_unpriced(self, tokens: int) -> str:
        """Return the model without a price; with fallbacks it may not be the first one."""
        for requester in list_requesters(self._requester):
            price: Pricing | None = getattr(requester, "price", None)
            if price is None or price.find_price_for(tokens) is None:
                return requester.model
        return self.model

    async def _hold(self, need: Need, request_id: str) -> list[str]:
        """Hold what a request needs, in every purse and account; return the day of each book.

        While requests in progress hold what it needs, it waits: they end, whatever becomes of this one.
        """
        if self._counts_tokens and self._budget.reached() == "max-tokens":
            raise LimitError(self._budget.explain("max-tokens"), limit="max-tokens")
        seen = Purse.count_settled()
        while (shortage := Purse.hold(self._purses, need)) is not None and shortage.may_fit:
            await Purse.wait_for_settled(seen)
            seen = Purse.count_settled()
        if shortage is not None:
            is_own = shortage.limits is self._budget.purse.limits
            raise explain_shortage(shortage, run="this run" if is_own else "a run above this one")
        booked: list[str] = []
        try:
            for days in self._days:
                booked.append(await self._book(days, need, request_id))
        except BaseException:
            Purse.settle(self._purses, need, None)
            await asyncio.shield(self._correct(booked, request_id, need, Spending()))
            raise
        return booked

    async def _book(self, days: Days, need: Need, request_id: str) -> str:
        """Book a request for its day; the first one of a run keeps its last answer too, if that fits."""
        run_path = current_context().run_path
        booking = Booking(
            request_id=request_id, last_id=self._last_id, run_id=run_path[0] if run_path else ""
        )
        if self.phase == "first":
            both = replace(self._kept, cost=need.cost)
            with suppress(LimitError):
                day = await days.book.reserve(days.accounts, both, booking)
                self._keeps = True
                return day
        day = await days.book.reserve(days.accounts, need, booking, waits=True)
        self._keeps = bool(need.kept_calls)
        return day

    async def _settle(self, admitted: "_Admission", *, is_sent: bool = True) -> None:
        answer = admitted.answer
        cost = answer.cost if is_sent else 0.0
        Purse.settle(self._purses, answer.need, cost if is_sent else None)
        if admitted.booked:
            # A request that is cancelled is settled all the same.
            usage = answer.usage if is_sent else Usage()
            spent = Spending(cost=cost, calls=int(is_sent), tokens=usage.input_tokens + usage.output_tokens)
            await asyncio.shield(self._correct(admitted.booked, admitted.request_id, answer.need, spent))

    async def _correct(self, booked: Sequence[str], request_id: str, need: Need, spent: Spending) -> None:
        """Replace what the first books hold for a request by what it has spent, each for its day."""
        for days, day in zip(self._days, booked, strict=False):
            await days.book.settle(day, days.accounts, request_id, need.cost, spent)


def guard(requester: Requester, budget: Budget, price: Pricing | None) -> Requester:
    """Return the requester behind a guard, if the budget has spend limits; otherwise as it is."""
    return GuardedRequester(requester, budget, price) if budget.limits_spending else requester


def without_guard(requester: Requester) -> Requester:
    """Return the requester that is behind a guard, if it is behind one."""
    return requester.unguarded if isinstance(requester, GuardedRequester) else requester


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
    """A request that the limits allow, the days for which the books count it, and its length."""

    answer: _Answer
    request_id: str
    booked: list[str]
    longest: int


def _estimate_input(request: ModelRequest) -> int:
    schema = json.dumps(request.schema, ensure_ascii=False, default=str) if request.schema else ""
    return estimate_tokens(request.messages) + estimate_tools(request.tools) + estimate_text(schema)


def _compute(price: Price, input_tokens: int, output_tokens: int) -> float:
    """Return the most that these tokens may cost."""
    highest = Price(input=price.highest_input, output=price.highest_output)
    return highest.cost_of(Usage(input_tokens=input_tokens, output_tokens=output_tokens))
