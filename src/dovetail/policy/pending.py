"""Waits for what happens in a browser (rules C70 to C79): one waiter per call id, one answer per waiter.

An answer that comes before its waiter is kept for a while; one that comes after the wait ended is refused.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dovetail.data.numbers import is_number
from dovetail.errors import ConfigError

Payload: TypeAlias = Mapping[str, Any]

DEFAULT_SECONDS = 60.0
LONGEST_SECONDS = 24 * 60 * 60.0
EARLY_SECONDS = 30.0
_MOST_EARLY = 1000
_MOST_ENDED = 10_000


@dataclass(frozen=True, slots=True)
class _Waiter:
    future: "asyncio.Future[Payload]"
    timer: asyncio.TimerHandle
    owner: str | None


@dataclass(frozen=True, slots=True)
class _Early:
    payload: Payload
    until: float


class PendingRegistry:
    """Joins calls that wait with the answers that come for them; used from one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiters: dict[str, _Waiter] = {}
        self._early: OrderedDict[tuple[str | None, str], _Early] = OrderedDict()
        self._ended: OrderedDict[str, None] = OrderedDict()

    def register(
        self, tool_call_id: str, timeout_sec: float | None = None, *, owner: str | None = None
    ) -> "asyncio.Future[Payload]":
        """Wait for the answer to a call; a timeout returns `{"status": "timeout"}`.

        Raises:
            ConfigError: the id is blank, is waited for already, or its wait has ended.
        """
        if not tool_call_id.strip():
            raise ConfigError("a wait needs the id of its call")
        if tool_call_id in self._waiters or tool_call_id in self._ended:
            raise ConfigError(f"call {tool_call_id!r} is waited for already, or has been: an id is used once")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Payload] = loop.create_future()
        early = self._take_early(tool_call_id, owner)
        if early is not None:
            self._note_end(tool_call_id)
            future.set_result(early)
            return future
        timer = loop.call_later(normalize_timeout(timeout_sec), self._expire, tool_call_id)
        self._waiters[tool_call_id] = _Waiter(future, timer, owner)
        future.add_done_callback(lambda _: self._forget(tool_call_id))
        return future

    def resolve(
        self, payload: Payload, *, owner: str | None = None
    ) -> Literal["resolved", "stored", "missing"]:
        """Hand in an answer; its `toolCallId` (or `tool_call_id`) says for which call.

        `stored`: nothing waits yet. `missing`: the wait has ended, the answer was given before, or the call
        belongs to another owner.
        """
        call_id = str(payload.get("toolCallId") or payload.get("tool_call_id") or "")
        waiter = self._waiters.get(call_id)
        if waiter is not None:
            if waiter.owner != owner or waiter.future.done():
                return "missing"
            waiter.future.set_result(payload)
            self._forget(call_id)
            return "resolved"
        self._drop_stale()
        if not call_id.strip() or call_id in self._ended or (owner, call_id) in self._early:
            return "missing"
        if len(self._early) >= _MOST_EARLY:
            self._early.popitem(last=False)
        self._early[owner, call_id] = _Early(payload, self._clock() + EARLY_SECONDS)
        return "stored"

    def cancel(self, tool_call_id: str) -> None:
        """End a wait without an answer, as when its run is cancelled."""
        waiter = self._waiters.get(tool_call_id)
        if waiter is not None:
            waiter.future.cancel()
            self._forget(tool_call_id)

    def _expire(self, call_id: str) -> None:
        waiter = self._waiters.get(call_id)
        if waiter is not None and not waiter.future.done():
            waiter.future.set_result({"status": "timeout"})
            self._forget(call_id)

    def _forget(self, call_id: str) -> None:
        waiter = self._waiters.pop(call_id, None)
        if waiter is not None:
            waiter.timer.cancel()
            self._note_end(call_id)

    def _note_end(self, call_id: str) -> None:
        self._ended[call_id] = None
        if len(self._ended) > _MOST_ENDED:
            self._ended.popitem(last=False)

    def _take_early(self, call_id: str, owner: str | None) -> Payload | None:
        self._drop_stale()
        early = self._early.pop((owner, call_id), None)
        return None if early is None else early.payload

    def _drop_stale(self) -> None:
        now = self._clock()
        while self._early and next(iter(self._early.values())).until <= now:
            self._early.popitem(last=False)


def normalize_timeout(seconds: float | None) -> float:
    """A usable time limit: 60 s when there is none that makes sense, at most a day."""
    if not is_number(seconds) or seconds <= 0:
        return DEFAULT_SECONDS
    return min(float(seconds), LONGEST_SECONDS)
