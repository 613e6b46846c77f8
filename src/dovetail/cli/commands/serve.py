"""`dovetail serve`: the page and the HTTP interface."""

import os
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import typer

from dovetail.app import Dovetail
from dovetail.cli.first_model import FirstModel
from dovetail.cli.process import open_listener, reserve_port
from dovetail.cli.terminal import WORKSPACE
from dovetail.cli.worker import ANOTHER, ServeOptions, be_worker, make_app, run_here
from dovetail.errors import ConfigError
from dovetail.requesters.model_status import ModelStatus
from dovetail.server.logs import write_logs
from dovetail.server.metrics import SHARED_FOLDER, forget_process
from dovetail.server.middleware.client_address import is_loopback
from dovetail.server.workers import Workers
from dovetail.settings.sections import ServerSettings, StoreSettings

app = typer.Typer()


@app.command("serve")
def serve(  # noqa: PLR0913 - every option of the command is one
    host: str = typer.Option("127.0.0.1", help="The address to listen on.", envvar="HOST"),
    port: int = typer.Option(8000, help="The port to listen on; 0 takes a free one.", envvar="PORT"),
    insecure: bool = typer.Option(False, "--insecure", help="Let other machines in without API keys."),
    workspace: Path | None = WORKSPACE,
    watch: bool = typer.Option(False, "--watch", help="Reload by itself when a folder is edited."),
    trust: bool = typer.Option(False, "--trust", help="Acknowledge the agent files that are there now."),
    workers: int = typer.Option(1, min=1, max=256, help="How many processes; several need PostgreSQL."),
) -> None:
    """Serve the page and the HTTP interface."""
    options = ServeOptions(
        host=host, port=port, insecure=insecure, workspace=workspace, watch=watch, trust=trust
    )
    dovetail = make_app(options)
    check(dovetail, options, workers)
    FirstModel(dovetail.settings).prepare()
    if workers > 1:
        serve_many(dovetail, options, workers)
    else:
        with write_logs(dovetail.settings), open_listener(host, port, ANOTHER) as listener:
            greet = partial(_greet, dovetail, options, listener.getsockname()[1])
            run_here(dovetail, options, listener, greet)


def check(dovetail: Dovetail, options: ServeOptions, workers: int) -> None:
    """Refuse what would let everybody in, and what could not work."""
    settings = dovetail.settings
    has_keys = bool(settings.section(ServerSettings).api_keys)
    if not options.insecure and not is_loopback(options.host) and not has_keys:
        raise ConfigError(
            f"{options.host!r} can be reached from other machines, and there are no API keys",
            hint="Set DOVETAIL_API_KEYS (ann:key1,bob:key2), or let everybody in with --insecure.",
        )
    if workers > 1 and not (settings.section(StoreSettings).url or "").startswith("postgres"):
        raise ConfigError(
            f"{workers} workers cannot share an SQLite file: only one process may run its answers",
            hint="Set DATABASE_URL=postgresql://user:password@host/name, or serve with one worker.",
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
        work = partial(be_worker, replace(options, port=port, trust=False))
        try:
            Workers(count, work, forget_process).run(partial(_greet, dovetail, options, port, count))
        finally:
            del os.environ[SHARED_FOLDER]


def _greet(dovetail: Dovetail, options: ServeOptions, port: int, workers: int = 1) -> None:
    host = f"[{options.host}]" if ":" in options.host else options.host
    typer.echo(f"Dovetail is at http://{host}:{port}")
    told = f" {workers} workers." if workers > 1 else ""
    typer.echo(f"Model: {ModelStatus(dovetail.settings).active}.{told} Stop with Ctrl-C.")
