"""How long a version of a folder lives: as long as a snapshot, a run or a call holds one of its tools.

Nobody has to give anything back: a version's tools share one `Lease`, and when the last of them is gone the
version's `teardown()` runs and its modules are purged.
"""

import asyncio
import inspect
import logging
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from dovetail.errors import ExtensionError
from dovetail.extensions.modules import purge_package
from dovetail.tools.threads import run_in_thread

logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class ExtensionContext:
    """What `setup(context)` receives; `state` is the same dict for all versions of the folder.

    `is_last` is true in a `teardown()` after which no version of the folder is left: the folder was removed
    or the app stops. What lies in `state` is closed then, and only then.
    """

    name: str
    folder: Path
    workspace: Path
    state: dict[str, Any]
    is_last: bool = False


@dataclass(slots=True, kw_only=True)
class _Life:
    package: str
    module: ModuleType
    context: ExtensionContext
    needs_teardown: bool = False
    is_over: bool = False


@dataclass(slots=True, weakref_slot=True, eq=False)
class Lease:
    """Keeps one version alive; its tools hold it."""

    life: _Life = field(repr=False)


class Lifetimes:
    """Begins and ends versions: `setup` before the first use, `teardown` and purge after the last."""

    def __init__(self, time_limit: float) -> None:
        self._time_limit = time_limit
        self._states: dict[str, dict[str, Any]] = {}
        self._living: Counter[str] = Counter()
        self._leases: weakref.WeakSet[Lease] = weakref.WeakSet()
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, package: str, module: ModuleType, folder: Path, workspace: Path) -> Lease:
        """Start a version's life."""
        state = self._states.setdefault(folder.name, {})
        context = ExtensionContext(name=folder.name, folder=folder, workspace=workspace, state=state)
        life = _Life(package=package, module=module, context=context)
        lease = Lease(life)
        self._living[folder.name] += 1
        self._leases.add(lease)
        weakref.finalize(lease, self._end, asyncio.get_running_loop(), life).atexit = False
        return lease

    async def set_up(self, lease: Lease) -> None:
        """Call the version's `setup(context)`, if it has one and was not set up before."""
        life = lease.life
        setup = getattr(life.module, "setup", None)
        if life.needs_teardown:
            return
        if callable(setup):
            try:
                await self._call(setup, life.context)
            except (Exception, SystemExit) as error:
                raise ExtensionError(
                    f"setup(context) failed: {type(error).__name__}: {error}", file=life.module.__file__
                ) from error
        life.needs_teardown = True

    async def close(self) -> None:
        """End all versions, also those in use, and wait for the teardowns under way."""
        for life in [lease.life for lease in self._leases]:
            await self._tear_down(life)
        await asyncio.gather(*self._tasks)

    def _end(self, loop: asyncio.AbstractEventLoop, life: _Life) -> None:
        """Runs wherever the last reference went, so it only hands over to the loop."""
        try:
            loop.call_soon_threadsafe(self._end_in_loop, life)
        except RuntimeError:  # the loop is closed
            purge_package(life.package)

    def _end_in_loop(self, life: _Life) -> None:
        task = asyncio.ensure_future(self._tear_down(life))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tear_down(self, life: _Life) -> None:
        if life.is_over:
            return
        life.is_over = True
        name = life.context.name
        teardown = getattr(life.module, "teardown", None)
        try:
            if life.needs_teardown and callable(teardown):
                life.context.is_last = self._living[name] == 1
                await self._call(teardown)
        except (Exception, SystemExit):
            logger.exception("teardown() of extension %r failed", name)
        finally:
            purge_package(life.package)
            self._living[name] -= 1
            if not self._living[name]:
                del self._living[name]
                self._states.pop(name, None)

    async def _call(self, hook: Callable[..., Any], *arguments: Any) -> None:
        async with asyncio.timeout(self._time_limit):
            if inspect.iscoroutinefunction(hook):
                await hook(*arguments)
            else:
                await run_in_thread(lambda: hook(*arguments))
