"""List and search the workspace without following links; hidden and generated folders are skipped."""

import fnmatch
import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from dovetail.data.known_secrets import hide_known
from dovetail.errors import ToolError
from dovetail.extensions.workspace import Workspace

from .reading import iterate_lines

MOST_ENTRIES = 500
MOST_MATCHES = 100
LONGEST_MATCH = 300
LARGEST_SEARCHED = 2_000_000
LEFT_OUT = frozenset({"__pycache__", "node_modules", "dist", "build"})

CheckCancelled = Callable[[], None]


def list_folder(workspace: Workspace, path: str) -> str:
    """List the entries of one folder: folders end with `/`, files have their size."""
    folder = _find_folder(workspace, path)
    with os.scandir(folder) as entries:
        lines = sorted(_describe(entry) for entry in entries if not workspace.hides(folder / entry.name))
    if len(lines) > MOST_ENTRIES:
        lines = [*lines[:MOST_ENTRIES], f"[and {len(lines) - MOST_ENTRIES} more]"]
    return "\n".join(lines) or "(empty folder)"


def list_matching(workspace: Workspace, path: str, pattern: str, check: CheckCancelled) -> str:
    """List all files below a folder whose path matches."""
    found: list[str] = []
    for file in _walk(workspace, path, pattern, check):
        if len(found) == MOST_ENTRIES:
            found.append(f"[more than {MOST_ENTRIES} files match: use a narrower pattern]")
            break
        found.append(workspace.show(file))
    return "\n".join(found) or f"(no file matches {pattern!r})"


def find_text(
    workspace: Workspace, path: str, pattern: str, wanted: tuple[str, bool], check: CheckCancelled
) -> str:
    """Return matching lines as `path:line: content`; `wanted` is the text and whether to ignore case.

    A secret is not matched either: otherwise it could be guessed letter by letter.
    """
    text, ignore_case = wanted
    if not text:
        raise ToolError("The text to find is empty.", type="invalid_text")
    needle = text.casefold() if ignore_case else text
    found: list[str] = []
    for file in _walk(workspace, path, pattern, check):
        for number, line in _read_quietly(workspace, file):
            if _contains(line, needle, ignore_case) and _contains(hide_known(line), needle, ignore_case):
                found.append(f"{workspace.show(file)}:{number}: {hide_known(line).strip()[:LONGEST_MATCH]}")
            if len(found) > MOST_MATCHES:
                return "\n".join([*found[:-1], f"[more than {MOST_MATCHES} lines: use a longer text]"])
    return "\n".join(found) or f"(no line contains {text!r})"


def _contains(line: str, needle: str, ignore_case: bool) -> bool:
    return needle in (line.casefold() if ignore_case else line)


def _find_folder(workspace: Workspace, path: str) -> Path:
    folder = workspace.resolve(path)
    if not folder.is_dir():
        raise ToolError(f"{path!r} is not a folder in the workspace.", type="not_found")
    return folder


def _describe(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return f"{entry.name} (link)"
    if entry.is_dir():
        return f"{entry.name}/"
    return f"{entry.name} ({entry.stat(follow_symlinks=False).st_size} bytes)"


def _walk(workspace: Workspace, path: str, pattern: str, check: CheckCancelled) -> Iterator[Path]:
    folder = _find_folder(workspace, path)
    for place, folders, files in os.walk(folder):
        check()
        seen = (name for name in folders if not name.startswith(".") and name not in LEFT_OUT)
        folders[:] = sorted(name for name in seen if not workspace.hides(Path(place, name)))
        for name in sorted(files):
            file = Path(place, name)
            if not file.is_symlink() and _matches(file.relative_to(folder).as_posix(), pattern):
                yield file


def _matches(path: str, pattern: str) -> bool:
    """Match the name, or the path if the pattern has a slash; `**/` also matches no folder at all."""
    if "/" not in pattern:
        return fnmatch.fnmatchcase(PurePosixPath(path).name, pattern)
    return fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(path, pattern.replace("**/", ""))


def _read_quietly(workspace: Workspace, file: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a file; none if it is binary, too large or deleted."""
    try:
        if file.stat().st_size <= LARGEST_SEARCHED:
            yield from enumerate(iterate_lines(workspace, str(file)), 1)
    except (ToolError, OSError):
        return
