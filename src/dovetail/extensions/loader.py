"""Loads extension folders and publishes them generation by generation.

A reload imports all that changed, checks all, and then swaps in one assignment. What fails is reported and
keeps its last good version; who holds an older snapshot keeps working with it.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from dovetail.errors import ExtensionError
from dovetail.extensions.exclusion import Exclusion, read_exclusion
from dovetail.extensions.extension import AGENTS, ExtensionSnapshot
from dovetail.extensions.folder import ExtensionFolder, discover
from dovetail.extensions.importing import FolderImporter
from dovetail.extensions.lifetime import Lifetimes
from dovetail.extensions.names import NameRules, Settlement
from dovetail.extensions.trial import Trial
from dovetail.extensions.version import ExtensionVersion, make_version
from dovetail.settings import find_workspace

logger = logging.getLogger(__name__)


def _reserve_nothing() -> Mapping[str, str]:
    return {}


def _list_no_agents(folder: Path) -> Iterable[str]:
    return ()


class ExtensionLoader:
    """Loads the folders of one or more roots; a folder in an earlier root hides its namesake in a later one.

    `reserved` gives the names of the tools that are there without extension folders, with their owners;
    `exclusion` says what is left out, by default what the environment says; `list_agents` names the agents in
    a folder of agent files.
    """

    def __init__(
        self,
        root: str | Path,
        *further_roots: str | Path,
        workspace: str | Path | None = None,
        reserved: Callable[[], Mapping[str, str]] = _reserve_nothing,
        exclusion: Callable[[], Exclusion] = read_exclusion,
        list_agents: Callable[[Path], Iterable[str]] = _list_no_agents,
        time_limit: float = 10.0,
    ) -> None:
        self.roots = tuple(dict.fromkeys(Path(each).resolve() for each in (root, *further_roots)))
        self._workspace = find_workspace(workspace)
        self._reserved = reserved
        self._exclusion = exclusion
        self._list_agents = list_agents
        self._importer = FolderImporter(time_limit)
        self._lifetimes = Lifetimes(time_limit)
        self._lock = asyncio.Lock()
        self._versions: dict[str, ExtensionVersion] = {}
        self._snapshot = ExtensionSnapshot()
        self._told: set[str] = set()

    @property
    def snapshot(self) -> ExtensionSnapshot:
        """The newest generation."""
        return self._snapshot

    async def reload(self) -> ExtensionSnapshot:
        """Read the folders, import what changed and publish the next generation."""
        async with self._lock:
            trial = Trial(self._versions, self._exclusion())
            discovery = await asyncio.to_thread(discover, self.roots)
            for folder in trial.admit(discovery):
                await self._try_import(folder, trial)
            settlement = await self._settle(trial)
            self._snapshot = trial.report(settlement, self._snapshot.version + 1, discovery)
            self._versions = settlement.chosen
            self._tell(self._snapshot)
            return self._snapshot

    async def close(self) -> None:
        """End all versions: their `teardown()` runs and their modules go."""
        async with self._lock:
            await self._lifetimes.close()
            self._versions = {}

    async def _try_import(self, folder: ExtensionFolder, trial: Trial) -> None:
        try:
            imported = await self._importer.load(folder)
            lease = self._lifetimes.begin(imported.package, imported.module, folder.path, self._workspace)
            agents = self._list_agents(folder.path / AGENTS)
            trial.candidates[folder.name].insert(0, make_version(folder, imported, lease, agents))
        except ExtensionError as error:
            trial.fail(folder.name, error)

    async def _settle(self, trial: Trial) -> Settlement:
        """Choose versions and set them up; one whose setup fails is out, and the choice is made again."""
        rules = NameRules(
            reserved=self._reserved(),
            in_service={
                tool.name: name
                for name, version in self._versions.items()
                for tool in version.select_tools(trial.exclusion)
            },
            exclusion=trial.exclusion,
        )
        while True:
            settlement = rules.settle(trial.candidates)
            for name, version in settlement.chosen.items():
                try:
                    await self._lifetimes.set_up(version.lease)
                except ExtensionError as error:
                    trial.fail(name, error)
                    trial.candidates[name].remove(version)
                    break
            else:
                return settlement

    def _tell(self, snapshot: ExtensionSnapshot) -> None:
        """Log each failure and notice once, until it is gone or changes."""
        texts = {str(failure): logging.ERROR for failure in snapshot.failed_extensions}
        for notice in snapshot.notices:
            texts[f"extension {notice.extension!r}: {notice.text}"] = logging.WARNING
        for text, level in texts.items():
            if text not in self._told:
                logger.log(level, "%s", text)
        self._told = set(texts)
