"""The available skills, and how a name is resolved to one of them.

Roots come in this order (rule C31): workspace, parent projects, project. The later one wins, so the
nearest skill of a name is used. In one root `.dovetail/skills` wins over `skills`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dovetail.data.private_folder import REFUSAL, find_private_path
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError
from dovetail.skills.skill import FILE, Skill, read_skill


@dataclass(frozen=True, slots=True)
class SkillRoot:
    """A folder that may contain skills, and its name when the origin of a skill is explained."""

    path: Path
    scope: str = ""


@dataclass(frozen=True, slots=True)
class SkillProblem:
    """A `SKILL.md` that cannot be used, and why."""

    path: Path
    message: str


class SkillLibrary:
    """The skills of some roots; read at the first use and at every `reload`."""

    def __init__(self, roots: Iterable[str | Path | SkillRoot]) -> None:
        self._roots = [root if isinstance(root, SkillRoot) else SkillRoot(Path(root)) for root in roots]
        self._catalogue: _Catalogue | None = None

    @property
    def problems(self) -> list[SkillProblem]:
        """The files that cannot be used; all others can."""
        return [*self._read().problems]

    def reload(self, roots: Iterable[str | Path | SkillRoot] | None = None) -> None:
        """Read all roots again, or other ones from now on."""
        if roots is not None:
            self._roots = [root if isinstance(root, SkillRoot) else SkillRoot(Path(root)) for root in roots]
        self._catalogue = _Catalogue(self._roots)

    def list(self) -> "list[Skill]":
        """Return the skill of each name, sorted by name."""
        return [skills[-1] for _, skills in sorted(self._read().skills.items())]

    def get(self, name: str) -> Skill | None:
        """Return the skill of that name; case only matters if two names differ in nothing else."""
        found = self._read().skills
        if name in found:
            return found[name][-1]
        alike = [skills[-1] for each, skills in found.items() if each.casefold() == name.casefold()]
        return alike[0] if len(alike) == 1 else None

    def find_all(self, name: str) -> "list[Skill]":
        """Return the skills of a name, the nearest first: it is used, and hides the others."""
        skill = self.get(name)
        return [] if skill is None else [*reversed(self._read().skills[skill.name])]

    def find_broken(self, name: str) -> "list[SkillProblem]":
        """Return the files of that name that cannot be used."""
        return [each for each in self._read().problems if each.path.parent.name == name]

    def why(self, name: str) -> str:
        """Explain which file a name resolves to and which ones it hides, nearest first; or why to none."""
        found = self.find_all(name)
        if not found:
            return self.explain_missing(name)
        used, *hidden = found
        lines = [f"{used.name}: {used.path} ({used.scope}) is used: it is the nearest"]
        lines += [f"  hidden: {each.path} ({each.scope})" for each in hidden]
        return "\n".join(lines + self._list_broken(name))

    def explain_missing(self, name: str) -> str:
        """Return the error for an unknown skill, with the nearest names and broken files of that name."""
        text = explain_unknown("skill", name, sorted(self._read().skills))
        return "\n".join([text, *self._list_broken(name)])

    def _list_broken(self, name: str) -> "list[str]":
        return [f"  broken: {each.message}" for each in self.find_broken(name)]

    def _read(self) -> "_Catalogue":
        catalogue = self._catalogue
        if catalogue is None:
            catalogue = self._catalogue = _Catalogue(self._roots)
        return catalogue


class _Catalogue:
    """The contents of the roots at one moment: the skills of each name, farthest first, and broken files."""

    def __init__(self, roots: Iterable[SkillRoot]) -> None:
        self.skills: dict[str, list[Skill]] = {}
        self.problems: list[SkillProblem] = []
        for root in roots:
            for folder in _find_folders(root.path):
                self._add(folder, root)

    def _add(self, folder: Path, root: SkillRoot) -> None:
        try:
            if not (folder / FILE).resolve().is_relative_to(root.path.resolve()):
                raise ConfigError(f"{folder / FILE} is a link to a file outside of {root.path}.")
            if find_private_path(FILE, folder, root.path.resolve()) is not None:
                raise ConfigError(f"{folder / FILE} {REFUSAL}.")
            skill = read_skill(folder, root.scope or str(root.path))
        except (ConfigError, OSError, RuntimeError) as error:
            self.problems.append(SkillProblem(folder / FILE, str(error)))
        else:
            self.skills.setdefault(skill.name, []).append(skill)


def _find_folders(root: Path) -> Iterator[Path]:
    """Yield the skill folders of a root: in `skills`, `.dovetail/skills`, and in a root named `skills`."""
    places = [root] if root.name == "skills" else []
    for place in (*places, root / "skills", root / ".dovetail" / "skills"):
        if place.is_dir():
            yield from sorted(path.parent for path in place.glob(f"*/{FILE}"))


def find_roots(
    workspace: str | Path, project: str | Path | None = None, extensions: Iterable[Path] = ()
) -> list[SkillRoot]:
    """Return the roots in order (rule C31); those of extension folders come first.

    `project` is the folder a chat works in. A project outside of the workspace has no parent projects.
    """
    top = Path(workspace).resolve()
    here = Path(project).resolve() if project is not None else top
    roots = [SkillRoot(folder, f"extension {folder.name}") for folder in extensions]
    roots.append(SkillRoot(top, "workspace"))
    if here == top:
        return roots
    between = [folder for folder in here.parents if folder != top and folder.is_relative_to(top)]
    roots += [SkillRoot(folder, f"parent project {folder.relative_to(top)}") for folder in reversed(between)]
    roots.append(SkillRoot(here, "project"))
    return roots
