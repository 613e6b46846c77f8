"""One version of an extension folder: its checked tools, and its lifetime from `setup()` to `teardown()`.

Tools hold a `VersionRef`; the version ends, and its modules are purged, when the last of them is gone.
"""

import asyncio
import inspect
import logging
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from dovetail.data.text import describe_error
from dovetail.errors import ConfigError, ExtensionError, ToolError
from dovetail.events.tool_context import ToolContext
from dovetail.extensions.definition import ToolDefinition, read_definitions
from dovetail.extensions.exclusion import Exclusion
from dovetail.extensions.extension import POLICY
from dovetail.extensions.folder import ENTRY, ExtensionFolder, find_place
from dovetail.extensions.importing import ImportedFolder, purge_package
from dovetail.extensions.parameters import CallPlan
from dovetail.extensions.settings import FolderSettings
from dovetail.extensions.web_files import LARGEST_FILE
from dovetail.policy.file import PolicyFile
from dovetail.policy.rule_text import RuleError
from dovetail.tools.makers.browser import make_browser_tool
from dovetail.tools.makers.function import make_tool
from dovetail.tools.pipeline.coerce import coerce_arguments
from dovetail.tools.threads import contain_exits, run_in_thread
from dovetail.tools.tool import Execute, Preview, Tool

logger = logging.getLogger(__name__)


class SlowSetupError(ExtensionError):
    """A `setup()` timed out; it is not retried, because it would take as long again."""


class ExtensionState(dict[str, Any]):
    """State shared by the versions of one folder, dropped with the last of them."""


@dataclass(slots=True, kw_only=True)
class ExtensionContext:
    """What `setup(context)` receives; `state` is the same dict for all versions of the folder.

    `settings` are the folder's own: those that it declares in `SETTINGS`, otherwise the table
    `[extensions.<name>]` of `dovetail.toml`. Calls find them in `ToolContext.settings`.

    `is_last` is true in a `teardown()` after which no version of the folder is left: the folder was removed
    or the app stops. Close the contents of `state` then, and only then.
    """

    name: str
    folder: Path
    workspace: Path
    state: ExtensionState
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_last: bool = False


@dataclass(slots=True, kw_only=True)
class _Lifetime:
    """The state of one version, kept apart from its `VersionRef` because it outlives that in `teardown()`."""

    package: str
    module: ModuleType
    context: ExtensionContext
    is_set_up: bool = False
    is_over: bool = False

    def get_hook(self, name: str) -> Callable[..., Any] | None:
        hook = getattr(self.module, name, None)
        return hook if callable(hook) else None


@dataclass(slots=True, weakref_slot=True, eq=False)
class VersionRef:
    """A counted reference: the version lives as long as any tool holds this."""

    lifetime: _Lifetime = field(repr=False)


class VersionLifetimes:
    """Begin and end versions: `setup` before the first use, `teardown` and purge after the last."""

    def __init__(self, time_limit: float) -> None:
        self._time_limit = time_limit
        self._states: weakref.WeakValueDictionary[str, ExtensionState] = weakref.WeakValueDictionary()
        self._refs: weakref.WeakSet[VersionRef] = weakref.WeakSet()
        self._ending: dict[str, _Lifetime] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, imported: ImportedFolder, context: ExtensionContext) -> VersionRef:
        """Start a version's lifetime; it ends with the last reference."""
        context.state = self._states.setdefault(context.name, context.state)
        ref = VersionRef(_Lifetime(package=imported.package, module=imported.module, context=context))
        self._refs.add(ref)
        weakref.finalize(ref, self._end, asyncio.get_running_loop(), ref.lifetime).atexit = False
        return ref

    async def set_up(self, ref: VersionRef) -> None:
        """Call the version's `setup(context)`, if any, unless it has been called already."""
        lifetime = ref.lifetime
        if not lifetime.is_set_up:
            await self._call(lifetime, "setup", lifetime.context)
            lifetime.is_set_up = True

    async def close(self) -> None:
        """End all versions, also those in use, and wait for the teardowns in progress."""
        lifetimes = [ref.lifetime for ref in self._refs if not ref.lifetime.is_over]
        for lifetime in lifetimes:
            self._ending[lifetime.package] = lifetime
        for lifetime in lifetimes:
            await self._tear_down(lifetime)
        await asyncio.gather(*self._tasks)

    def _end(self, loop: asyncio.AbstractEventLoop, lifetime: _Lifetime) -> None:
        """Runs in whichever thread dropped the last reference, so a teardown is handed to the loop."""
        if lifetime.is_over or not lifetime.is_set_up or lifetime.get_hook("teardown") is None:
            purge_package(lifetime.package)
            return
        try:
            loop.call_soon_threadsafe(self._start_teardown, lifetime)
        except RuntimeError:  # the loop is closed
            purge_package(lifetime.package)

    def _start_teardown(self, lifetime: _Lifetime) -> None:
        self._ending[lifetime.package] = lifetime
        task = asyncio.ensure_future(self._tear_down(lifetime))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tear_down(self, lifetime: _Lifetime) -> None:
        lifetime.is_over = True
        try:
            if lifetime.is_set_up:
                lifetime.context.is_last = not self._has_other(lifetime)
                await self._call(lifetime, "teardown")
        except ExtensionError:
            logger.exception("teardown() of extension %r failed", lifetime.context.name)
        finally:
            self._ending.pop(lifetime.package, None)
            purge_package(lifetime.package)

    def _has_other(self, lifetime: _Lifetime) -> bool:
        living = [ref.lifetime for ref in self._refs if not ref.lifetime.is_over]
        return any(
            other.context.name == lifetime.context.name
            for other in (*living, *self._ending.values())
            if other is not lifetime
        )

    async def _call(self, lifetime: _Lifetime, name: str, *arguments: Any) -> None:
        """Call a hook, if any; whatever it raises, also SystemExit, becomes an `ExtensionError`."""
        hook = lifetime.get_hook(name)
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
            file, line = find_place(error, lifetime.context.folder)
            if limit.expired():
                raise SlowSetupError(
                    f"{name}() failed: timed out after {self._time_limit:g} s", file=file, line=line
                ) from error
            raise ExtensionError(f"{name}() failed: {describe_error(cause)}", file=file, line=line) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionVersion:
    """A folder's tools at the time it was read."""

    folder: ExtensionFolder
    tools: tuple[Tool, ...]
    notices: tuple[str, ...]
    ref: VersionRef
    agents: tuple[str, ...]
    """Names of the agents that its files define."""
    settings: FolderSettings
    lines: Mapping[str, int | None]
    """The line of each tool in the entry file, if known."""

    def select_tools(self, exclusion: Exclusion) -> list[Tool]:
        """Return the tools that are not excluded."""
        return [tool for tool in self.tools if not exclusion.has_tool(tool.name)]


