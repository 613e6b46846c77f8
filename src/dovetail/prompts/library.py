"""The prompt files of some folders; the first folder that has a name wins.

If a file becomes invalid, its last good version stays in the library until the file is valid or gone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail.data.private_folder import REFUSAL, find_private_path
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError, NotFoundError, PromptError, PromptSyntaxError
from dovetail.prompts.file import PromptFile, describe_failure, read_prompt_file

SUFFIXES = (".yaml", ".yml", ".json", ".json5")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptProblem:
    """A prompt file that is invalid, and why."""

    path: Path
    message: str
    line: int | None = None
    keeps_last_good: bool = False


class PromptLibrary:
    """The prompts by name; read at the first use and at every `reload`."""

    def __init__(self, folders: Iterable[str | Path]) -> None:
        self._folders = list({folder.resolve(): folder for folder in map(Path, folders)}.values())
        self._prompts: dict[str, PromptFile] | None = None
        self._problems: list[PromptProblem] = []
        self._last_good: dict[Path, PromptFile] = {}

    @property
    def problems(self) -> Sequence[PromptProblem]:
        """The files that are invalid; all others can be used."""
        self._read()
        return tuple(self._problems)

    def reload(self) -> None:
        """Read all files again."""
        self._prompts = None
        self._read()

    def list(self) -> "list[PromptFile]":
        """Return the prompts, sorted by title."""
        return sorted(self._read().values(), key=lambda prompt: (prompt.title.casefold(), prompt.name))

    def get(self, name: str) -> PromptFile:
        """Return the prompt of that name.

        Raises:
            NotFoundError: the name is unknown.
        """
        found = self._read()
        if name not in found:
            raise NotFoundError(explain_unknown("prompt", name, sorted(found)))
        return found[name]

    def _read(self) -> dict[str, PromptFile]:
        if self._prompts is not None:
            return self._prompts
        prompts: dict[str, PromptFile] = {}
        problems: list[PromptProblem] = []
        good: dict[Path, PromptFile] = {}
        for folder in self._folders:
            for path in _list_files(folder):
                prompt = self._read_file(path, folder, problems)
                if prompt is not None:
                    good[path] = prompt
                    _add(prompt, prompts, problems)
        self._last_good, self._problems, self._prompts = good, problems, prompts
        return prompts

    def _read_file(self, path: Path, folder: Path, problems: "list[PromptProblem]") -> PromptFile | None:
        last_good = self._last_good.get(path)
        try:
            if not path.resolve().is_relative_to(folder.resolve()):
                raise PromptError(f"{path.name} is a link to a file outside of {folder}.")
            if find_private_path(path.name, folder.resolve(), folder.resolve().parent) is not None:
                raise PromptError(f"{path.name} {REFUSAL}.")
            return read_prompt_file(path)
        except (ConfigError, OSError) as error:
            problems.append(
                PromptProblem(
                    path=path,
                    message=_explain(error, path),
                    line=error.line if isinstance(error, PromptSyntaxError) else None,
                    keeps_last_good=last_good is not None,
                )
            )
        return last_good


def describe_prompt(prompt: PromptFile) -> dict[str, Any]:
    """Return a prompt as JSON data: everything a list or a form needs."""
    return {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "path": str(prompt.path),
        "variables": [
            {
                "name": each.name,
                "description": each.description,
                "default": each.default,
                "required": each.is_required,
                "choices": list(each.choices),
            }
            for each in prompt.variables
        ],
    }


def describe_problem(problem: PromptProblem) -> dict[str, Any]:
    """Return a problem as JSON data."""
    return {
        "path": str(problem.path),
        "line": problem.line,
        "message": problem.message,
        "keeps_last_good": problem.keeps_last_good,
    }


def _list_files(folder: Path) -> Iterator[Path]:
    """Yield the prompt files of a folder; names that begin with `_` or `.` are left out."""
    if folder.is_dir():
        files = (path for path in sorted(folder.iterdir()) if path.suffix.lower() in SUFFIXES)
        yield from (path for path in files if path.is_file() and path.name[0] not in "_.")


def _add(prompt: PromptFile, prompts: dict[str, PromptFile], problems: list[PromptProblem]) -> None:
    known = prompts.setdefault(prompt.name, prompt)
    if known is not prompt and known.path.parent == prompt.path.parent:
        message = f"{known.path.name} has the same name, {prompt.name!r}, and is used instead."
        problems.append(PromptProblem(path=prompt.path, message=message))


def _explain(error: ConfigError | OSError, path: Path) -> str:
    if isinstance(error, PromptSyntaxError):
        return error.problem[:1].upper() + error.problem[1:]
    text = describe_failure(error) if isinstance(error, ConfigError) else f"Cannot read it: {error.strerror}."
    return text.removeprefix(f"{path}: ")
