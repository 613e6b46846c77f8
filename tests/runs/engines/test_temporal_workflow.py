"""The workflow of a run: newer workers replay the histories of older ones, and histories stay short.

The histories in `golden/temporal` were recorded from a real server with the first version of the workflow.
They are never recorded again: a change that breaks them would strand the runs of users.
"""

from pathlib import Path

import pytest
from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner, Worker

from dovetail.ids import new_id
from dovetail.runs.engines import temporal_workflow
from dovetail.runs.engines.temporal_workflow import ATTEMPT, WORKFLOW, Job, RunWorkflow
from temporal_server import start_temporal

FOLDER = Path(__file__).parents[2] / "golden" / "temporal"
HISTORIES = {
    name: (FOLDER / f"{name}.json").read_text() for name in ("cancelled", "continued", "ended", "woken")
}


@pytest.mark.parametrize("name", HISTORIES)
async def test_a_recorded_history_is_replayed(name: str) -> None:
    replayer = Replayer(workflows=[RunWorkflow], workflow_runner=UnsandboxedWorkflowRunner())
    await replayer.replay_workflow(WorkflowHistory.from_json(name, HISTORIES[name]))


@pytest.mark.slow
async def test_a_run_with_many_attempts_continues_in_a_new_history(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporal_workflow, "ATTEMPTS_PER_HISTORY", 3)
    client = await Client.connect(start_temporal().address)
    attempts: list[int] = []

    @activity.defn(name=ATTEMPT)
    async def attempt(job: Job) -> str:
        attempts.append(job.attempt)
        if job.attempt == 7:
            return "ended"
        await client.get_workflow_handle(job.run_id).signal("answer", job.attempt + 1)
        return "waiting"

    run_id = new_id("run")
    async with Worker(
        client,
        task_queue=run_id,
        workflows=[RunWorkflow],
        activities=[attempt],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        handle = await client.start_workflow(WORKFLOW, Job(run_id=run_id), id=run_id, task_queue=run_id)
        assert await handle.result() == "ended"
    assert attempts == list(range(8))
    first = await client.get_workflow_handle(run_id, run_id=handle.first_execution_run_id).describe()
    assert first.status == WorkflowExecutionStatus.CONTINUED_AS_NEW
