"""Runs are handed to the engine, also when the database did not confirm what it had stored."""

from pathlib import Path

import pytest

from dovetail.errors import StoreError
from dovetail.runs.dispatch import Dispatch
from dovetail.runs.engine import Engine, RunHost, Ticket
from dovetail.runs.run import RunRecord, RunSpec
from dovetail.runs.store import RunStore
from dovetail.store.database import Database
from dovetail.store.processes import open_link

SPEC = RunSpec(agent="master")


class Queue(Engine):
    """An engine whose runs wait until somebody takes them; `submitted` are those that it was given."""

    def __init__(self) -> None:
        self.submitted: list[str] = []

    async def open(self, host: RunHost, *, works: bool) -> None:
        """Do nothing."""

    async def submit(self, ticket: Ticket) -> None:
        self.submitted.append(f"{ticket.run_id}.{ticket.attempt}")

    async def close(self) -> None:
        """Do nothing."""


class Unconfirmed(RunStore):
    """A store whose connection breaks once between what it has stored and its confirmation."""

    breaks = False

    async def get(self, run_id: str) -> RunRecord:
        if self.breaks:
            self.breaks = False
            raise StoreError("connection was closed in the middle of operation")
        return await super().get(run_id)


async def test_a_run_that_is_queued_without_a_confirmation_is_submitted_at_the_next_look(
    tmp_path: Path,
) -> None:
    async with Database(tmp_path / "x.db") as database, open_link(database) as link:
        store, queue = Unconfirmed(database, link.process_id), Queue()
        dispatch = Dispatch(store, link, queue, lambda run_id: False)
        await store.create("r", SPEC)
        await store.take_over(await store.get("r"))
        await store.park("r", waits_for=1)
        store.breaks = True
        with pytest.raises(StoreError):
            await dispatch.wake("r", "answer")
        assert queue.submitted == []
        await dispatch.look(works=False)
        await dispatch.look(works=False)
        assert queue.submitted == ["r.1"]
