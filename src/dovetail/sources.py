"""The texts behind agents, skills and prompts: read, checked, changed and created in the workspace.

What ships with the package, or comes from a folder that cannot be written, is never changed: a change of it
becomes a copy in the workspace, which is used from then on.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from dovetail.agents.definition import AgentDefinition
from dovetail.agents.file import load_definition
from dovetail.app import Dovetail
from dovetail.data.edited_file import EditedFile
from dovetail.data.private_folder import REFUSAL, find_private_path
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError, ConflictError, NotFoundError
from dovetail.prompts.file import read_prompt_file
from dovetail.skills.skill import FILE, read_skill

SourceKind: TypeAlias = Literal["agents", "skills", "prompts"]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_CHECKS: dict[SourceKind, Callable[[Path], object]] = {
    "agents": load_definition,
    "skills": lambda path: read_skill(path.parent, ""),
    "prompts": read_prompt_file,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The text of one agent, skill or prompt; `is_own`: it is in the workspace and may be changed there.

    `problem` says why the text cannot be used, if so; the last good one stays in use.
    """

    kind: SourceKind
    name: str
    path: Path
    text: str
    version: str
    is_own: bool
    problem: str | None = None


class Sources:
    """The texts of an app."""

    def __init__(self, app: Dovetail) -> None:
        self._app = app

    def read(self, kind: SourceKind, name: str) -> Source:
        """Return the text of an agent, a skill or a prompt, also of one that is invalid.

        Raises:
            NotFoundError: the name is unknown.
            ConfigError: its path leads to the folder of Dovetail itself.
        """
        found = dict(self._find(kind))
        if name not in found:
            raise NotFoundError(explain_unknown(kind[:-1], name, sorted(found)))
        path = found[name]
        if find_private_path(path.name, path.parent, self._app.workspace.resolve()) is not None:
            raise ConfigError(f"{path.name} {REFUSAL}.")
        content = EditedFile(path, _accept).read()
        return Source(
            kind=kind,
            name=name,
            path=path,
            text=content.text,
            version=content.version,
            is_own=self._is_own(path),
            problem=self._find_problem(kind, name, content.text),
        )

    def check(self, kind: SourceKind, name: str, text: str) -> None:
        """Raise `ConfigError` if the text cannot be that of an agent, a skill or a prompt."""
        place = dict(self._find(kind)).get(name) or self._place(kind, _check_name(name))
        with tempfile.TemporaryDirectory() as folder:
            draft = Path(folder) / place.parent.name / place.name
            draft.parent.mkdir()
            draft.write_text(text, encoding="utf-8")
            try:
                read = _CHECKS[kind](draft)
            except ConfigError as error:
                message = error.message.replace(f"{draft}: ", "").replace(str(draft), place.name)
                raise ConfigError(message, hint=error.hint) from error
        if isinstance(read, AgentDefinition) and read.name != name:
            raise ConfigError(f"`name` is {read.name!r}, but this is the text of agent {name!r}.")

    def _find_problem(self, kind: SourceKind, name: str, text: str) -> str | None:
        try:
            self.check(kind, name, text)
        except ConfigError as error:
            return str(error)
        return None

    def write(self, kind: SourceKind, name: str, text: str, version: str | None = None) -> Source:
        """Change a text, or a copy of it in the workspace; raises as `EditedFile.write` does."""
        known = self.read(kind, name)
        path = known.path if known.is_own else self._place(kind, _check_name(name))
        if not known.is_own and version is not None and version != known.version:
            raise ConflictError(f"{path.name} has changed since it was read.", hint="Read it again.")
        file = EditedFile(path, lambda changed: self.check(kind, name, changed))
        written = file.write(text, version if known.is_own else None)
        return Source(
            kind=kind, name=name, path=path, text=written.text, version=written.version, is_own=True
        )

    def create(self, kind: SourceKind, name: str, text: str) -> Source:
        """Create an agent, a skill or a prompt in the workspace.

        Raises:
            ConfigError: the name or the text is invalid.
            ConflictError: the name is taken.
        """
        path = self._place(kind, _check_name(name))
        file = EditedFile(path, lambda new: self.check(kind, name, new))
        before = file.read()
        if name in dict(self._find(kind)) or path.exists():
            raise ConflictError(
                f"{kind.capitalize()[:-1]} {name!r} already exists.", hint="Choose another name."
            )
        written = file.write(text, before.version)
        return Source(
            kind=kind, name=name, path=path, text=written.text, version=written.version, is_own=True
        )

    def delete(self, kind: SourceKind, name: str) -> None:
        """Delete a text of the workspace; a skill goes with its folder.

        Raises:
            ConfigError: it is not one of the workspace.
        """
        known = self.read(kind, name)
        if not known.is_own:
            raise ConfigError(
                f"{known.path.name} is not in the workspace, so it cannot be deleted here.",
                hint="Disable an agent with `enabled = false` in its settings.",
            )
        if kind == "skills":
            shutil.rmtree(known.path.parent)
        else:
            known.path.unlink()

    def _find(self, kind: SourceKind) -> Iterator[tuple[str, Path]]:
        """Yield the names and files: invalid ones first, so that one which is in use wins."""
        app = self._app
        if kind == "agents":
            broken = [Path(each.path) for each in app.agents.broken]
            yield from ((path.stem, path) for path in broken if path.is_file())
            known = [*app.agents.get_all_definitions(), *app.agents.get_disabled()]
            yield from ((each.name, Path(each.source)) for each in known if Path(each.source).is_file())
        elif kind == "skills":
            yield from ((each.path.parent.name, each.path) for each in app.skills.problems)
            yield from ((each.name, each.path) for each in app.skills.list())
        else:
            yield from ((each.path.stem, each.path) for each in app.prompts.problems)
            yield from ((each.name, each.path) for each in app.prompts.list())

    def _place(self, kind: SourceKind, name: str) -> Path:
        """Return where a new text belongs."""
        folder = self._app.workspace / kind
        if kind == "skills":
            return folder / name / FILE
        return folder / f"{name}{'.md' if kind == 'agents' else '.yaml'}"

    def _is_own(self, path: Path) -> bool:
        real = path.resolve()
        return real.is_relative_to(self._app.workspace.resolve()) and os.access(real, os.W_OK)


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ConfigError(f"Invalid name {name!r}.", hint="Use letters, digits, - and _, at most 64 of them.")
    return name


def _accept(text: str) -> None:
    """Accept every text: it is only read."""
