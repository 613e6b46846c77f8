"""What commands that serve or work have in common: engine options, a socket, reloads of edited folders."""

import asyncio
import errno
import os
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from dovetail.app import Dovetail, take_over
from dovetail.errors import ConfigError
from dovetail.extensions.extension import ExtensionSnapshot
from dovetail.extensions.watch import Changes
from dovetail.settings import Settings

ENGINE: Any = typer.Option(
    None, help="Which processes work on runs: local, dbos or temporal; by default `runs.engine`."
)
QUEUES: Any = typer.Option(None, help="The queues to work on, with commas; by default `runs.queues`.")
CONCURRENCY: Any = typer.Option(
    None, min=1, help="The most runs of one queue at once in one process; by default `runs.concurrency`."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """The options that say which process works on runs; None leaves a setting as it is."""

    engine: str | None = None
    queues: str | None = None
    concurrency: int | None = None

    def apply(self, settings: Settings) -> None:
        """Change the settings `runs`."""
        if self.engine is not None:
            settings.set("runs.engine", self.engine)
        if self.queues is not None:
            settings.set("runs.queues", [name.strip() for name in self.queues.split(",") if name.strip()])
        if self.concurrency is not None:
            settings.set("runs.concurrency", self.concurrency)


KEEP = EngineOptions()
"""Leave the settings as they are."""


def open_listener(host: str, port: int, another: str, *, is_shared: bool = False) -> socket.socket:
    """Open a listening socket; `another` is the command that chooses another `{port}` if this one is in use.

    On a shared port other processes listen too, each with a socket of its own.
    """
    with _explained(host, port, another):
        listener = socket.create_server(
            (host, port), family=_find_family(host), backlog=2048, reuse_port=is_shared
        )
    # asyncio sets it only for sockets that name their protocol, which those of this listener do not: without
    # it, a response of two pieces takes 40 ms, until the client has confirmed the first.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def reserve_port(host: str, port: int, another: str) -> socket.socket:
    """Reserve a port that processes will share, without listening on it."""
    place = socket.socket(_find_family(host), socket.SOCK_STREAM)
    with _explained(host, port, another):
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        place.bind((host, port))
    return place


@contextmanager
def _explained(host: str, port: int, another: str) -> Generator[None]:
    if not 0 <= port <= 65535:
        raise ConfigError(f"Invalid port {port}: ports are 0 to 65535.")
    try:
        yield
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            hint = f"Stop the program that uses it, or choose another port: {another.format(port=port + 1)}."
            raise ConfigError(f"Port {port} on {host} is already in use.", hint=hint) from error
        raise ConfigError(f"Cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}.") from error


def _find_family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


@asynccontextmanager
async def follow_changes(
    dovetail: Dovetail, on_reload: Callable[[], None] = lambda: None
) -> AsyncGenerator[None]:
    """Reload the app whenever its folders are edited; `on_reload` is called after each reload."""

    def follow(snapshot: ExtensionSnapshot) -> None:
        typer.echo(describe_reload(dovetail, snapshot), err=True)
        on_reload()

    task = asyncio.create_task(dovetail.watch(follow))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


class Reloads:
    """Reloads of edited folders in a program that looks for edits itself, such as before each message."""

    def __init__(self, dovetail: Dovetail) -> None:
        self._dovetail = dovetail
        self._changes = Changes(dovetail.list_watched())

    async def catch_up(self) -> str | None:
        """Reload if a file has changed since the last look; return what is in service then."""
        if not self._changes.look():
            return None
        snapshot = await take_over(self._dovetail.reload)
        return None if snapshot is None else describe_reload(self._dovetail, snapshot)


def describe_reload(dovetail: Dovetail, snapshot: ExtensionSnapshot) -> str:
    """Return the folders and agents that a reload has changed; the log has the reasons of failures."""
    failed = [each.extension for each in snapshot.failed_extensions if not each.unchanged]
    changed = [name for name in snapshot.loaded_extensions if name not in (*snapshot.unchanged, *failed)]
    agents = dovetail.agents.report
    words = [*changed, *agents.new, *agents.changed]
    words += [f"{name} (removed)" for name in (*snapshot.removed, *agents.removed)]
    words += [f"{name} (still loading)" for name in snapshot.loading]
    words += [f"{name} (failed)" for name in (*failed, *(Path(each.path).name for each in agents.failed))]
    return f"Reloaded: {', '.join(dict.fromkeys(words))}" if words else "Reloaded."
