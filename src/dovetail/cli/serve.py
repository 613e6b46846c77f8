"""`dovetail serve`: the page and the HTTP interface."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

import typer

from dovetail.app import Dovetail
from dovetail.cli.first_model import FirstModel
from dovetail.cli.listener import open_listener
from dovetail.cli.trusted import open_record
from dovetail.errors import ConfigError
from dovetail.extensions.extension import ExtensionSnapshot
from dovetail.server.access import is_loopback
from dovetail.server.app import create_app
from dovetail.server.listen import run_server
from dovetail.server.logs import write_logs
from dovetail.subagents.file import list_agent_files
from dovetail.tools.browser import open_url

app = typer.Typer()


@app.command("serve")
def serve(
    host: str = typer.Option("127.0.0.1", help="The address to listen on.", envvar="HOST"),
    port: int = typer.Option(8000, help="The port to listen on; 0 takes a free one.", envvar="PORT"),
    insecure: bool = typer.Option(False, "--insecure", help="Let other machines in without API keys."),
    workspace: Path | None = typer.Option(None, help="The folder to work in; else the current one."),
    watch: bool = typer.Option(False, "--watch", help="Reload by itself when a folder is edited."),
    trust: bool = typer.Option(False, "--trust", help="Acknowledge the agent files that are there now."),
) -> None:
    """Serve the page and the HTTP interface."""
    if not insecure and not is_loopback(host) and not os.environ.get("DOVETAIL_API_KEYS"):
        raise ConfigError(
            f"{host!r} can be reached from other machines, and there are no API keys",
            hint="Set DOVETAIL_API_KEYS (ann:key1,bob:key2), or let everybody in with --insecure.",
        )
    dovetail = Dovetail(workspace=workspace)
    dovetail.tools.register_tool(open_url)
    guard_agents(dovetail, host, trust)
    first = FirstModel(dovetail.settings)
    first.prepare()

    @asynccontextmanager
    async def work_beside() -> AsyncGenerator[None]:
        async with first.arrive(), follow_changes(dovetail) if watch else nullcontext():
            yield

    api = create_app(dovetail, is_open=insecure, beside=work_beside)
    first.board = api.state.models
    with (
        write_logs(dovetail.settings),
        open_listener(
            host, port, "dovetail serve --port {port} (with make: PORT={port} make run)"
        ) as listener,
    ):
        address = f"http://{_shown(host)}:{listener.getsockname()[1]}"

        def greet() -> None:
            typer.echo(f"Dovetail is at {address}")
            typer.echo(f"Model: {api.state.models.active}. Stop with Ctrl-C.")

        run_server(api, listener, greet)


def guard_agents(dovetail: Dovetail, host: str, trust: bool) -> None:
    """Where other machines come in, an agent file of the project is used only once it was acknowledged."""
    record = open_record(dovetail.workspace)
    if trust:
        record.acknowledge(list_agent_files(dovetail.workspace / "agents"))
    if not is_loopback(host):
        dovetail.agents.trust = record


@asynccontextmanager
async def follow_changes(dovetail: Dovetail) -> AsyncGenerator[None]:
    """Reload the app beside its work, as folders are edited."""
    task = asyncio.create_task(dovetail.watch(_tell_reload))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


def _tell_reload(snapshot: ExtensionSnapshot) -> None:
    """Say what is in service now; what is broken the loader tells."""
    changed = [name for name in snapshot.loaded_extensions if name not in snapshot.unchanged]
    words = [*changed, *(f"{name} (removed)" for name in snapshot.removed)]
    typer.echo(f"Reloaded: {', '.join(words)}" if words else "Reloaded.")


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
