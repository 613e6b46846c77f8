"""Find extension folders, read each as one consistent copy, and locate lines in its entry file.

The sources that are hashed are the ones that get imported. Errors and tools are reported with a file and a
line of the folder.
"""

import ast
import hashlib
import os
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail.extensions.extension import AGENTS, POLICY, ExtensionFailure, ExtensionNotice
from dovetail.extensions.web_files import WebFiles, has_modules, read_web_files

ENTRY = "extension.py"
PACKAGE_PREFIX = "dovetail_extension_"
"""The beginning of the package names under which versions of folders are imported."""

_WHOLE_FILE_LIMIT = 1_000_000
_IGNORED = frozenset({"__pycache__", "node_modules"})
_WRITTEN_WHILE_RUNNING = (
    ".db",
    ".db-shm",
    ".db-wal",
    ".db-journal",
    ".sqlite",
    ".sqlite3",
    ".log",
    ".tmp",
    "~",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionFolder:
    """One folder as it was read: its Python sources by path below the folder, and a digest of all files."""

    name: str
    path: Path
    sources: Mapping[str, bytes]
    digest: str
    web: WebFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """The contents of the roots."""

    folders: Sequence[ExtensionFolder]
    failures: Sequence[ExtensionFailure]
    notices: Sequence[ExtensionNotice]


def is_extension(path: Path) -> bool:
    """Return whether a folder has tools in `extension.py`, or at least agents, skills, rules or cards."""
    if (path / ENTRY).is_file() or (path / POLICY).is_file() or has_modules(path):
        return True
    return any(path.glob(f"{AGENTS}/*.md")) or any(path.glob("skills/*/SKILL.md"))


def discover(roots: Sequence[Path]) -> Discovery:
    """Read the extension folders of all roots, by name; a name in an earlier root hides later ones."""
    folders: dict[str, ExtensionFolder] = {}
    failures: dict[str, ExtensionFailure] = {}
    notices: list[ExtensionNotice] = []
    places: dict[str, Path] = {}
    for path in (path for root in roots for path in _list_entries(root)):
        name = path.name
        if name in places:
            if _is_copy(folders.get(name), path):
                continue
            text = f"{path} is not loaded: {places[name]} has the same name."
            notices.append(ExtensionNotice(extension=name, text=text))
            continue
        try:
            if is_extension(path):
                places[name] = path
                folders[name] = read_folder(path)
            else:
                notices += _explain_ignored(path)
        except OSError as error:
            places[name] = path
            failures[name] = ExtensionFailure(
                extension=name, error=f"cannot be read: {error.strerror}", file=error.filename
            )
    return Discovery(folders=list(folders.values()), failures=list(failures.values()), notices=notices)


def _is_copy(known: ExtensionFolder | None, path: Path) -> bool:
    """Return whether a folder, such as a shipped one, has the content of the one that hides it."""
    try:
        return known is not None and path.is_dir() and read_folder(path).digest == known.digest
    except OSError:
        return False


def read_folder(path: Path) -> ExtensionFolder:
    """Read one extension folder."""
    digest = hashlib.sha256()
    sources: dict[str, bytes] = {}
    for file in walk_files(path):
        relative = file.relative_to(path).as_posix()
        status = file.stat()
        if file.suffix != ".py" and status.st_size > _WHOLE_FILE_LIMIT:
            content = f"{status.st_size} {status.st_mtime_ns}".encode()
        else:
            content = file.read_bytes()
        if file.suffix == ".py":
            sources[relative] = content
        digest.update(os.fsencode(f"{relative}\0{len(content)}\0"))
        digest.update(content)
    web = read_web_files(path)
    digest.update(web.digest.encode())  # what is served is what was looked at
    return ExtensionFolder(name=path.name, path=path, sources=sources, digest=digest.hexdigest(), web=web)


def _list_entries(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    return sorted(
        path for path in root.iterdir() if not path.name.startswith(".") and path.name not in _IGNORED
    )


def walk_files(path: Path) -> Iterator[Path]:
    """Yield the files below a folder, also behind links; a link to the folder or above is not followed."""
    home, seen = path.resolve(), set[Path]()
    for folder, names, files in os.walk(path, followlinks=True):
        place = Path(folder).resolve()
        if place in seen or (seen and home.is_relative_to(place)):
            names.clear()
            continue
        seen.add(place)
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in _IGNORED)
        yield from (
            file
            for name in sorted(files)
            if not name.startswith(".") and not name.endswith(_WRITTEN_WHILE_RUNNING)
            if (file := Path(folder, name)).is_file()
        )


def _explain_ignored(path: Path) -> list[ExtensionNotice]:
    """Explain why an entry that looks like an extension is not loaded."""
    if path.is_dir():
        if not any(path.iterdir()):
            return []
        return [ExtensionNotice(extension=path.name, text=f"{path} has no {ENTRY} and is not loaded")]
    if path.suffix != ".py":
        return []
    goal = path.with_suffix("") / ENTRY
    return [
        ExtensionNotice(extension=path.stem, text=f"{path} is not loaded; an extension is a folder: {goal}")
    ]


def find_place(error: BaseException, folder: Path) -> tuple[str, int | None]:
    """Return the innermost line of the folder's code in the traceback of the error, or its entry file."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if Path(frame.filename).is_relative_to(folder):
            return frame.filename, frame.lineno
    return find_place(error.__cause__, folder) if error.__cause__ else (str(folder / ENTRY), None)


def find_called_execute(error: BaseException, folder: Path, source: bytes) -> int | None:
    """Return the line of an `"execute": function()` in the traceback of the error, if any."""
    lines = {
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.name == "<module>" and Path(frame.filename) == folder / ENTRY
    }
    if not lines or isinstance(error, SyntaxError):
        return None
    calls = (
        value for name, value in _list_fields(source) if name == "execute" and isinstance(value, ast.Call)
    )
    return next((call.lineno for call in calls if call.lineno in lines), None)


def _list_fields(source: bytes) -> Iterator[tuple[Any, ast.expr]]:
    """Yield the keys and values of all dicts in a file, written `{"name": value}` or `dict(name=value)`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword):
            yield node.arg, node.value
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                yield key.value if isinstance(key, ast.Constant) else None, value


def find_tool_lines(source: bytes, number: int) -> list[int | None]:
    """Return the lines where the tools are written, as far as the source shows them."""
    values = {
        target.id: node.value
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    value = values.get("TOOL") or values.get("TOOLS")
    if isinstance(value, ast.List | ast.Tuple) and len(value.elts) == number:
        return [element.lineno for element in value.elts]
    return [value.lineno if value is not None else None] * number