def make_version(
    folder: ExtensionFolder,
    imported: ImportedFolder,
    ref: VersionRef,
    agents: Iterable[str],
    settings: FolderSettings,
) -> ExtensionVersion:
    """Check the folder's exports and build its tools."""
    source = folder.sources.get(ENTRY)
    definitions, notices = ([], []) if source is None else read_definitions(imported.module, source)
    _check_policy(folder.path / POLICY)
    return ExtensionVersion(
        folder=folder,
        tools=tuple(_build_tool(definition, folder, ref) for definition in definitions),
        notices=(*imported.notices, *notices, *_list_large_files(folder)),
        ref=ref,
        agents=tuple(agents),
        settings=settings,
        lines={definition.name: definition.line for definition in definitions},
    )


def _list_large_files(folder: ExtensionFolder) -> list[str]:
    return [
        f"web/{name} is not served: it has more than {LARGEST_FILE // 1_000_000} MB"
        for name in folder.web.too_large
    ]


def _check_policy(path: Path) -> None:
    """Raise if the folder's rules cannot be read: they may forbid what its tools do."""
    try:
        PolicyFile(path, may_allow=False).read()
    except ConfigError as error:
        line = error.line if isinstance(error, RuleError) else None
        raise ExtensionError(error.message, file=str(path), line=line, hint=error.hint) from error


@dataclass(frozen=True, slots=True)
class _Execute:
    """Call the function, and hold the ref so that the code lives as long as the tool."""

    call: Execute
    plan: CallPlan | None
    ref: VersionRef

    async def __call__(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        arguments = arguments if self.plan is None else self.plan.apply(arguments)
        return await self.call(arguments, _add_settings(context, self.ref))


@dataclass(frozen=True, slots=True)
class _Preview:
    """Call the preview with the defaults of omitted arguments, and hold the ref as `_Execute` does."""

    call: Preview
    defaults: Mapping[str, Any]
    ref: VersionRef

    def __call__(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        return self.call({**self.defaults, **arguments}, _add_settings(context, self.ref))


def _add_settings(context: ToolContext, ref: VersionRef) -> ToolContext:
    return replace(context, settings=ref.lifetime.context.settings)


def _build_tool(definition: ToolDefinition, folder: ExtensionFolder, ref: VersionRef) -> Tool:
    try:
        tool = _make_tool(definition, folder, ref)
        _ = tool.checker  # a schema that cannot be compiled fails here, not in a run
    except ConfigError as error:
        file = str(folder.path / ENTRY)
        raise ExtensionError(error.message, file=file, line=definition.line, hint=error.hint) from error
    return tool


def _make_tool(definition: ToolDefinition, folder: ExtensionFolder, ref: VersionRef) -> Tool:
    function, plan = definition.function, definition.plan
    common: dict[str, Any] = {
        "name": definition.name,
        "display_name": definition.title,
        "description": definition.description,
        "parameters": definition.schema,
        "kind": definition.kind,
        "tags": (definition.label,),
        "origin": f"extension:{folder.name}",
        "source": f"{folder.path / ENTRY}:{getattr(function, '__name__', definition.name)}",
    }
    if (made := definition.made) is not None:
        return made.with_changes(
            execute=_Execute(made.execute, None, ref),
            preview=made.preview and _Preview(made.preview, {}, ref),
            origin=common["origin"],
            source=common["source"],
            tags=made.tags or (folder.name,),
        )
    if function is None or plan is None:
        preview = definition.preview and _Preview(definition.preview, {}, ref)
        return make_browser_tool(**common, patience=definition.time_limit, preview=preview)
    tool = make_tool(function, **common, time_limit=definition.time_limit)
    plan = _read_defaults(tool, plan)
    return tool.with_changes(
        execute=_Execute(tool.execute, plan, ref),
        preview=definition.preview and _Preview(definition.preview, plan.absent, ref),
        takes=tool.takes if plan.dict_name is None else None,
    )


def _read_defaults(tool: Tool, plan: CallPlan) -> CallPlan:
    """Return the plan with its defaults coerced as arguments are, so that "3" for an integer is 3."""
    try:
        read = coerce_arguments(tool, dict(plan.absent)).args
    except ValueError:  # one that JSON does not know, such as infinity
        return plan
    return replace(plan, absent={**plan.absent, **read})
