"""Waiting for answers from a browser (rules C70 to C79): one ask per call id, one answer per ask.

An answer that comes before its question is kept for a while; one that comes after the wait is rejected.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dovetail.errors import ConfigError
from dovetail.events.asks import EARLY_SECONDS, OpenAsk, OpenAsks, normalize_timeout

Payload: TypeAlias = Mapping[str, Any]

_MOST_EARLY = 1000
_MOST_ENDED = 10_000


@dataclass(frozen=True, slots=True)
class _Early:
    payload: Payload
    until: float


class PendingRegistry:
    """Match waiting calls with their answers, inside one event loop.

    >>> async def answer() -> None:
    ...     registry = PendingRegistry()
    ...     waiting = registry.register("call_1", timeout_sec=60)
    ...     print(registry.resolve({"toolCallId": "call_1", "value": 3}), await waiting)
    >>> asyncio.run(answer())
    resolved {'toolCallId': 'call_1', 'value': 3}
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asks = OpenAsks()
        self._early: OrderedDict[tuple[str | None, str], _Early] = OrderedDict()
        self._ended: OrderedDict[str, None] = OrderedDict()

    def register(
        self, tool_call_id: str, timeout_sec: float | None = None, *, owner: str | None = None
    ) -> "asyncio.Future[Payload]":
        """Wait for the answer to a call; a timeout returns `{"status": "timeout"}`.

        Raises:
            ConfigError: the id is blank or has already been used.
        """
        if not tool_call_id.strip():
            raise ConfigError("Missing call id.")
        if self._asks.get(tool_call_id) is not None or tool_call_id in self._ended:
            raise ConfigError(f"Call id {tool_call_id!r} has already been used.")
        ask = OpenAsk(
            kind="browser",
            call_id=tool_call_id,
            payload={},
            timeout=normalize_timeout(timeout_sec),
            owner=owner,
        )
        early = self._take_early(tool_call_id, owner)
        if early is not None:
            self._note_end(tool_call_id)
            ask.answer(early)
            return ask.future
        self._asks.add(ask, tool_call_id)
        ask.start_timer()
        ask.future.add_done_callback(lambda _: self._forget(tool_call_id))
        return ask.future

    def resolve(
        self, payload: Payload, *, owner: str | None = None
    ) -> Literal["resolved", "stored", "missing"]:
        """Hand in an answer; its `toolCallId` (or `tool_call_id`) names the call.

        `stored`: nothing waits yet. `missing`: the wait has ended, the call was already answered, or it
        belongs to another owner.
        """
        call_id = str(payload.get("toolCallId") or payload.get("tool_call_id") or "")
        ask = self._asks.get(call_id)
        if ask is not None:
            return "resolved" if ask.owner == owner and ask.answer(payload) else "missing"
        self._drop_stale()
        if not call_id.strip() or call_id in self._ended or (owner, call_id) in self._early:
            return "missing"
        if len(self._early) >= _MOST_EARLY:
            self._early.popitem(last=False)
        self._early[owner, call_id] = _Early(payload, self._clock() + EARLY_SECONDS)
        return "stored"

    def cancel(self, tool_call_id: str) -> None:
        """End a wait without an answer, as when its run is cancelled."""
        ask = self._asks.get(tool_call_id)
        if ask is not None:
            ask.future.cancel()
            self._forget(tool_call_id)

    def _forget(self, call_id: str) -> None:
        if self._asks.remove(call_id) is not None:
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
