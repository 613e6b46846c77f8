"""The asks of runs: a run waits until a user, a listener or a browser answers, or the time limit is over.

Promises: an ask is stored before anything outside knows of it, and has exactly one answer, which its call
gets once: another question of the call is another ask. A run that is resumed after a crash finds its asks
again, each once and in order, if it asks the same, with the answers that came in between (`earlier_asks`); a
time limit counts from when the ask was stored; an answer may come before its question.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal

from dovetail.errors import ConflictError
from dovetail.events.asks import EARLY_SECONDS, TIMEOUT, OpenAsk, OpenAsks
from dovetail.events.run_events import AskAnswer, AskRequest, Emit
from dovetail.runs.ask_store import AskRecord, AskStore, is_lease_over
from dovetail.runs.earlier_asks import EarlierAsks
from dovetail.store.persist import persist

EARLY_LIMIT = 100
LEASE_SECONDS = 20.0
"""How long a claim lasts if the tab does not say otherwise."""
LOOK_SECONDS = 5.0
"""How often it is checked whether a tab still works on an ask."""
UNCLAIMED_SECONDS = 120.0
"""How long a call waits for a tab that claims or answers it, whatever its time limit."""
ABANDONED: Mapping[str, Any] = {
    "status": "failed",
    "errorText": "The page that ran the tool was closed before it had a result.",
}
UNCLAIMED: Mapping[str, Any] = {
    "status": "failed",
    "errorText": f"No page took the call within {UNCLAIMED_SECONDS:g} s. It was probably closed.",
}
REPLACED: Mapping[str, Any] = {
    "status": "failed",
    "errorText": "The call asks something else now.",
}


class Asks:
    """Store asks and bring them their answers; `announce` reports an answer to the other processes."""

    def __init__(self, store: AskStore, announce: Callable[[str], None] | None = None) -> None:
        self.store = store
        self._announce = announce
        self.on_away: Callable[[str], None] = lambda ask_id: None
        """Called with an ask that was answered while nothing here waits for it."""
        self._open = OpenAsks()

    async def ask(self, ask: AskRecord, emit: Emit, waiting: OpenAsk, earlier: EarlierAsks) -> Any:
        """Ask and wait for the answer; one of the `earlier` asks continues if it asks the same.

        `waiting` is the open ask in memory. The answer of an ask is returned once; an ask whose wait is
        cancelled counts as an earlier one.
        """
        known = await persist(lambda: earlier.take(ask, waiting.unstable))
        record = known or ask
        try:
            if known is None:
                await self._close_replaced(earlier.drop_open(ask), emit)
            value = await self._ask(record, emit, waiting, is_known=known is not None)
        except BaseException:
            if known is not None or waiting.asked.is_set():  # it is stored
                earlier.put_back(record)
            raise
        emit(AskAnswer(record.id, value))
        return value

    async def _ask(self, record: AskRecord, emit: Emit, waiting: OpenAsk, *, is_known: bool) -> Any:
        waiting.timeout = _find_rest(record) if is_known else record.timeout
        with self._open.opened(waiting, record.id):
            if is_known:  # the answer may have come while nothing waited for it
                await persist(lambda: self.fetch(record.id))
            else:
                await persist(lambda: self.store.create(record))
            if record.state == "open" and record.kind == "browser":
                await persist(lambda: self._take_early(record))
            if waiting.is_open and record.state == "open":
                waiting.asked.set()
            # Emitted now: a reader of the question sees an answer that is there already along with it.
            emit(AskRequest(record.id, record.kind, record.call_id, record.payload, record.timeout))
            return await self._wait(record, waiting) if record.state == "open" else record.value

    async def _close_replaced(self, asks: Iterable[AskRecord], emit: Emit) -> None:
        """End asks that their call no longer waits for: it asks something else."""
        for ask in asks:
            if await persist(partial(self.store.close, ask.id, "cancelled", REPLACED)):
                emit(AskAnswer(ask.id, REPLACED))

    async def answer(self, ask_id: str, value: Any, *, owner: str) -> AskRecord:
        """Answer an open ask.

        Raises:
            NotFoundError: the owner has no such ask.
            ConflictError: it has its answer, or its run has ended.
        """
        ask = await self.store.get(ask_id, owner)
        if not await self._give(ask_id, value):
            raise await self._explain_closed(ask_id)
        return ask

    async def acknowledge(
        self,
        call_id: str,
        value: Any,
        *,
        owner: str,
        tab_id: str | None = None,
        run_id: str | None = None,
    ) -> Literal["resolved", "stored", "missing"]:
        """Answer the browser ask of a call; an early answer is kept for a while (rule C92).

        Other chats may have calls with the same id: if a tab or a run is named, only its ask counts. To
        a caller the calls of other owners do not exist.
        """
        known = await self.store.find(owner, call_id, "browser", run_id)
        meant = [ask for ask in known if _is_for(ask, tab_id)]
        for ask in meant:
            if ask.state == "open" and await self._give(ask.id, value):
                return "resolved"
        if meant:
            return "missing"
        key = _early_key(call_id, run_id or tab_id)
        try:
            await self.store.put_early(owner, key, value, seconds=EARLY_SECONDS, limit=EARLY_LIMIT)
        except ConflictError:
            return "missing"
        return "stored"

    async def claim(self, ask_id: str, tab_id: str, *, owner: str, seconds: float = LEASE_SECONDS) -> float:
        """Let only this tab act on a browser ask for a while; return when its lease ends.

        What another tab has begun is not done twice: if its lease has ended, the ask has failed.
        """
        ask = await self.store.get(ask_id, owner)
        if ask.claimed_by != tab_id and is_lease_over(ask):
            await self._give(ask_id, ABANDONED)
        return await self.store.claim(ask, tab_id, seconds)

    async def fetch(self, ask_id: str) -> None:
        """Take an answer that another process has stored, if something here waits for it."""
        waiting = self._open.get(ask_id)
        if waiting is not None and waiting.is_open:
            ask = await self.store.find_by_id(ask_id)
            if ask is not None and ask.state == "answered":
                _wake(waiting, ask.value)

    async def fetch_all(self) -> None:
        """Take every answer that was stored while no news arrived."""
        for ask_id in self._open.ids:
            await self.fetch(ask_id)

    async def _give(self, ask_id: str, value: Any) -> bool:
        """Store an answer and wake the run that waits, here or in another process; False if not open."""
        waiting = self._open.get(ask_id)
        if waiting is None:
            return await self._give_away(ask_id, value)
        if not waiting.claim():
            return False
        try:
            is_stored = await self.store.close(ask_id, "answered", value)
        except BaseException:
            waiting.release()
            raise
        if not is_stored:
            waiting.release()
            await self.fetch(ask_id)  # the answer that was faster, if another process has stored it
            return False
        waiting.is_stored = True
        waiting.resolve(value)
        return True

    async def _give_away(self, ask_id: str, value: Any) -> bool:
        if not await self.store.close(ask_id, "answered", value):
            return False
        waiting = self._open.get(ask_id)
        if waiting is not None:  # its run was taken up here just now
            _wake(waiting, value)
        else:
            if self._announce is not None:
                self._announce(ask_id)
            self.on_away(ask_id)
        return True

    async def _explain_closed(self, ask_id: str) -> ConflictError:
        ask = await self.store.find_by_id(ask_id)
        if ask is not None and ask.state == "cancelled":
            why = (
                "its call has ended without an answer, for example because its agent no longer exists, or "
                "asks something else"
            )
        else:
            why = "it has already been answered, or its run has ended"
        return ConflictError(f"Ask {ask_id!r} is not open: {why}.")

    async def _take_early(self, ask: AskRecord) -> None:
        places = (ask.run_id, ask.payload.get("tab_id"), None)
        early = await self.store.take_early(ask.owner, [_early_key(ask.call_id, place) for place in places])
        if early is not None:
            await self._give(ask.id, early)

    async def _wait(self, ask: AskRecord, waiting: OpenAsk) -> Any:
        value = await (self._wait_for_tab(ask, waiting) if ask.kind == "browser" else waiting.wait())
        if waiting.is_stored:
            return value
        return await self._close(ask, "timeout" if value is TIMEOUT else "answered", value)

    async def _close(self, ask: AskRecord, state: Literal["answered", "timeout"], value: Any) -> Any:
        """End an ask in the store; if another answer was stored in the same moment, that one counts."""
        if await persist(lambda: self.store.close(ask.id, state, value)):
            return value
        return (await persist(lambda: self.store.get(ask.id, ask.owner))).value

    async def _wait_for_tab(self, ask: AskRecord, waiting: OpenAsk) -> Any:
        """Wait for the answer; give up if no tab takes the ask, or the one that did is gone."""
        waiting.start_timer()
        while not (await asyncio.wait({waiting.future}, timeout=LOOK_SECONDS))[0]:
            if failure := await persist(lambda: self._fail_deserted(ask.id)):
                _wake(waiting, failure)
        return waiting.future.result()

    async def _fail_deserted(self, ask_id: str) -> Mapping[str, Any] | None:
        """Answer an ask that no tab works on; return the answer, None if a tab may still come."""
        ask = await self.store.find_by_id(ask_id)
        if ask is None:
            return None
        failure = ABANDONED if is_lease_over(ask) else UNCLAIMED if _is_unclaimed(ask) else None
        return failure if failure is not None and await self.store.desert(ask, failure) else None


def _wake(waiting: OpenAsk, value: Any) -> None:
    """Hand over an answer that is stored."""
    if waiting.claim():
        waiting.is_stored = True
        waiting.resolve(value)


def _find_rest(ask: AskRecord) -> float | None:
    """Return the seconds left of a time limit; all of it if the clock was moved back behind the question."""
    if ask.timeout is None:
        return None
    return min(max(ask.created_at + ask.timeout - time.time(), 0.0), ask.timeout)


def _is_unclaimed(ask: AskRecord) -> bool:
    return ask.claimed_by is None and ask.created_at < time.time() - UNCLAIMED_SECONDS


def _is_for(ask: AskRecord, tab_id: str | None) -> bool:
    """Whether the ask was sent to this tab or claimed by it."""
    return tab_id is None or ask.payload.get("tab_id") in (None, tab_id) or ask.claimed_by == tab_id


def _early_key(call_id: str, place: str | None) -> str:
    """Return the key of an early answer; `place` is its run or its tab, if known."""
    return call_id if place is None else f"{call_id} in {place}"
