"""Tells when something below some folders changes, so that a reload can follow."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from dovetail.lazy import lazy

watchfiles = lazy("watchfiles", extra="server")

_LONGEST_WAIT = 500
_QUIET = 100
_LOOK_AGAIN = 1000
"""Milliseconds: how long changes are gathered at most, how long it must be quiet before they are told, and
how often folders that do not exist yet are looked for."""


async def watch(
    paths: Sequence[Path], *, stop: asyncio.Event | None = None
) -> AsyncGenerator[frozenset[Path], None]:
    """Yield the changed paths each time something below `paths` has changed and it is quiet again.

    A folder may come into being later, and go. Setting `stop` ends the iteration.
    """
    stop = stop or asyncio.Event()
    present = _find_present(paths)
    while not stop.is_set():
        async for changed in _watch_present(present, stop):
            found = _find_present(paths)
            if changed or found != present:
                yield changed | (found ^ present)
            if found != present:
                present = found
                break


async def _watch_present(
    present: frozenset[Path], stop: asyncio.Event
) -> AsyncGenerator[frozenset[Path], None]:
    """What changes below folders that exist; an empty set each time it is time to look around."""
    if not present:
        try:
            await asyncio.wait_for(stop.wait(), _LOOK_AGAIN / 1000)
        except TimeoutError:
            yield frozenset()
        return
    changes = watchfiles.awatch(
        *present,
        debounce=_LONGEST_WAIT,
        step=_QUIET,
        rust_timeout=_LOOK_AGAIN,
        yield_on_timeout=True,
        stop_event=stop,
    )
    async for batch in changes:
        yield frozenset(Path(path) for _, path in batch)


def _find_present(paths: Sequence[Path]) -> frozenset[Path]:
    return frozenset(path for path in paths if path.is_dir())
