"""`--watch`: a command that reloads as folders are edited, and says so."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import typer

from dovetail.app import Dovetail
from dovetail.extensions.extension import ExtensionSnapshot


@asynccontextmanager
async def follow_changes(dovetail: Dovetail) -> AsyncGenerator[None]:
    """Reload the app beside its work, as folders are edited."""
    task = asyncio.create_task(dovetail.watch(tell_reload))
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
