"""`dovetail worker`: works on the runs that web processes put into queues, in one process or several."""

import asyncio
import gc
import logging
import os
import signal
import tempfile
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer

from dovetail.agents.file import list_agent_files
from dovetail.agents.prepare import warm_up
from dovetail.app import Dovetail
from dovetail.cli.first_model import FirstModel
from dovetail.cli.output import guarded
from dovetail.cli.process import CONCURRENCY, ENGINE, QUEUES, EngineOptions, follow_changes
from dovetail.cli.terminal import WORKSPACE, open_record
from dovetail.errors import ConfigError
from dovetail.requesters.model_status import ModelStatus
from dovetail.server.app import register_page_tools
from dovetail.server.health_port import HealthPort
from dovetail.server.logs import write_logs
from dovetail.server.metrics import SHARED_FOLDER, Metrics, RunMetrics, forget_process, is_shared
from dovetail.server.workers import Workers
from dovetail.settings.sections import RunSettings, ServerSettings, StoreSettings
from dovetail.tools.threads import DaemonExecutor

logger = logging.getLogger(__name__)
app = typer.Typer()

LAST_SECONDS = 9.0
"""Seconds after which a worker that does not stop is killed; its runs are in the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """The options of the command line; every process gets the same."""

    engine: EngineOptions
    workspace: Path | None
    watch: bool
    trust: bool
    drain_seconds: float
    metrics: tuple[str, int | None]


@app.command("worker")
def worker(  # noqa: PLR0913 - every option of the command is one
    engine: str | None = ENGINE,
    queues: str | None = QUEUES,
    concurrency: int | None = CONCURRENCY,
    workers: int = typer.Option(1, min=1, max=256, help="Number of processes."),
    drain_seconds: float = typer.Option(
        30.0,
        min=0.0,
        help="Seconds that runs get to finish after SIGTERM before other workers take them over.",
    ),
    metrics_port: int | None = typer.Option(
        None, min=0, max=65535, help="Serve /metrics, /healthz and /readyz on this port; 0 for a free one."
    ),
    metrics_host: str = typer.Option("127.0.0.1", help="The address of the metrics port."),
    workspace: Path | None = WORKSPACE,
    watch: bool = typer.Option(False, "--watch", help="Reload when a folder is edited."),
    trust: bool = typer.Option(False, "--trust", help="Trust the current agent files."),
) -> None:
    """Process runs that web processes have queued (`dovetail serve --no-work`)."""
    options = WorkerOptions(
        engine=EngineOptions(engine=engine, queues=queues, concurrency=concurrency),
        workspace=workspace,
        watch=watch,
        trust=trust,
        drain_seconds=drain_seconds,
        metrics=(metrics_host, metrics_port),
    )
    dovetail = make_app(options)
    check(dovetail)
    FirstModel(dovetail.settings).check()
    with write_logs(dovetail.settings):
        if workers > 1:
            work_with_many(dovetail, options, workers)
        else:
            asyncio.run(work_here(dovetail, options, partial(_greet, dovetail)))


def make_app(options: WorkerOptions) -> Dovetail:
    """Return the app whose runs are worked on, with the same tools and agents as in `dovetail serve`."""
    dovetail = Dovetail(workspace=options.workspace)
    options.engine.apply(dovetail.settings)
    register_page_tools(dovetail)
    record = open_record(dovetail.workspace)
    if options.trust:
        record.acknowledge(list_agent_files(dovetail.workspace / "agents"))
    if dovetail.settings.section(ServerSettings).api_keys:  # then others send runs
        dovetail.agents.trust = record
    return dovetail


def check(dovetail: Dovetail) -> None:
    """Reject settings with which a worker would never get a run."""
    engine = dovetail.settings.section(RunSettings).engine
    if engine == "local":
        raise ConfigError(
            "The engine 'local' has no workers: each run works in the process that it was sent to.",
            hint="Choose --engine dbos or --engine temporal, here and for `dovetail serve`.",
        )
    if not (dovetail.settings.section(StoreSettings).url or "").startswith("postgres"):
        raise ConfigError(
            "Cannot start a worker on an SQLite file: only one process may use it.",
            hint="Set DATABASE_URL=postgresql://user:password@host/name, here and for `dovetail serve`.",
        )


def work_with_many(dovetail: Dovetail, options: WorkerOptions, count: int) -> None:
    """Work with several processes under one parent."""
    with tempfile.TemporaryDirectory(prefix="dovetail-metrics-") as folder:
        os.environ[SHARED_FOLDER] = folder
        stop_seconds = options.drain_seconds + LAST_SECONDS + 1
        try:
            pool = Workers(count, partial(run_worker, options), forget_process, stop_seconds=stop_seconds)
            pool.run(partial(_greet, dovetail, count))
        finally:
            del os.environ[SHARED_FOLDER]


@guarded()
def run_worker(options: WorkerOptions, number: int, on_ready: Callable[[], None]) -> None:
    """Work as one of several processes; the first one also does the work that is done once for all."""
    dovetail = make_app(options)
    with write_logs(dovetail.settings):
        asyncio.run(work_here(dovetail, options, on_ready, is_first=number == 0))


async def work_here(
    dovetail: Dovetail, options: WorkerOptions, on_ready: Callable[[], None], *, is_first: bool = True
) -> None:
    """Work on runs until a signal; then let those in progress finish until the time is up."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(DaemonExecutor())
    signals: asyncio.Queue[None] = asyncio.Queue()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, signals.put_nowait, None)
    metrics = Metrics()
    run_metrics = RunMetrics(dovetail, metrics)
    health = HealthPort(dovetail, metrics, run_metrics)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(dovetail)
        if is_first:
            await stack.enter_async_context(_work_alongside(dovetail, options, health))
        await dovetail.open_chat(role="worker")
        run_metrics.follow(dovetail.runs)
        await dovetail.chat.recover()
        await dovetail.open_schedules(ticks=True)
        await stack.enter_async_context(_background(dovetail, run_metrics))
        gc.collect()
        gc.freeze()  # what was made up to here stays
        on_ready()
        await signals.get()
        health.is_draining = True
        await _drain(dovetail, options.drain_seconds, signals)
        _end_in_time()


