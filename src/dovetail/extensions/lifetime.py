"""How long a version of a folder lives: as long as a snapshot, a run or a call holds one of its tools.

Nobody has to give anything back: a version's tools share one `Lease`, and when the last of them is gone the
version's `teardown()` runs and its modules are purged.
"""

import asyncio
import inspect
import logging
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from dovetail.data.text import describe_error
from dovetail.errors import ExtensionError, ToolError
from dovetail.extensions.importing import ImportedFolder
from dovetail.extensions.modules import purge_package
from dovetail.extensions.place import find_place
from dovetail.tools.exits import contain_exits
from dovetail.tools.threads import run_in_thread

logger = logging.getLogger(__name__)


class SlowSetupError(ExtensionError):
    """A `setup()` took longer than its limit: trying it again would take as long."""


class ExtensionState(dict[str, Any]):
    """What the versions of one folder share; gone with the last of them."""


@dataclass(slots=True, kw_only=True)
class ExtensionContext:
    """What `setup(context)` receives; `state` is the same dict for all versions of the folder.

    `settings` are the folder's own: the table `[extensions.<name>]` of `dovetail.toml`.

    `is_last` is true in a `teardown()` after which no version of the folder is left: the folder was removed
    or the app stops. What lies in `state` is closed then, and only then.
    """

    name: str
    folder: Path
    workspace: Path
    state: ExtensionState
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_last: bool = False


@dataclass(slots=True, kw_only=True)
class _Life:
    package: str
    module: ModuleType
    context: ExtensionContext
    is_set_up: bool = False
    is_over: bool = False

    def get_hook(self, name: str) -> Callable[..., Any] | None:
        hook = getattr(self.module, name, None)
        return hook if callable(hook) else None


@dataclass(slots=True, weakref_slot=True, eq=False)
class Lease:
    """Keeps one version alive; its tools hold it."""

    life: _Life = field(repr=False)


class Lifetimes:
    """Begins and ends versions: `setup` before the first use, `teardown` and purge after the last."""

    def __init__(self, time_limit: float) -> None:
        self._time_limit = time_limit
        self._states: weakref.WeakValueDictionary[str, ExtensionState] = weakref.WeakValueDictionary()
        self._leases: weakref.WeakSet[Lease] = weakref.WeakSet()
        self._ending: dict[str, _Life] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, imported: ImportedFolder, context: ExtensionContext) -> Lease:
        """Start a version's life."""
        context.state = self._states.setdefault(context.name, context.state)
        lease = Lease(_Life(package=imported.package, module=imported.module, context=context))
        self._leases.add(lease)
        weakref.finalize(lease, self._end, asyncio.get_running_loop(), lease.life).atexit = False
        return lease

    async def set_up(self, lease: Lease) -> None:
        """Call the version's `setup(context)`, if it has one and was not set up before."""
        life = lease.life
        if not life.is_set_up:
            await self._call(life, "setup", life.context)
            life.is_set_up = True

    async def close(self) -> None:
        """End all versions, also those in use, and wait for the teardowns under way."""
        lives = [lease.life for lease in self._leases if not lease.life.is_over]
        for life in lives:
            self._ending[life.package] = life
        for life in lives:
            await self._tear_down(life)
        await asyncio.gather(*self._tasks)

    def _end(self, loop: asyncio.AbstractEventLoop, life: _Life) -> None:
        """Runs wherever the last reference went, so a teardown is only handed over to the loop."""
        if life.is_over or not life.is_set_up or life.get_hook("teardown") is None:
            purge_package(life.package)
            return
        try:
            loop.call_soon_threadsafe(self._start_teardown, life)
        except RuntimeError:  # the loop is closed
            purge_package(life.package)

    def _start_teardown(self, life: _Life) -> None:
        self._ending[life.package] = life
        task = asyncio.ensure_future(self._tear_down(life))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tear_down(self, life: _Life) -> None:
        life.is_over = True
        try:
            if life.is_set_up:
                life.context.is_last = not self._has_other(life)
                await self._call(life, "teardown")
        except ExtensionError:
            logger.exception("teardown() of extension %r failed", life.context.name)
        finally:
            self._ending.pop(life.package, None)
            purge_package(life.package)

    def _has_other(self, life: _Life) -> bool:
        living = [lease.life for lease in self._leases if not lease.life.is_over]
        return any(
            other.context.name == life.context.name
            for other in (*living, *self._ending.values())
            if other is not life
        )

    async def _call(self, life: _Life, name: str, *arguments: Any) -> None:
        """Call a hook, if there is one; whatever it raises, also SystemExit, ends as an `ExtensionError`."""
        hook = life.get_hook(name)
        if hook is None:
            return
        limit = asyncio.timeout(self._time_limit)
        try:
            async with limit:
                with contain_exits():
                    if inspect.iscoroutinefunction(hook):
                        await hook(*arguments)
                    else:
                        await run_in_thread(lambda: hook(*arguments))
        except KeyboardInterrupt:  # the user's own
            raise
        except BaseException as error:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            cause = error.__cause__ if isinstance(error, ToolError) and error.__cause__ else error
            file, line = find_place(error, life.context.folder)
            if limit.expired():
                raise SlowSetupError(
                    f"{name}() failed: it took longer than {self._time_limit:g} s", file=file, line=line
                ) from error
            raise ExtensionError(f"{name}() failed: {describe_error(cause)}", file=file, line=line) from error
