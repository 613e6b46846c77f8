"""`dovetail serve`: the page and the HTTP interface, in one process or several."""

import os
import socket
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import typer

from dovetail.agents.background import offer_background
from dovetail.agents.file import list_agent_files
from dovetail.agents.prepare import warm_up
from dovetail.app import Dovetail
from dovetail.assets import find_assets
from dovetail.cli.first_model import FirstModel
from dovetail.cli.output import guarded
from dovetail.cli.process import (
    CONCURRENCY,
    ENGINE,
    KEEP,
    QUEUES,
    EngineOptions,
    follow_changes,
    open_listener,
    reserve_port,
)
from dovetail.cli.terminal import WORKSPACE, open_record
from dovetail.errors import ConfigError
from dovetail.requesters.model_status import ModelStatus
from dovetail.server.app import create_app, register_page_tools
from dovetail.server.logs import write_logs
from dovetail.server.metrics import SHARED_FOLDER, forget_process
from dovetail.server.middleware.client_address import is_loopback
from dovetail.server.routes.page import check_page
from dovetail.server.socket import run_server
from dovetail.server.workers import Workers
from dovetail.settings.sections import RunSettings, ServerSettings, StoreSettings

app = typer.Typer()

ANOTHER = "dovetail serve --port {port} (with make: PORT={port} make run)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of the command line; every worker gets the same."""

    host: str
    port: int
    insecure: bool
    workspace: Path | None
    watch: bool
    trust: bool
    engine: EngineOptions = KEEP
    works: bool = True
    web: Path | None = None


@app.command("serve")
def serve(  # noqa: PLR0913 - every option of the command is one
    host: str = typer.Option("127.0.0.1", help="The address to listen on.", envvar="HOST"),
    port: int = typer.Option(8000, help="The port to listen on; 0 for a free one.", envvar="PORT"),
    insecure: bool = typer.Option(False, "--insecure", help="Allow other machines without API keys."),
    workspace: Path | None = WORKSPACE,
    watch: bool = typer.Option(False, "--watch", help="Reload when a folder is edited."),
    trust: bool = typer.Option(False, "--trust", help="Trust the current agent files."),
    workers: int = typer.Option(1, min=1, max=256, help="Number of processes; several need PostgreSQL."),
    engine: str | None = ENGINE,
    queues: str | None = QUEUES,
    concurrency: int | None = CONCURRENCY,
    no_work: bool = typer.Option(False, "--no-work", help="Leave all runs to `dovetail worker` processes."),
    web: Path | None = typer.Option(None, help="A folder with a page of your own to serve."),
) -> None:
    """Serve the page and the HTTP interface."""
    options = ServeOptions(
        host=host,
        port=port,
        insecure=insecure,
        workspace=workspace,
        watch=watch,
        trust=trust,
        engine=EngineOptions(engine=engine, queues=queues, concurrency=concurrency),
        works=not no_work,
        web=None if web is None else check_page(web.resolve()),
    )
    dovetail = make_app(options)
    check(dovetail, options, workers)
    first = FirstModel(dovetail.settings)
    first.check()
    if workers > 1:
        serve_many(dovetail, options, workers)
    else:
        with write_logs(dovetail.settings, first.log), open_listener(host, port, ANOTHER) as listener:
            greet = partial(print_greeting, dovetail, options, listener.getsockname()[1])
            run_here(dovetail, options, listener, greet, first)


def check(dovetail: Dovetail, options: ServeOptions, workers: int) -> None:
    """Reject options that would open the server to everyone, or that cannot work together."""
    settings = dovetail.settings
    has_keys = bool(settings.section(ServerSettings).api_keys)
    if not options.insecure and not is_loopback(options.host) and not has_keys:
        raise ConfigError(
            f"Cannot listen on {options.host!r}: other machines can reach it, and there are no API keys.",
            hint="Set DOVETAIL_API_KEYS (ann:key1,bob:key2), or allow everyone with --insecure.",
        )
    can_share = (settings.section(StoreSettings).url or "").startswith("postgres")
    if workers > 1 and not can_share:
        raise ConfigError(
            f"Cannot start {workers} workers on an SQLite file: only one process may use it.",
            hint="Set DATABASE_URL=postgresql://user:password@host/name, or start one worker.",
        )
    if not options.works and settings.section(RunSettings).engine == "local":
        raise ConfigError(
            "With --no-work no process would work on runs: the engine 'local' has no workers.",
            hint="Choose --engine dbos or --engine temporal, and start `dovetail worker` with the same one.",
        )
    if not options.works and not can_share:
        raise ConfigError(
            "With --no-work no process would work on runs: only one process may use an SQLite file.",
            hint="Set DATABASE_URL=postgresql://user:password@host/name, here and for `dovetail worker`.",
        )


