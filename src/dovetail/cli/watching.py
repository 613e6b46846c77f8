"""`--watch`: a command that reloads as folders are edited, and says so."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import typer

from dovetail.app import Dovetail
from dovetail.extensions.extension import ExtensionSnapshot


@asynccontextmanager
async def follow_changes(
    dovetail: Dovetail, on_reload: Callable[[], None] = lambda: None
) -> AsyncGenerator[None]:
    """Reload the app during its work, as folders are edited; `on_reload` is called after each time."""

    def follow(snapshot: ExtensionSnapshot) -> None:
        tell_reload(snapshot)
        on_reload()

    task = asyncio.create_task(dovetail.watch(follow))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


def tell_reload(snapshot: ExtensionSnapshot) -> None:
    """Say what is in service now; the loader logs why a folder failed."""
    failed = [failure.extension for failure in snapshot.failed_extensions]
    changed = [name for name in snapshot.loaded_extensions if name not in (*snapshot.unchanged, *failed)]
    words = [*changed, *(f"{name} (removed)" for name in snapshot.removed)]
    words += [f"{name} (failed)" for name in failed]
    typer.echo(f"Reloaded: {', '.join(words)}" if words else "Reloaded.", err=True)
