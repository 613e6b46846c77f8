"""A run as a workflow of Temporal: its attempts are activities, its news are signals.

Workflows outlive versions of Dovetail: a newer worker replays the histories of older ones, so the order of
the steps here may only change behind `workflow.patched`. Histories hold ids and numbers, never contents.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy

from dovetail.runs.engine import AttemptEnd

WORKFLOW = "DovetailRun"
ATTEMPT = "attempt"
CANCEL = "cancel"
HEARTBEAT_TIMEOUT = 5.0
ATTEMPTS_PER_HISTORY = 100
_RETRIES = RetryPolicy(initial_interval=timedelta(seconds=0.5), maximum_interval=timedelta(seconds=3))
_LONGEST_ATTEMPT = timedelta(days=3650)  # Temporal asks for a limit; runs have their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The argument of workflows and activities; newer versions may add fields with defaults."""

    run_id: str
    attempt: int = 0


@workflow.defn(name=WORKFLOW)
class RunWorkflow:
    """Have the run attempted until it has ended; after an attempt that ends in waiting, wait for a signal."""

    def __init__(self) -> None:
        self._newest = 0

    @workflow.run
    async def run(self, job: Job) -> str:
        """Attempt the run; a cancellation of the workflow cancels the run and waits for its end."""
        attempts = asyncio.create_task(self._attempt(job))
        try:
            return await asyncio.shield(attempts)
        except asyncio.CancelledError:
            await workflow.execute_local_activity(
                CANCEL, job, start_to_close_timeout=timedelta(seconds=30), retry_policy=_RETRIES
            )
            await attempts
            raise

    @workflow.signal(dynamic=True)
    def wake(self, name: str, args: Sequence[RawValue]) -> None:
        """Take the number of a newer attempt; the signal's name says why it is needed."""
        number = workflow.payload_converter().from_payload(args[0].payload, int)
        self._newest = max(self._newest, number)

    async def _attempt(self, job: Job) -> AttemptEnd:
        self._newest = max(self._newest, job.attempt)
        for _ in range(ATTEMPTS_PER_HISTORY):
            number = self._newest
            end = await workflow.execute_activity(
                ATTEMPT,
                Job(run_id=job.run_id, attempt=number),
                result_type=str,
                start_to_close_timeout=_LONGEST_ATTEMPT,
                heartbeat_timeout=timedelta(seconds=HEARTBEAT_TIMEOUT),
                retry_policy=_RETRIES,
            )
            if end == "ended":
                return "ended"
            await workflow.wait_condition(lambda number=number: self._newest > number)
        workflow.continue_as_new(Job(run_id=job.run_id, attempt=self._newest))
