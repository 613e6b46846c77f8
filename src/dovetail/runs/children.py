"""Children: the agents that a run in progress has called, found by the ids of their own runs.

A child has no row of its own: it is a part of the journal of its root, in whose process it works. It is found
as long as its root is in progress.
"""

from collections.abc import Sequence
from dataclasses import replace

from dovetail.events.run_events import RunEnd, RunStart
from dovetail.events.run_result import RunResult
from dovetail.runs.journal import Block
from dovetail.runs.live import LiveRuns
from dovetail.runs.run import RunRecord
from dovetail.runs.store import RunStore


class Children:
    """Find the children of the runs in progress."""

    def __init__(self, store: RunStore, live: LiveRuns) -> None:
        self._store = store
        self._live = live

    async def find(self, run_id: str) -> RunRecord | None:
        """Return a child of a run in progress as a run of its own, with its `path`; None if there is none."""
        for live in self._live.all:
            if any(path[-1] == run_id for path in live.journal.open_runs):
                await live.flush()  # its first event may not be stored yet
        blocks = await self._store.find_bounds(run_id)
        if not blocks:
            return None
        return _make_record(await self._store.get(blocks[0].path[0]), blocks)


def _make_record(root: RunRecord, blocks: Sequence[Block]) -> RunRecord:
    first, last = blocks[0], blocks[-1]
    start, end = first.event, last.event
    agent, model = (start.agent, start.model) if isinstance(start, RunStart) else ("", "")
    result = None
    if isinstance(end, RunEnd):
        result = RunResult(
            reason=end.reason,
            data=end.result,
            usage=end.usage,
            duration=max(last.time - first.time, 0.0),
            error=end.error,
            limit=end.limit,
            notice=end.notice,
        )
    return replace(
        root,
        id=first.path[-1],
        spec=replace(root.spec, agent=agent, model=model),
        state="running" if result is None else "ended",
        result=result,
        created_at=first.time,
        started_at=first.time,
        ended_at=None if result is None else last.time,
        path=first.path,
    )
