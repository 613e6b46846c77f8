"""Load extension folders and publish them as numbered generations.

A reload imports and checks the folders that changed, then swaps in one assignment. A folder that fails is
reported and keeps its last good version; holders of an older snapshot keep working with it.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dovetail.errors import ConfigError, ExtensionError
from dovetail.extensions.exclusion import Exclusion, read_exclusion
from dovetail.extensions.extension import AGENTS, ExtensionSnapshot
from dovetail.extensions.folder import ExtensionFolder, discover
from dovetail.extensions.importing import FolderImporter, explain_error
from dovetail.extensions.selection import NameRules, ReloadReport, Selection
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
        self._lock = asyncio.Lock()
        self._versions: dict[str, ExtensionVersion] = {}
        self._snapshot = ExtensionSnapshot()
        self._slow_setups: dict[Path, tuple[str, ExtensionError]] = {}
        self._logged: set[str] = set()

    @property
    def snapshot(self) -> ExtensionSnapshot:
        """The newest generation."""
        return self._snapshot

    async def reload(self) -> ExtensionSnapshot:
        """Read the folders, import those that changed and publish the next generation."""
        async with self._lock:
            report = ReloadReport(self._versions, self._exclusion())
            discovery = await asyncio.to_thread(discover, self.roots)
            await self._import(report.admit(discovery), report)
            selection = await self._select(report)
            self._snapshot = report.publish(selection, self._snapshot.version + 1, discovery)
            self._versions = selection.chosen
            self._log(self._snapshot)
            return self._snapshot

    async def close(self) -> None:
        """End all versions: run their `teardown()` and drop their modules."""
        async with self._lock:
            await self._lifetimes.close()
            self._versions = {}

    async def _import(self, folders: Sequence[ExtensionFolder], report: ReloadReport) -> None:
        """Import folders one after the other; a slow one does not hold up the next for long."""
        async with asyncio.TaskGroup() as group:
            for folder in folders:
                task = group.create_task(self._try_import(folder, report))
                await asyncio.wait([task], timeout=_PATIENCE)

    async def _try_import(self, folder: ExtensionFolder, report: ReloadReport) -> None:
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
            report.candidates[folder.name].insert(0, make_version(folder, imported, ref, agents, settings))
        except ExtensionError as error:
            report.fail(folder.name, error)
        except ConfigError as error:  # its settings
            report.fail(folder.name, ExtensionError(error.message, hint=error.hint))
        except (Exception, SystemExit) as error:  # what it exports runs code of its own: properties, hooks
            report.fail(folder.name, explain_error(error, folder))

    async def _select(self, report: ReloadReport) -> Selection:
        """Select versions and set them up; if a setup fails, drop that version and select again."""
        rules = NameRules(
            reserved=self._reserved(),
            in_service={
                tool.name: name
                for name, version in self._versions.items()
                for tool in version.select_tools(report.exclusion)
            },
            exclusion=report.exclusion,
        )
        while True:
            selection = rules.select(report.candidates)
            errors = await asyncio.gather(*map(self._set_up, selection.chosen.values()))
            failed = [
                (name, version, error)
                for (name, version), error in zip(selection.chosen.items(), errors, strict=True)
                if error is not None
            ]
            if not failed:
                return selection
            for name, version, error in failed:
                report.fail(name, error)
                report.candidates[name].remove(version)

    async def _set_up(self, version: ExtensionVersion) -> ExtensionError | None:
        try:
            await self._lifetimes.set_up(version.ref)
        except ExtensionError as error:
            if isinstance(error, SlowSetupError):
                self._slow_setups[version.folder.path] = version.folder.digest, error
            return error
        return None

    def _log(self, snapshot: ExtensionSnapshot) -> None:
        """Log each failure and notice once, until it is fixed or changes."""
        texts = {str(failure): logging.ERROR for failure in snapshot.failed_extensions}
        for notice in snapshot.notices:
            texts[f"extension {notice.extension!r}: {notice.text}"] = logging.WARNING
        for text, level in texts.items():
            if text not in self._logged:
                logger.log(level, "%s", text)
        self._logged = set(texts)
