"""One server process: its app, its socket, its logs."""

import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from dovetail.agents.file import list_agent_files
from dovetail.app import Dovetail
from dovetail.cli.first_model import FirstModel
from dovetail.cli.process import follow_changes, open_listener
from dovetail.cli.terminal import open_record
from dovetail.server.app import create_app
from dovetail.server.logs import write_logs
from dovetail.server.middleware.client_address import is_loopback
from dovetail.server.socket import run_server
from dovetail.settings.sections import ServerSettings
from dovetail.tools.makers.browser import open_url

ANOTHER = "dovetail serve --port {port} (with make: PORT={port} make run)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What was asked for on the command line; every worker is given the same."""

    host: str
    port: int
    insecure: bool
    workspace: Path | None
    watch: bool
    trust: bool


def be_worker(options: ServeOptions, number: int, on_ready: Callable[[], None]) -> None:
    """Serve as one of several processes; the first one sees to what is done once for all."""
    dovetail = make_app(options)
    with (
        write_logs(dovetail.settings),
        open_listener(options.host, options.port, ANOTHER, is_shared=True) as listener,
    ):
        run_here(dovetail, options, listener, on_ready, is_first=number == 0)


def make_app(options: ServeOptions) -> Dovetail:
    """The app to serve, with the tools that need a page."""
    dovetail = Dovetail(workspace=options.workspace)
    dovetail.tools.register_tool(open_url)
    guard_agents(dovetail, options)
    return dovetail


def run_here(
    dovetail: Dovetail,
    options: ServeOptions,
    listener: socket.socket,
    on_ready: Callable[[], None],
    *,
    is_first: bool = True,
) -> None:
    """Serve in this process until a signal comes."""
    first = FirstModel(dovetail.settings)

    @asynccontextmanager
    async def work_beside() -> AsyncGenerator[None]:
        async with first.arrive(), follow_changes(dovetail) if options.watch else nullcontext():
            yield

    alongside = work_beside if is_first else nullcontext
    api = create_app(dovetail, is_open=options.insecure, alongside=alongside)
    first.status = api.state.models
    run_server(api, listener, on_ready)


def guard_agents(dovetail: Dovetail, options: ServeOptions) -> None:
    """Where others come in, an agent file of the project is used only once it was acknowledged."""
    record = open_record(dovetail.workspace)
    if options.trust:
        record.acknowledge(list_agent_files(dovetail.workspace / "agents"))
    if serves_others(dovetail, options):
        dovetail.agents.trust = record


def serves_others(dovetail: Dovetail, options: ServeOptions) -> bool:
    """Whether people of other machines may come in, be it through a proxy on this one."""
    has_keys = bool(dovetail.settings.section(ServerSettings).api_keys)
    return options.insecure or has_keys or not is_loopback(options.host)
