"""The work of a run from plain functions."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from dovetail.events.run_context import RunContext
from dovetail.events.run_result import RunResult
from dovetail.runs.run import RunWork
from dovetail.store.database import SaveWork, Transaction


@dataclass(frozen=True)
class Job(RunWork):
    do: Callable[[RunContext], Awaitable[RunResult]]
    finish: Callable[[RunContext, RunResult], Awaitable[SaveWork | None]] | None = None
    open: SaveWork | None = None

    def begin(self, transaction: Transaction) -> None:
        if self.open is not None:
            self.open(transaction)

    async def work(self, context: RunContext) -> RunResult:
        return await self.do(context)

    async def end(self, context: RunContext, outcome: RunResult) -> SaveWork | None:
        return None if self.finish is None else await self.finish(context, outcome)
