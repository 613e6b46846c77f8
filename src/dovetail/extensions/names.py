"""Decides who owns a tool name: names are unique, and nobody loses one to a newcomer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dovetail.errors import ExtensionError
from dovetail.extensions.exclusion import Exclusion
from dovetail.extensions.folder import ENTRY
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
