"""Runs that go on in another process, as readers here see them."""

from weakref import WeakValueDictionary

from dovetail.errors import NotFoundError
from dovetail.runs.journal import Journal
from dovetail.runs.store import RunStore


class Mirrors:
    """Journals without content: they know how far a run is, and readers take its events from the store."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._journals: WeakValueDictionary[str, Journal] = WeakValueDictionary()

    def __contains__(self, run_id: object) -> bool:
        return run_id in self._journals

    async def open(self, run_id: str) -> Journal:
        """The journal of a run elsewhere, or of one that has ended."""
        journal = self._journals.get(run_id)
        if journal is None:
            journal = self._journals[run_id] = Journal(run_id)
        await self.refresh(run_id)
        return journal

    async def refresh(self, run_id: str) -> None:
        """Look how far the run is."""
        journal = self._journals.get(run_id)
        if journal is not None:
            record = await self._store.get(run_id)
            journal.follow(record.last_number, has_ended=record.state == "ended")

    def release(self, run_id: str) -> None:
        """Let the readers of a run go that goes on in this process from now on; they come back to it."""
        journal = self._journals.pop(run_id, None)
        if journal is not None:
            journal.freeze()

    async def refresh_all(self) -> None:
        """Look how far all runs are that somebody reads."""
        for run_id in list(self._journals):
            try:
                await self.refresh(run_id)
            except NotFoundError:
                self._journals.pop(run_id, None)
