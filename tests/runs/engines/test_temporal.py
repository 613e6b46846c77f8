"""Runs on a real Temporal server: attempted, parked, woken, cancelled, taken over, and found by operators."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.service import RPCError

from dovetail.errors import ConfigError
from dovetail.events.call import Kind
from dovetail.events.model_events import ToolInputEnd
from dovetail.events.run_context import RunContext
from dovetail.events.run_result import RunResult
from dovetail.runs.run import RunPhase, RunRecord, RunSpec
from dovetail.runs.service import Runs
from dovetail.settings.sections import RunSettings
from dovetail.store.database import Database
from dovetail.testing import ScriptedServer
from dovetail.tools.makers.function import make_tool
from jobs import Job
from patience import PATIENCE
from ports import find_port
from postgres import make_database
from serving import serve, text_of
from temporal_server import start_temporal, uses_temporal

pytestmark = uses_temporal
SPEC = RunSpec(agent="a")
Work = Callable[[RunContext], Awaitable[RunResult]]


@pytest.fixture(scope="module")
def address() -> str:
    return start_temporal().address


def use_temporal(address: str, **options: Any) -> dict[str, Any]:
    return {"runs": {"engine": "temporal", "temporal_address": address, **options}}


@asynccontextmanager
async def open_runs(path: Path, work: Work, address: str, **options: Any) -> AsyncIterator[Runs]:
    """Open the runs of a process on a SQLite file; each of them does the same work."""
    settings = RunSettings(engine="temporal", temporal_address=address, **options)

    async def rebuild(record: RunRecord) -> Job:
        return Job(work)

    async with Database(f"sqlite:///{path / 'x.db'}") as database:
        runs = Runs(database, settings, recovery_interval=0.05)
        runs.rebuild = rebuild
        async with runs:
            await runs.recover()
            yield runs


async def wait_for_phase(runs: Runs, run_id: str, phase: RunPhase) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await runs.store.get(run_id)).phase != phase:
            pass


async def test_a_chat_is_answered_and_found_by_session_owner_and_agent(tmp_path: Path, address: str) -> None:
    async with serve(tmp_path, ["Blue whales."], settings=use_temporal(address)) as serving:
        chunks = await serving.chat("Who is the largest?", session_id="whales")
        assert text_of(chunks) == "Blue whales."
    client = await Client.connect(address)
    query = "DovetailSession = 'whales' AND DovetailOwner = 'local' AND DovetailAgent = 'master'"
    found = [each async for each in client.list_workflows(query)]
    assert len(found) == 1
    assert await found[0].memo() == {"session": "whales", "owner": "local", "agent": "master"}
    assert found[0].status == WorkflowExecutionStatus.COMPLETED
    history = (await client.get_workflow_handle(found[0].id).fetch_history()).to_json()
    assert "largest" not in history
    assert "Blue" not in history


async def test_an_approval_continues_a_parked_run(tmp_path: Path, address: str) -> None:
    executed: list[str] = []

    async def spend(amount: int) -> str:
        """Spend money."""
        executed.append(f"{amount}")
        return "spent"

    replies = [{"tool_calls": [{"call_id": "c", "name": "spend", "arguments": {"amount": 5}}]}, "Done."]
    tools = [make_tool(spend, kind=Kind.Execute)]
    async with serve(tmp_path, replies, tools, use_temporal(address, park_after=0.01)) as serving:
        answering = asyncio.create_task(serving.chat("Spend 5."))
        async with asyncio.timeout(PATIENCE):
            while not (asks := (await serving.get("/api/v1/asks"))["asks"]):
                pass
        await wait_for_phase(serving.app.runs, asks[0]["run_id"], "waiting")
        await answer_all(serving.app.runs)
        assert text_of(await answering) == "Done."
    assert executed == ["5"]


async def test_a_parked_run_holds_no_place_of_the_limit(tmp_path: Path, address: str) -> None:
    async with open_runs(tmp_path, ask_first, address, park_after=0.01, concurrency=1) as runs:
        first = await runs.start(SPEC, Job(ask_first))
        await wait_for_phase(runs, first.run_id, "waiting")
        second = await runs.start(SPEC, Job(ask_first))
        await wait_for_phase(runs, second.run_id, "waiting")


async def test_a_cancel_ends_a_parked_run(tmp_path: Path, address: str) -> None:
    async with open_runs(tmp_path, ask_first, address, park_after=0.01) as runs:
        handle = await runs.start(SPEC, Job(ask_first))
        await wait_for_phase(runs, handle.run_id, "waiting")
        await runs.cancel(handle.run_id)
        async with asyncio.timeout(PATIENCE):
            assert (await handle.result()).reason == "cancelled"


async def test_a_message_has_a_parked_run_attempted_again(tmp_path: Path, address: str) -> None:
    attempts: asyncio.Queue[str] = asyncio.Queue()

    async def work(context: RunContext) -> RunResult:
        attempts.put_nowait(context.run_id)
        return await ask_first(context)

    async with open_runs(tmp_path, work, address, park_after=0.01) as runs:
        handle = await runs.start(SPEC, Job(work))
        await wait_for_phase(runs, handle.run_id, "waiting")
        await runs.wake(handle.run_id, "message")
        async with asyncio.timeout(PATIENCE):
            assert [await attempts.get() for _ in range(2)] == [handle.run_id] * 2
        client = await Client.connect(address)
        history = await client.get_workflow_handle(handle.run_id).fetch_history()
        signals = [each.workflow_execution_signaled_event_attributes for each in history.events]
        assert [signal.signal_name for signal in signals if signal.signal_name] == ["message"]


async def test_a_workflow_that_is_cancelled_in_temporal_cancels_its_run(tmp_path: Path, address: str) -> None:
    started = asyncio.Event()

    async def work(context: RunContext) -> RunResult:
        started.set()
        await context.cancel.now.wait()
        return RunResult(reason="cancelled")

    async with open_runs(tmp_path, work, address) as runs:
        handle = await runs.start(SPEC, Job(work))
        workflow = (await Client.connect(address)).get_workflow_handle(handle.run_id)
        async with asyncio.timeout(PATIENCE):
            await started.wait()
            await workflow.cancel()
            assert (await handle.result()).reason == "cancelled"
            with pytest.raises(WorkflowFailureError):
                await workflow.result()
        assert (await workflow.describe()).status == WorkflowExecutionStatus.CANCELED


async def test_a_run_continues_after_its_workflow_was_terminated(tmp_path: Path, address: str) -> None:
    async with open_runs(tmp_path, ask_first, address, park_after=0.01) as runs:
        handle = await runs.start(SPEC, Job(ask_first))
        await wait_for_phase(runs, handle.run_id, "waiting")
        await (await Client.connect(address)).get_workflow_handle(handle.run_id).terminate()
        await answer_all(runs)
        async with asyncio.timeout(PATIENCE):
            assert (await handle.result()).data == {"approved": True}


async def test_a_run_left_by_a_process_that_stops_is_continued_by_the_next(
    tmp_path: Path, address: str
) -> None:
    started = asyncio.Event()

    async def hang(context: RunContext) -> RunResult:
        started.set()
        await context.cancel.now.wait()
        return RunResult(reason="cancelled")

    async with asyncio.timeout(PATIENCE):
        async with open_runs(tmp_path, hang, address) as runs:
            run_id = (await runs.start(SPEC, Job(hang))).run_id
            await started.wait()
        async with open_runs(tmp_path, finish, address) as runs:
            assert (await runs.result(run_id)).data == "done"


async def test_a_drained_process_ends_its_runs_and_takes_no_more(tmp_path: Path, address: str) -> None:
    started, gate = asyncio.Event(), asyncio.Event()

    async def work(context: RunContext) -> RunResult:
        started.set()
        await gate.wait()
        return RunResult(data="done")

    async with asyncio.timeout(PATIENCE):
        async with open_runs(tmp_path, work, address) as runs:
            first = await runs.start(SPEC, Job(work))
            await started.wait()
            await runs.engine.drain()
            second = await runs.start(SPEC, Job(work))
            gate.set()
            assert (await first.result()).data == "done"
            assert (await runs.store.get(second.run_id)).phase == "queued"
        async with open_runs(tmp_path, work, address) as runs:
            assert (await runs.result(second.run_id)).data == "done"


async def test_runs_wait_by_queue_priority_and_owner(tmp_path: Path, address: str) -> None:
    urgent = RunSpec(agent="a", owner="x" * 100, queue="slow", priority=9)
    async with (
        open_runs(tmp_path, finish, address, queues=("default", "slow")) as runs,
        asyncio.timeout(PATIENCE),
    ):
        handles = [await runs.start(spec, Job(finish)) for spec in (SPEC, urgent)]
        assert [(await handle.result()).data for handle in handles] == ["done", "done"]
    client = await Client.connect(address)
    found = [await client.get_workflow_handle(handle.run_id).describe() for handle in handles]
    assert [each.task_queue for each in found] == ["dovetail-default", "dovetail-slow"]
    plain, first = (each.raw_description.workflow_execution_info.priority for each in found)
    assert (plain.priority_key, plain.fairness_key) == (3, "local")
    assert (first.priority_key, len(first.fairness_key)) == (1, 64)


async def test_runs_outlive_the_temporal_server(tmp_path: Path, address: str) -> None:
    async with open_runs(tmp_path, ask_first, address, park_after=0.01) as runs:
        first = await runs.start(SPEC, Job(ask_first))
        await wait_for_phase(runs, first.run_id, "waiting")
        await asyncio.to_thread(start_temporal().stop)
        second = await runs.start(SPEC, Job(ask_first))
        await answer_all(runs)
        await asyncio.to_thread(start_temporal().start)
        await wait_for_phase(runs, second.run_id, "waiting")
        await answer_all(runs)
        async with asyncio.timeout(PATIENCE):
            assert (await first.result()).data == {"approved": True}
            assert (await second.result()).data == {"approved": True}


async def test_a_server_that_cannot_be_reached_is_an_error_at_the_start(tmp_path: Path) -> None:
    port = find_port()
    with pytest.raises(ConfigError, match=f"Cannot reach Temporal at 127.0.0.1:{port}."):
        async with open_runs(tmp_path, ask_first, f"127.0.0.1:{port}"):
            pass


async def test_an_unknown_namespace_is_an_error_at_the_start(tmp_path: Path, address: str) -> None:
    with pytest.raises(ConfigError, match="has no namespace 'elsewhere'"):
        async with open_runs(tmp_path, ask_first, address, temporal_namespace="elsewhere"):
            pass


async def test_a_server_without_room_for_search_attributes_keeps_the_memo(
    tmp_path: Path, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    client = await Client.connect(address)
    week = Duration(seconds=7 * 86400)
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace="full", workflow_execution_retention_period=week)
    )
    keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
    taken = {f"Taken{number}": keyword for number in range(10)}
    async with asyncio.timeout(PATIENCE):
        while True:  # a new namespace is not known everywhere at once
            with suppress(RPCError):
                await client.operator_service.add_search_attributes(
                    AddSearchAttributesRequest(namespace="full", search_attributes=taken)
                )
                break
    async with open_runs(tmp_path, finish, address, temporal_namespace="full") as runs:
        for _ in range(2):
            handle = await runs.start(SPEC, Job(finish))
            assert (await handle.result()).data == "done"
    there = await Client.connect(address, namespace="full")
    workflow = await there.get_workflow_handle(handle.run_id).describe()
    assert await workflow.memo() == {"owner": "local", "agent": "a"}
    assert caplog.text.count("does not know the search attributes") == 1


async def test_a_reader_gets_the_whole_answer_though_a_worker_dies(tmp_path: Path, address: str) -> None:
    call = {"tool_calls": [{"call_id": "c", "name": "calculate", "arguments": {"expression": "6*7"}}]}
    with ScriptedServer([call, [{"text": "This is"}, {"hold": "cut"}], "It is 42."]) as model:
        environment = {"DATABASE_URL": await make_database(), "DOVETAIL_BASE_URL": model.url}
        command = make_command(tmp_path, address, environment)
        async with command("serve", "--no-work", "--port", "0") as web, command("worker") as one:
            assert web.stdout is not None
            place = (await web.stdout.readline()).decode().split()[-1]
            async with AsyncExitStack() as stack:
                chunks: list[dict[str, Any]] = []
                two: asyncio.subprocess.Process | None = None
                async for chunk in read_chat(place):
                    chunks.append(chunk)
                    if chunk["type"] == "text-delta" and two is None:
                        two = await stack.enter_async_context(command("worker"))
                        one.kill()
                assert text_of(chunks).endswith("It is 42.")
                assert len(model.requests) == 3
            assert two is not None
        assert (web.returncode, one.returncode, two.returncode) == (0, -signal.SIGKILL, 0)


def make_command(folder: Path, address: str, environment: dict[str, str]) -> Any:
    """Return a function that starts a command in the folder; it is stopped with SIGTERM at the end."""
    (folder / "dovetail.toml").write_text(f'[runs]\nengine = "temporal"\ntemporal_address = "{address}"\n')

    @asynccontextmanager
    async def command(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "dovetail", *arguments, "--workspace", str(folder)),
            env={**os.environ, "DOVETAIL_MODEL": "openai:x", **environment},
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            await process.communicate()

    return command


async def read_chat(place: str) -> AsyncIterator[dict[str, Any]]:
    """Send a message and yield the chunks of its answer."""
    body = {"message": "What is 6*7?", "session_id": "s", "tab_id": "t"}
    async with (
        httpx.AsyncClient(base_url=place, timeout=PATIENCE) as client,
        client.stream("POST", "/api/v1/chat", json=body) as response,
    ):
        async for line in response.aiter_lines():
            if line.startswith("data: ") and line != "data: [DONE]":
                yield json.loads(line[6:])


async def test_a_waiting_run_can_be_cancelled_though_its_queue_is_full(tmp_path: Path, address: str) -> None:
    started = asyncio.Event()

    async def work(context: RunContext) -> RunResult:
        if started.is_set():
            await context.cancel.now.wait()
        return await ask_first(context)

    async with open_runs(tmp_path, work, address, park_after=0.01, concurrency=1) as runs:
        waiting = await runs.start(SPEC, Job(work))
        await wait_for_phase(runs, waiting.run_id, "waiting")
        started.set()
        busy = await runs.start(SPEC, Job(work))
        await wait_for_phase(runs, busy.run_id, "working")
        async with asyncio.timeout(PATIENCE):
            await runs.cancel(waiting.run_id)
            assert (await waiting.result()).reason == "cancelled"


async def finish(context: RunContext) -> RunResult:
    return RunResult(data="done")


async def ask_first(context: RunContext) -> RunResult:
    """Ask as a call of a tool does, which is the only way to wait that a run can be parked in."""
    if context.cancel.mode is not None:
        return RunResult(reason="cancelled")
    context.emit(ToolInputEnd("c", "spend", {}))
    return RunResult(data=await context.ask("approval", "c", {}, None))


async def answer_all(runs: Runs) -> None:
    """Answer the open questions of all runs."""
    for ask in await runs.asks.store.list_open("local"):
        await runs.asks.answer(ask.id, {"approved": True}, owner="local")
