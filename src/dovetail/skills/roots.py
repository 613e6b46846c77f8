"""Where skills are looked for: the workspace, the projects between, the project itself."""

from collections.abc import Iterable
from pathlib import Path

from dovetail.skills.library import SkillRoot


def find_roots(
    workspace: str | Path, project: str | Path | None = None, extensions: Iterable[Path] = ()
) -> list[SkillRoot]:
    """The roots in their order (rule C31); skills that extension folders bring come before all of them.

    `project` is the folder a chat works in. One that lies outside the workspace counts by itself.
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
