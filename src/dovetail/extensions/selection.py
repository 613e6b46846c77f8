"""Decides who owns a tool name: names are unique, and nobody loses one to a newcomer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dovetail.errors import ExtensionError
from dovetail.extensions.exclusion import Exclusion
from dovetail.extensions.extension import ExtensionFailure, ExtensionNotice, ExtensionSnapshot
from dovetail.extensions.folder import ENTRY, Discovery, ExtensionFolder
from dovetail.extensions.importing import show_module_names
from dovetail.extensions.version import ExtensionVersion


@dataclass(frozen=True, slots=True)
class Settlement:
    """The version of each folder that may serve, and why newer ones may not."""

    chosen: dict[str, ExtensionVersion] = field(default_factory=dict[str, ExtensionVersion])
    clashes: dict[str, ExtensionError] = field(default_factory=dict[str, ExtensionError])


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRules:
    """What holds besides the folders' own wishes: names of other tools, names in service, names left out."""

    reserved: Mapping[str, str]
    in_service: Mapping[str, str]
    exclusion: Exclusion

    def settle(self, candidates: Mapping[str, Sequence[ExtensionVersion]]) -> Settlement:
        """Choose for each folder its first version, newest first, whose tool names are all free.

        A name that a folder in service still declares stays with it, so that a wrong edit of one folder
        cannot take a tool away from another. Names of a version that is not chosen are free. Names of agents
        that folders bring are taken for all tools, whatever the order.
        """
        wanted = {name: self._names(versions[0]) for name, versions in candidates.items() if versions}
        holders = {
            tool: extension
            for tool, extension in self.in_service.items()
            if tool in wanted.get(extension, ())
        }
        settlement = Settlement()
        agents = {
            name: f"agent {name!r} of extension {extension!r}"
            for extension, versions in candidates.items()
            for name in (versions[0].agents if versions else ())
        }
        taken = {**agents, **self.reserved}
        for extension, versions in candidates.items():
            foreign = {
                tool: f"extension {holder!r}" for tool, holder in holders.items() if holder != extension
            }
            for version in versions:
                names = self._names(version)
                if (clash := _find_clash(version, names, {**foreign, **taken})) is None:
                    settlement.chosen[extension] = version
                    taken.update(dict.fromkeys(names, f"extension {extension!r}"))
                    break
                settlement.clashes.setdefault(extension, clash)
        return settlement

    def _names(self, version: ExtensionVersion) -> list[str]:
        return [tool.name for tool in version.select_tools(self.exclusion)]


def _find_clash(
    version: ExtensionVersion, names: Iterable[str], taken: Mapping[str, str]
) -> ExtensionError | None:
    for name in names:
        if name in taken:
            return ExtensionError(
                f"tool name {name!r} already belongs to {taken[name]}; rename one of them or exclude one",
                file=str(version.folder.path / ENTRY),
                line=version.lines[name],
            )
    return None


class Trial:
    """The candidates of a reload: for each folder the versions it could serve with, newest first."""

    def __init__(self, current: Mapping[str, ExtensionVersion], exclusion: Exclusion) -> None:
        self.exclusion = exclusion
        self.candidates: dict[str, list[ExtensionVersion]] = {}
        self._current = current
        self._failures: dict[str, ExtensionFailure] = {}

    def admit(self, discovery: Discovery) -> list[ExtensionFolder]:
        """Take in what was found; gives the folders that must be imported."""
        for failure in discovery.failures:
            if not self.exclusion.has_extension(failure.extension):
                self._failures[failure.extension] = failure
                self._admit_name(failure.extension)
        folders = [folder for folder in discovery.folders if not self.exclusion.has_extension(folder.name)]
        for folder in folders:
            self._admit_name(folder.name)
        return [folder for folder in folders if not self._is_current(folder)]

    def fail(self, extension: str, error: ExtensionError) -> None:
        """Note why the newest version of a folder cannot serve."""
        self._failures[extension] = ExtensionFailure(
            extension=extension, error=show_module_names(str(error)), file=error.file, line=error.line
        )

    def report(self, settlement: Settlement, version: int, discovery: Discovery) -> ExtensionSnapshot:
        """The next generation."""
        for extension, clash in settlement.clashes.items():
            if extension not in self._failures:
                self.fail(extension, clash)
        chosen = settlement.chosen
        return ExtensionSnapshot(
            version=version,
            loaded_extensions=tuple(name for name in chosen if name not in self._failures),
            failed_extensions=tuple(self._mark_kept(each, chosen) for each in self._failures.values()),
            tools=tuple(tool for each in chosen.values() for tool in each.select_tools(self.exclusion)),
            kept=tuple(name for name in chosen if name in self._failures),
            removed=tuple(name for name in self._current if name not in self.candidates),
            unchanged=tuple(
                name
                for name, each in chosen.items()
                if self._current.get(name) is each and name not in self._failures
            ),
            excluded=tuple(
                folder.name for folder in discovery.folders if self.exclusion.has_extension(folder.name)
            ),
            notices=(
                *(each for each in discovery.notices if not self.exclusion.has_extension(each.extension)),
                *_collect_notices(chosen),
            ),
            folders=tuple(each.folder.path for each in chosen.values()),
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

    @staticmethod
    def _mark_kept(failure: ExtensionFailure, chosen: Mapping[str, ExtensionVersion]) -> ExtensionFailure:
        return replace(failure, kept=failure.extension in chosen)


def _collect_notices(chosen: Mapping[str, ExtensionVersion]) -> list[ExtensionNotice]:
    return [
        ExtensionNotice(extension=name, text=text) for name, each in chosen.items() for text in each.notices
    ]
