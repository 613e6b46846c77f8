"""Load extension folders and publish them as numbered generations.

A reload imports and checks the folders that changed, then swaps in one assignment. A folder that fails is
reported and keeps its last good version; holders of an older snapshot keep working with it. Reloads overlap:
each waits for the folders that it began to import, and reports those of a slow earlier reload as loading.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dovetail.errors import ConfigError, ExtensionError
from dovetail.extensions.exclusion import Exclusion, read_exclusion
from dovetail.extensions.extension import AGENTS, ExtensionSnapshot
from dovetail.extensions.folder import Discovery, ExtensionFolder, discover
from dovetail.extensions.importing import FolderImporter, explain_error
from dovetail.extensions.selection import Arrival, NameRules, ReloadReport, Selection
from dovetail.extensions.settings import read_folder_settings
from dovetail.extensions.version import (
    ExtensionContext,
    ExtensionState,
    ExtensionVersion,
    SlowSetupError,
    VersionLifetimes,
    make_version,
)
from dovetail.settings import Settings, default_settings, find_workspace
from dovetail.settings.sections import ExtensionSettings

logger = logging.getLogger(__name__)

DEFAULT_LIMIT = 10.0
_PATIENCE = 0.5
"""Seconds after which the next folder is imported while a slow one is in progress."""


def _reserve_nothing() -> Mapping[str, str]:
    return {}


def _list_no_agents(folder: Path) -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionHost:
    """What the loader asks of the app: the agents in a folder of agent files, and the settings."""

    list_agents: Callable[[Path], Iterable[str]] = _list_no_agents
    settings: Settings | None = None


_NO_HOST = ExtensionHost()


class ExtensionLoader:
    """Load the folders of one or more roots; a folder in an earlier root hides its namesake in a later one.

    `reserved` returns the names of tools that do not come from extension folders, with their owners;
    `exclusion` says which folders and tools are left out, by default as the environment says; `time_limit`
    is the number of seconds that an import, or a `setup()`, may take: `EXTENSION_IMPORT_LIMIT`, or 10.
    """

    def __init__(
        self,
        root: str | Path,
        *further_roots: str | Path,
        workspace: str | Path | None = None,
        reserved: Callable[[], Mapping[str, str]] = _reserve_nothing,
        exclusion: Callable[[], Exclusion] = read_exclusion,
        host: ExtensionHost = _NO_HOST,
        time_limit: float | None = None,
    ) -> None:
        self.roots = tuple(dict.fromkeys(Path(each).resolve() for each in (root, *further_roots)))
        self._workspace = find_workspace(workspace)
        self._reserved = reserved
        self._exclusion = exclusion
        self._host = host
        if time_limit is None:
            time_limit = default_settings().section(ExtensionSettings).import_limit or DEFAULT_LIMIT
        self._importer = FolderImporter(time_limit)
        self._lifetimes = VersionLifetimes(time_limit)
        self._reading = asyncio.Lock()
        self._reloads: list[asyncio.Future[None]] = []
        self._found = Discovery(folders=(), failures=(), notices=()), Exclusion()
        self._arrivals: dict[str, Arrival] = {}
        self._versions: dict[str, ExtensionVersion] = {}
        self._snapshot = ExtensionSnapshot()
        self._slow_setups: dict[Path, tuple[str, ExtensionError]] = {}
        self._logged: set[str] = set()

    @property
    def snapshot(self) -> ExtensionSnapshot:
        """The newest generation."""
        return self._snapshot

    async def reload(self) -> ExtensionSnapshot:
        """Read the folders, import those that changed and publish the next generation.

        A folder that an earlier reload is still importing does not hold this one up: it is in `loading`, and
        the earlier reload publishes it.
        """
        earlier = list(self._reloads)
        end = asyncio.get_running_loop().create_future()
        self._reloads.append(end)
        begun: list[Arrival] = []
        try:
            begun = await self._begin()
            await self._import(begun)
            if earlier:
                await asyncio.wait(earlier, timeout=_PATIENCE)
            while chosen := self._choose_new():
                await asyncio.gather(*(self._set_up(arrival, version) for arrival, version in chosen))
            return self._publish()
        finally:
            self._end(begun, end)

    async def close(self) -> None:
        """End all versions: run their `teardown()` and drop their modules."""
        arrivals, self._arrivals = self._arrivals, {}
        for arrival in arrivals.values():
            arrival.cancel()
        await asyncio.gather(*self._reloads)
        await self._lifetimes.close()
        self._versions = {}

    async def _begin(self) -> list[Arrival]:
        """Read the folders and return those to import; what a reload in progress has begun is left to it."""
        async with self._reading:  # what is published is always the newest that was read
            exclusion = self._exclusion()
            discovery = await asyncio.to_thread(discover, self.roots)
            self._found = discovery, exclusion
            before, self._arrivals = self._arrivals, {}
            begun: list[Arrival] = []
            for folder in ReloadReport(self._versions, exclusion).admit(discovery):
                arrival = before.get(folder.name)
                if arrival is None or arrival.failure is not None or not _is_same(arrival.folder, folder):
                    arrival = Arrival(folder)
                    begun.append(arrival)
                self._arrivals[folder.name] = arrival
            for name, arrival in before.items():
                if self._arrivals.get(name) is not arrival:
                    arrival.cancel()
            return begun

    async def _import(self, arrivals: Sequence[Arrival]) -> None:
        """Import folders one after the other; a slow one does not hold up the next for long."""
        async with asyncio.TaskGroup() as group:
            for arrival in arrivals:
                if self._is_wanted(arrival):
                    arrival.task = group.create_task(self._try_import(arrival))
                    await asyncio.wait([arrival.task], timeout=_PATIENCE)

    async def _try_import(self, arrival: Arrival) -> None:
        folder = arrival.folder
        try:
            if (slow := self._slow_setups.get(folder.path)) is not None and slow[0] == folder.digest:
                raise slow[1]
            imported = await self._importer.load(folder)
            settings = read_folder_settings(imported.module, folder.name, self._host.settings)
            context = ExtensionContext(
                name=folder.name,
                folder=folder.path,
                workspace=self._workspace,
                state=ExtensionState(),
                settings=settings.values,
            )
            ref = self._lifetimes.begin(imported, context)
            agents = self._host.list_agents(folder.path / AGENTS)
            arrival.version = make_version(folder, imported, ref, agents, settings)
        except ExtensionError as error:
            arrival.fail(error)
        except ConfigError as error:  # its settings
            arrival.fail(ExtensionError(error.message, hint=error.hint))
        except (Exception, SystemExit) as error:  # what it exports runs code of its own: properties, hooks
            arrival.fail(explain_error(error, folder))
        arrival.is_busy = False

    def _choose_new(self) -> list[tuple[Arrival, ExtensionVersion]]:
        """Return the versions that will serve once the caller has set them up; no other reload does."""
        _, selection = self._select()
        chosen = [
            (arrival, version)
            for name, arrival in self._arrivals.items()
            if (version := arrival.candidate) is not None
            and not arrival.is_ready
            and selection.chosen.get(name) is version
        ]
        for arrival, _ in chosen:
            arrival.is_busy = True
        return chosen

    async def _set_up(self, arrival: Arrival, version: ExtensionVersion) -> None:
        """Set up a version; if that fails, the names are chosen again without it."""
        try:
            await self._lifetimes.set_up(version.ref)
            arrival.is_ready = True
        except ExtensionError as error:
            if isinstance(error, SlowSetupError):
                self._slow_setups[version.folder.path] = version.folder.digest, error
            arrival.fail(error)
        finally:
            arrival.is_busy = False

    def _select(self) -> tuple[ReloadReport, Selection]:
        """Select among the versions that have arrived by now and those in service."""
        discovery, exclusion = self._found
        report = ReloadReport(self._versions, exclusion)
        for folder in report.admit(discovery):
            report.add(folder.name, self._arrivals.get(folder.name))
        rules = NameRules(
            reserved=self._reserved(),
            in_service={
                tool.name: name
                for name, version in self._versions.items()
                for tool in version.select_tools(exclusion)
            },
            exclusion=exclusion,
        )
        return report, rules.select(report.candidates)

    def _publish(self) -> ExtensionSnapshot:
        report, selection = self._select()
        self._snapshot = report.publish(selection, self._snapshot, self._found[0])
        self._versions = selection.chosen
        self._log(self._snapshot)
        return self._snapshot

    def _end(self, begun: Sequence[Arrival], end: asyncio.Future[None]) -> None:
        """Forget what a reload began and did not finish; after the last one in progress, all that arrived."""
        self._reloads.remove(end)
        end.set_result(None)
        for arrival in begun:
            if arrival.is_importing and self._is_wanted(arrival):
                del self._arrivals[arrival.folder.name]
        if not self._reloads:
            self._arrivals.clear()

    def _is_wanted(self, arrival: Arrival) -> bool:
        """Return whether no later edit or reload has taken the place of this version."""
        return self._arrivals.get(arrival.folder.name) is arrival

    def _log(self, snapshot: ExtensionSnapshot) -> None:
        """Log each failure and notice once, until it is fixed or changes."""
        texts = {str(failure): logging.ERROR for failure in snapshot.failed_extensions}
        for notice in snapshot.notices:
            texts[f"extension {notice.extension!r}: {notice.text}"] = logging.WARNING
        for text, level in texts.items():
            if text not in self._logged:
                logger.log(level, "%s", text)
        self._logged = set(texts)


def _is_same(folder: ExtensionFolder, other: ExtensionFolder) -> bool:
    return folder.digest == other.digest and folder.path == other.path