def serve_many(dovetail: Dovetail, options: ServeOptions, count: int) -> None:
    """Serve with several processes on one port."""
    with (
        write_logs(dovetail.settings),
        reserve_port(options.host, options.port, ANOTHER) as place,
        tempfile.TemporaryDirectory(prefix="dovetail-metrics-") as folder,
    ):
        os.environ[SHARED_FOLDER] = folder
        port = place.getsockname()[1]
        work = partial(run_worker, replace(options, port=port, trust=False))
        try:
            Workers(count, work, forget_process).run(partial(print_greeting, dovetail, options, port, count))
        finally:
            del os.environ[SHARED_FOLDER]


@guarded()
def run_worker(options: ServeOptions, number: int, on_ready: Callable[[], None]) -> None:
    """Serve as one of several processes; the first one also does the work that is done once for all."""
    dovetail = make_app(options)
    first = FirstModel(dovetail.settings)
    with (
        write_logs(dovetail.settings, first.log),
        open_listener(options.host, options.port, ANOTHER, is_shared=True) as listener,
    ):
        run_here(dovetail, options, listener, on_ready, first if number == 0 else None)


def make_app(options: ServeOptions) -> Dovetail:
    """Return the app to serve, with the tools that need a page."""
    dovetail = Dovetail(workspace=options.workspace)
    options.engine.apply(dovetail.settings)
    register_page_tools(dovetail)
    guard_agents(dovetail, options)
    return dovetail


def run_here(
    dovetail: Dovetail,
    options: ServeOptions,
    listener: socket.socket,
    on_ready: Callable[[], None],
    first: FirstModel | None,
) -> None:
    """Serve in this process until it is stopped by a signal; the first one also downloads its model."""

    async def warm() -> None:
        if not dovetail.runs.running:  # a question that waited for the model comes first
            await warm_up(dovetail, equip=partial(offer_background, host=dovetail))

    @asynccontextmanager
    async def work_alongside(first: FirstModel) -> AsyncGenerator[None]:
        async with first.arrive(warm), follow_changes(dovetail) if options.watch else nullcontext():
            yield

    def greet() -> None:
        with first.make_room() if first else nullcontext():
            on_ready()

    alongside = partial(work_alongside, first) if first else nullcontext
    api = create_app(
        dovetail, web=options.web, is_open=options.insecure, alongside=alongside, works=options.works
    )
    run_server(api, listener, greet)


def guard_agents(dovetail: Dovetail, options: ServeOptions) -> None:
    """Use agent files of the project only once they were acknowledged, if other machines are served."""
    record = open_record(dovetail.workspace)
    if options.trust:
        record.acknowledge(list_agent_files(dovetail.workspace / "agents"))
    if serves_others(dovetail, options):
        dovetail.agents.trust = record


def serves_others(dovetail: Dovetail, options: ServeOptions) -> bool:
    """Whether other machines may connect, directly or through a proxy on this one."""
    has_keys = bool(dovetail.settings.section(ServerSettings).api_keys)
    return options.insecure or has_keys or not is_loopback(options.host)


def print_greeting(dovetail: Dovetail, options: ServeOptions, port: int, workers: int = 1) -> None:
    """Print the address, the model, and whether the web client is missing."""
    host = f"[{options.host}]" if ":" in options.host else options.host
    typer.echo(f"Dovetail is at http://{host}:{port}")
    count = f" {workers} workers." if workers > 1 else ""
    wait = (
        "; it is on its way, and questions wait for it"
        if FirstModel(dovetail.settings).find_missing()
        else ""
    )
    typer.echo(f"Model: {ModelStatus(dovetail.settings).active}{wait}.{count} Stop with Ctrl-C.")
    own = options.web or dovetail.settings.section(ServerSettings).web
    if own is None and find_assets("web") is None:
        typer.echo("The web client is not installed: serving a plain page. See `dovetail doctor`.")