async def _drain(dovetail: Dovetail, seconds: float, signals: "asyncio.Queue[None]") -> None:
    running = dovetail.runs.running
    logger.info("stopping: %d runs may finish within %g s, a second signal leaves them", running, seconds)
    draining = asyncio.create_task(dovetail.runs.drain(seconds))
    again = asyncio.create_task(signals.get())
    await asyncio.wait({draining, again}, return_when=asyncio.FIRST_COMPLETED)
    for task in (draining, again):
        task.cancel()
    await asyncio.wait({draining, again})
    if left := dovetail.runs.running:
        logger.info("%d runs are left to other workers", left)


@asynccontextmanager
async def _work_alongside(
    dovetail: Dovetail, options: WorkerOptions, health: HealthPort
) -> AsyncGenerator[None]:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(FirstModel(dovetail.settings).arrive(partial(_warm, dovetail)))
        if options.watch:
            await stack.enter_async_context(follow_changes(dovetail))
        host, port = options.metrics
        if port is not None:
            port = await stack.enter_async_context(health.open(host, port))
            typer.echo(f"Metrics are at http://{host}:{port}/metrics")
        yield


async def _warm(dovetail: Dovetail) -> None:
    if not dovetail.runs.running:  # a run that waited for the model comes first
        await warm_up(dovetail)


@asynccontextmanager
async def _background(dovetail: Dovetail, run_metrics: RunMetrics) -> AsyncGenerator[None]:
    tasks = [asyncio.create_task(warm_up(dovetail))]
    if is_shared():
        tasks.append(asyncio.create_task(run_metrics.keep_sampling()))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


def _end_in_time() -> None:
    """Make sure that the process ends, also if a library keeps it from closing."""

    def end() -> None:
        logger.error("the worker did not stop within %g s and is killed", LAST_SECONDS)
        logging.shutdown()
        os._exit(1)

    timer = threading.Timer(LAST_SECONDS, end)
    timer.daemon = True
    timer.start()


def _greet(dovetail: Dovetail, workers: int = 1) -> None:
    settings = dovetail.settings.section(RunSettings)
    names = ", ".join(settings.queues)
    count = f" with {workers} processes" if workers > 1 else ""
    typer.echo(f"Working on the queue{'s' * (len(settings.queues) > 1)} {names} ({settings.engine}){count}.")
    typer.echo(f"Model: {ModelStatus(dovetail.settings).active}. Stop with Ctrl-C.")
