"""Asks: a run waits here until somebody outside answers, or time is over.

Promises: an ask has exactly one answer; a run that is taken up again after a crash finds its open ask, or the
answer that came meanwhile, instead of asking twice; an answer may come before anybody waits for it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from dovetail.concurrency import backoff, retrying
from dovetail.errors import ConflictError, StoreError
from dovetail.events.run_events import AskAnswer, AskRequest, Emit
from dovetail.policy.pending import EARLY_SECONDS
from dovetail.runs.ask_store import AskRecord, AskStore

T = TypeVar("T")
logger = logging.getLogger(__name__)
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0


async def persist(action: Callable[[], Awaitable[T]]) -> T:
    """Do what must be stored; while the database is away, wait and do it again."""
    async for _ in retrying(backoff(_FIRST_PAUSE, _LONGEST_PAUSE)):
        try:
            return await action()
        except StoreError as error:
            logger.warning("Database not available, retrying: %s", error.message)
    raise AssertionError("delays that double never end")


TIMEOUT: Mapping[str, Any] = {"status": "timeout"}
EARLY_LIMIT = 100
LEASE_SECONDS = 30.0
ABANDONED: Mapping[str, Any] = {
    "status": "failed",
    "errorText": "The page that ran the tool was closed before it had a result.",
}


@dataclass(frozen=True, slots=True)
class _FromHere:
    """An answer that no store holds yet."""

    value: Any


class Asks:
    """Where runs ask and answers arrive; `announce` tells other processes of an answer."""

    def __init__(self, store: AskStore, announce: Callable[[str], None] | None = None) -> None:
        self.store = store
        self._announce = announce
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._local: dict[tuple[tuple[str, ...], str], asyncio.Future[Any]] = {}

    @property
    def waiting(self) -> int:
        """How many asks of this process wait for an answer."""
        return len(self._waiting)

    async def ask(self, ask: AskRecord, emit: Emit) -> Any:
        """Ask and wait for the answer; asked again about the same call, the first ask goes on."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        place = (ask.path, ask.call_id)
        self._local[place] = future
        try:
            return await self._ask(ask, emit, future)
        finally:
            if self._local.get(place) is future:
                del self._local[place]

    def answer_here(self, path: tuple[str, ...], call_id: str, value: Any) -> bool:
        """Answer the ask about a call that waits in this process; False when none does."""
        future = self._local.get((path, call_id))
        if future is None or future.done():
            return False
        future.set_result(_FromHere(value))
        return True

    async def _ask(self, ask: AskRecord, emit: Emit, future: "asyncio.Future[Any]") -> Any:
        wanted = ask
        known = await persist(lambda: self._find_same(wanted))
        if known is not None:
            wanted = ask = known
        self._waiting[ask.id] = future
        try:
            if ask is not known:
                await persist(lambda: self.store.create(wanted))
            else:  # the answer may have come before anybody waited here
                await persist(lambda: self.fetch(wanted.id))
            if ask.state == "open" and ask.kind == "browser":
                await persist(lambda: self._take_early(wanted))
            # Told now: a reader who sees the question sees the answer that is there already with it.
            emit(AskRequest(ask.id, ask.kind, ask.call_id, ask.payload, ask.timeout))
            value = ask.value if ask.state == "answered" else await self._wait(ask, future)
        finally:
            del self._waiting[ask.id]
        emit(AskAnswer(ask.id, value))
        return value

    async def answer(self, ask_id: str, value: Any, *, owner: str) -> AskRecord:
        """Answer an open ask; unknown is a `NotFoundError`, answered already a `ConflictError`."""
        ask = await self.store.get(ask_id, owner)
        if not await self.store.close(ask_id, "answered", value):
            raise ConflictError(f"ask {ask_id!r} is not open: it has its answer or its run has ended")
        await self.deliver(ask_id, value)
        return ask

    async def acknowledge(
        self,
        call_id: str,
        value: Any,
        *,
        owner: str,
        tab_id: str | None = None,
        run_id: str | None = None,
    ) -> Literal["resolved", "stored", "missing", "foreign"]:
        """Answer the browser ask of a call; kept for a while when nobody has asked yet (rule C92).

        Other chats may have calls with the same id: only the ask of the tab, or of the run, is meant where
        one is named. `foreign` when the call waits for somebody else.
        """
        known = await self.store.find(owner, call_id, "browser", run_id)
        meant = [ask for ask in known if _is_for(ask, tab_id)]
        for ask in meant:
            if ask.state == "open" and await self.store.close(ask.id, "answered", value):
                await self.deliver(ask.id, value)
                return "resolved"
        if meant:
            return "missing"
        if await self.store.waits_for_another(owner, call_id):
            return "foreign"
        key = _early_key(call_id, run_id or tab_id)
        try:
            await self.store.put_early(owner, key, value, seconds=EARLY_SECONDS, limit=EARLY_LIMIT)
        except ConflictError:
            return "missing"
        return "stored"

    async def claim(self, ask_id: str, tab_id: str, *, owner: str) -> float:
        """Let this tab alone act on a browser ask for a while; returns until when."""
        return await self.store.claim(await self.store.get(ask_id, owner), tab_id, LEASE_SECONDS)

    async def deliver(self, ask_id: str, value: Any) -> None:
        """Wake the run that waits, here or in another process."""
        future = self._waiting.get(ask_id)
        if future is not None and not future.done():
            future.set_result(value)
        elif self._announce is not None:
            self._announce(ask_id)

    async def fetch(self, ask_id: str) -> None:
        """Take an answer that another process has stored, if somebody here waits for it."""
        future = self._waiting.get(ask_id)
        if future is None or future.done():
            return
        ask = await self.store.find_by_id(ask_id)
        if ask is not None and ask.state == "answered" and not future.done():
            future.set_result(ask.value)

    async def fetch_all(self) -> None:
        """Take every answer that came while no news did."""
        for ask_id in list(self._waiting):
            await self.fetch(ask_id)

    async def _find_same(self, ask: AskRecord) -> AskRecord | None:
        """The ask of an earlier life of the run about the same call."""
        known = await self.store.find(ask.owner, ask.call_id, ask.kind, ask.run_id)
        same = (one for one in known if one.path == ask.path and one.state in ("open", "answered"))
        return next(same, None)

    async def _take_early(self, ask: AskRecord) -> None:
        places = (ask.run_id, ask.payload.get("tab_id"), None)
        early = await self.store.take_early(ask.owner, [_early_key(ask.call_id, place) for place in places])
        if early is not None and await self.store.close(ask.id, "answered", early):
            await self.deliver(ask.id, early)

    async def _wait(self, ask: AskRecord, future: "asyncio.Future[Any]") -> Any:
        try:
            async with asyncio.timeout(ask.timeout):
                value = await (self._wait_for_tab(ask, future) if ask.kind == "browser" else future)
        except TimeoutError:
            return await self._close(ask, "timeout", TIMEOUT)
        return await self._close(ask, "answered", value.value) if isinstance(value, _FromHere) else value

    async def _close(self, ask: AskRecord, state: Literal["answered", "timeout"], value: Any) -> Any:
        """End an ask in the store, unless its answer came there in that very moment: then that one counts."""
        if await persist(lambda: self.store.close(ask.id, state, value)):
            return value
        return (await persist(lambda: self.store.get(ask.id, ask.owner))).value

    async def _wait_for_tab(self, ask: AskRecord, future: "asyncio.Future[Any]") -> Any:
        """Wait for the answer, but not for a tab that began and then let its lease run out."""
        while not (await asyncio.wait({future}, timeout=LEASE_SECONDS / 2))[0]:
            if await persist(lambda: self.store.abandon(ask.id, ABANDONED, grace=LEASE_SECONDS / 2)):
                return ABANDONED
        return future.result()


def _is_for(ask: AskRecord, tab_id: str | None) -> bool:
    """Whether a tab may mean this ask: it was asked, or has claimed it."""
    return tab_id is None or ask.payload.get("tab_id") in (None, tab_id) or ask.claimed_by == tab_id


def _early_key(call_id: str, place: str | None) -> str:
    """What an early answer is kept under; `place` is the run or the tab that it is for, when one is known."""
    return call_id if place is None else f"{call_id} in {place}"
