"""Choose which version of each extension folder serves after a reload, and report how the reload went.

Tool names are unique: a newer version whose tool names clash with those of another owner is not selected, and
the folder keeps its last good version.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dovetail.errors import ExtensionError
from dovetail.extensions.exclusion import Exclusion
from dovetail.extensions.extension import ExtensionFailure, ExtensionNotice, ExtensionSnapshot
from dovetail.extensions.folder import ENTRY, Discovery, ExtensionFolder
from dovetail.extensions.importing import show_module_names
from dovetail.extensions.version import ExtensionVersion


@dataclass(slots=True, eq=False)
class Arrival:
    """A changed folder on its way into service: first its version is imported, then set up, or it fails.

    `is_busy` while a reload works on it; other reloads then report it as loading and leave it alone.
    """

    folder: ExtensionFolder
    version: ExtensionVersion | None = None
    failure: ExtensionFailure | None = None
    is_busy: bool = True
    is_ready: bool = False
    task: asyncio.Task[None] | None = None

    @property
    def is_importing(self) -> bool:
        """Whether its import has not ended, or has been cancelled."""
        return self.version is None and self.failure is None

    @property
    def candidate(self) -> ExtensionVersion | None:
        """The version, if it can be selected now."""
        return None if self.is_busy else self.version

    def fail(self, error: ExtensionError) -> None:
        """Record why the folder cannot serve, and let go of its version."""
        self.failure, self.version = make_failure(self.folder.name, error), None

    def cancel(self) -> None:
        """End an import in progress."""
        if self.task is not None:
            self.task.cancel()


@dataclass(frozen=True, slots=True)
class Selection:
    """The version of each folder that serves, and the name clashes that keep newer versions out."""

    chosen: dict[str, ExtensionVersion] = field(default_factory=dict[str, ExtensionVersion])
    clashes: dict[str, ExtensionError] = field(default_factory=dict[str, ExtensionError])


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRules:
    """The tool names that are not free: those of other tools, those in service, and excluded ones."""

    reserved: Mapping[str, str]
    in_service: Mapping[str, str]
    exclusion: Exclusion

    def select(self, candidates: Mapping[str, Sequence[ExtensionVersion]]) -> Selection:
        """Choose for each folder its first version, newest first, whose tool names are all free.

        A name that a folder in service still declares stays with it, so that a wrong edit of one folder
        cannot take a tool away from another. Names of a version that is not chosen are free. Names of agents
        that folders bring are taken for all tools, whatever the order.
        """
        selection = Selection()
        holders = self._find_holders(candidates)
        taken = {**_name_agents(candidates), **self.reserved}
        for extension, versions in candidates.items():
            foreign = {
                tool: f"extension {holder!r}" for tool, holder in holders.items() if holder != extension
            }
            for version in versions:
                names = self._names(version)
                if (clash := _find_clash(version, names, {**foreign, **taken})) is None:
                    selection.chosen[extension] = version
                    taken.update(dict.fromkeys(names, f"extension {extension!r}"))
                    break
                selection.clashes.setdefault(extension, clash)
        return selection

    def _find_holders(self, candidates: Mapping[str, Sequence[ExtensionVersion]]) -> dict[str, str]:
        """Return the tool names in service that their folder still declares, with the folder."""
        wanted = {name: self._names(versions[0]) for name, versions in candidates.items() if versions}
        return {tool: folder for tool, folder in self.in_service.items() if tool in wanted.get(folder, ())}

    def _names(self, version: ExtensionVersion) -> list[str]:
        return [tool.name for tool in version.select_tools(self.exclusion)]


class ReloadReport:
    """One reload: the candidate versions of each folder, newest first, the failures and what still loads."""

    def __init__(self, current: Mapping[str, ExtensionVersion], exclusion: Exclusion) -> None:
        self.exclusion = exclusion
        self.candidates: dict[str, list[ExtensionVersion]] = {}
        self._current = current
        self._failures: dict[str, ExtensionFailure] = {}
        self._loading: list[str] = []

    def admit(self, discovery: Discovery) -> list[ExtensionFolder]:
        """Add the folders found on disk and return those whose contents are not in service."""
        for failure in discovery.failures:
            if not self.exclusion.has_extension(failure.extension):
                self._failures[failure.extension] = failure
                self._admit_name(failure.extension)
        folders = [folder for folder in discovery.folders if not self.exclusion.has_extension(folder.name)]
        for folder in folders:
            self._admit_name(folder.name)
        return [folder for folder in folders if not self._is_current(folder)]

    def add(self, extension: str, arrival: Arrival | None) -> None:
        """Add the newest version of a folder: a candidate, a failure, or still loading."""
        if arrival is not None and arrival.failure is not None:
            self._failures[extension] = arrival.failure
        elif arrival is not None and (version := arrival.candidate) is not None:
            self.candidates[extension].insert(0, version)
        else:
            self._loading.append(extension)

    def publish(
        self, selection: Selection, before: ExtensionSnapshot, discovery: Discovery
    ) -> ExtensionSnapshot:
        """Return the generation after `before`."""
        for extension, clash in selection.clashes.items():
            if extension not in self._failures:
                self._failures[extension] = make_failure(extension, clash)
        chosen = selection.chosen
        late = {*self._failures, *self._loading}
        loaded = tuple(name for name in chosen if name not in late)
        kept = {name: replace(each, kept=name in chosen) for name, each in self._failures.items()}
        known = {replace(failure, unchanged=False) for failure in before.failed_extensions}
        return ExtensionSnapshot(
            version=before.version + 1,
            loaded_extensions=loaded,
            failed_extensions=tuple(replace(each, unchanged=each in known) for each in kept.values()),
            tools=tuple(tool for each in chosen.values() for tool in each.select_tools(self.exclusion)),
            kept=tuple(name for name in chosen if name in self._failures),
            loading=tuple(self._loading),
            removed=tuple(name for name in self._current if name not in self.candidates),
            unchanged=tuple(name for name in loaded if self._current.get(name) is chosen[name]),
            excluded=tuple(filter(self.exclusion.has_extension, (each.name for each in discovery.folders))),
            notices=tuple(self._collect_notices(discovery, chosen)),
            folders=tuple(each.folder.path for each in chosen.values()),
            web={name: each.folder.web for name, each in chosen.items() if each.folder.web.files},
            settings={name: each.settings for name, each in chosen.items() if each.settings.shown},
        )

    def _admit_name(self, name: str) -> None:
        self.candidates[name] = [self._current[name]] if name in self._current else []

    def _is_current(self, folder: ExtensionFolder) -> bool:
        current = self._current.get(folder.name)
        return (
            current is not None
            and current.folder.digest == folder.digest
            and current.folder.path == folder.path
        )

    def _collect_notices(
        self, discovery: Discovery, chosen: Mapping[str, ExtensionVersion]
    ) -> Iterator[ExtensionNotice]:
        yield from (each for each in discovery.notices if not self.exclusion.has_extension(each.extension))
        for name, version in chosen.items():
            yield from (ExtensionNotice(extension=name, text=text) for text in version.notices)


def make_failure(extension: str, error: ExtensionError) -> ExtensionFailure:
    """Return the failure of a folder, which unlike the error holds no frames and thus no versions."""
    text = show_module_names(str(error))
    return ExtensionFailure(extension=extension, error=text, file=error.file, line=error.line)


def _name_agents(candidates: Mapping[str, Sequence[ExtensionVersion]]) -> dict[str, str]:
    """Return the names of the agents that folders bring, with their owners."""
    return {
        name: f"agent {name!r} of extension {extension!r}"
        for extension, versions in candidates.items()
        for name in (versions[0].agents if versions else ())
    }


def _find_clash(
    version: ExtensionVersion, names: Iterable[str], taken: Mapping[str, str]
) -> ExtensionError | None:
    for name in names:
        if name in taken:
            return ExtensionError(
                f"Tool name {name!r} already belongs to {taken[name]}; rename one of them or exclude one.",
                file=str(version.folder.path / ENTRY),
                line=version.lines[name],
            )
    return None
