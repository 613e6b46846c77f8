"""The feed: what changes for each owner, in all processes that share the database.

Promises: an owner hears only of what belongs to it, and of the folders that all share. News come after the
change is stored. They say what has changed, not how: a reader looks up what it shows. A reader that may have
missed news is sent `reset`.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, Self, TypeAlias

from dovetail.events.asks import TIMEOUT
from dovetail.events.run_events import AskAnswer, AskRequest, Event, RunEnd
from dovetail.runs.ask_store import AskRecord
from dovetail.runs.task import LiveRun

News: TypeAlias = Mapping[str, Any]
SessionChange: TypeAlias = Literal["created", "changed", "deleted"]
RESET: News = {"type": "reset"}
MOST_WAITING = 1000
"""How many news may wait for a slow reader; after that it is sent `reset` instead."""
_GATHER_SECONDS = 0.05
_LONGEST_BUNDLE = 5000


class FeedReader:
    """What has happened since one owner's last look; `async with` registers it with the feed."""

    def __init__(self, feed: "Feed", owner: str) -> None:
        self.owner = owner
        self._feed = feed
        self._news: list[News] = [RESET]
        self._is_awake = asyncio.Event()
        self._is_awake.set()

    async def __aenter__(self) -> Self:
        self._feed.readers.add(self)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._feed.readers.discard(self)

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come."""
        return self._feed.is_closed and not self._news

    def put(self, news: News) -> None:
        """Add news; what repeats the newest one is left out. A `reset` goes before what waits."""
        if self._news and self._news[-1] == news:
            return
        if len(self._news) >= MOST_WAITING:
            self._news = [RESET]
        elif news is RESET:
            self._news = [RESET, *(waiting for waiting in self._news if waiting is not RESET)]
        else:
            self._news.append(news)
        self._is_awake.set()

    def wake(self) -> None:
        """End the wait in `next`."""
        self._is_awake.set()

    async def next(self) -> list[News]:
        """Return the news since the last call; wait while there are none. Empty if it was woken."""
        await self._is_awake.wait()
        self._is_awake.clear()
        news, self._news = self._news, []
        return news


class Feed:
    """The news of this process and, by `announce` and `hear`, of the others."""

    def __init__(self, announce: Callable[[str], None]) -> None:
        self.readers: set[FeedReader] = set()
        self.is_closed = False
        self._announce = announce
        self._outgoing: list[tuple[str, News]] = []
        self._timer: asyncio.TimerHandle | None = None

    def read(self, owner: str) -> FeedReader:
        """Return a reader of one owner's news; `reset` comes first, so that nothing is missed."""
        return FeedReader(self, owner)

    def publish(self, owner: str, news: News) -> None:
        """Send news to the readers of an owner, here and in the other processes."""
        self._deliver(owner, news)
        self._outgoing.append((owner, news))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_GATHER_SECONDS, self.flush)

    def report_session(
        self, owner: str, session_id: str, change: SessionChange, parent_id: str | None = None
    ) -> None:
        """Send that a session has changed; `parent_id` is the one in whose background it works."""
        news = {"type": "session", "session_id": session_id, "change": change}
        self.publish(owner, news if parent_id is None else {**news, "parent_id": parent_id})

    def report_run(
        self,
        owner: str,
        run_id: str,
        session_id: str | None,
        state: Literal["running", "waiting", "ended"],
        reason: str | None = None,
    ) -> None:
        """Send what a run does now."""
        news = {"type": "run", "run_id": run_id, "session_id": session_id, "state": state}
        self.publish(owner, news if reason is None else {**news, "reason": reason})

    def report_generation(self, generation: int) -> None:
        """Send to all readers of this process that its folders were read again."""
        for reader in self.readers:
            reader.put({"type": "extensions", "generation": generation})

    def note(self, live: LiveRun, event: Event, path: tuple[str, ...]) -> None:
        """Take an event of a run in this process; most are of no interest here."""
        if isinstance(event, AskRequest):
            self._note_ask(live, event.ask_id, event.kind, "open")
        elif isinstance(event, AskAnswer):
            state = "ended" if event.value == TIMEOUT else "answered"
            self._note_ask(live, event.ask_id, _find_kind(live, event.ask_id), state)
        elif isinstance(event, RunEnd) and len(path) == 1:
            spec = live.spec
            self.report_run(spec.owner, live.run_id, spec.session_id, "ended", event.reason)
            if spec.session_id is not None:
                self.report_session(spec.owner, spec.session_id, "changed")

    def note_taken_up(self, live: LiveRun) -> None:
        """Send that a run that was queued or left is worked on now."""
        self.report_run(live.spec.owner, live.run_id, live.spec.session_id, "running")

    def report_answer(self, ask: AskRecord, session_id: str | None) -> None:
        """Send that a question was answered while its run was in no process."""
        self._publish_ask(ask.owner, ask.id, (ask.run_id, session_id), ask.kind, "answered")

    def hear(self, bundle: str) -> None:
        """Take the news of another process."""
        for owner, news in json.loads(bundle):
            self._deliver(owner, news)

    def reset(self) -> None:
        """Have all readers look again: news of other processes may have been missed."""
        for reader in self.readers:
            reader.put(RESET)

    def flush(self) -> None:
        """Send what was gathered to the other processes, in bundles that are short enough."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        gathered, self._outgoing = self._outgoing, []
        bundle: list[str] = []
        for item in map(_write, gathered):
            if bundle and sum(map(len, bundle)) + len(item) > _LONGEST_BUNDLE:
                self._announce(f"[{','.join(bundle)}]")
                bundle = []
            bundle.append(item)
        if bundle:
            self._announce(f"[{','.join(bundle)}]")

    def close(self) -> None:
        """End all readers: the server stops."""
        self.is_closed = True
        self.flush()
        for reader in self.readers:
            reader.wake()

    def _deliver(self, owner: str, news: News) -> None:
        for reader in self.readers:
            if reader.owner == owner:
                reader.put(news)

    def _publish_ask(
        self, owner: str, ask_id: str, place: tuple[str, str | None], kind: str | None, state: str
    ) -> None:
        run_id, session_id = place
        news = {"type": "ask", "ask_id": ask_id, "session_id": session_id, "run_id": run_id}
        self.publish(owner, {**news, "kind": kind, "state": state})

    def _note_ask(self, live: LiveRun, ask_id: str, kind: str | None, state: str) -> None:
        spec = live.spec
        self._publish_ask(spec.owner, ask_id, (live.run_id, spec.session_id), kind, state)
        if kind != "browser":
            others = [ask for ask in live.asking.values() if ask.is_open and ask.kind != "browser"]
            is_waiting = state == "open" or bool(others)
            self.report_run(spec.owner, live.run_id, spec.session_id, "waiting" if is_waiting else "running")


def _find_kind(live: LiveRun, ask_id: str) -> str | None:
    """Return the kind of a question that a run waits for; after a crash it has the id of the first one."""
    known = live.asking.get(ask_id)
    kinds = {ask.kind for ask in live.asking.values()} if known is None else {known.kind}
    return kinds.pop() if len(kinds) == 1 else None


def _write(item: tuple[str, News]) -> str:
    return json.dumps(item, separators=(",", ":"))
