"""Files in a message: `@path` names one of the workspace, the path of a picture attaches it.

They become the parts that the page makes of attachments, so a stored message looks the same in both.
"""

import base64
import mimetypes
import os
import re
import shlex
import stat
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dovetail.errors import ToolError
from dovetail.extensions.workspace import Workspace
from dovetail.requesters.local.weights import show_size
from dovetail.sessions.message import Part

LARGEST = 10_000_000
"""The most bytes of an attached file."""
MOST_FILES = 5_000
"""The most files that are completed."""
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")

_MENTION = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')
_AROUND = re.compile(r"^[^\w~/.]+|\W+$")
"""Punctuation around a path in a sentence."""
_SKIPPED = {"node_modules", "__pycache__", "venv", "dist", "build", "target"}
_GIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Draft:
    """A message before it is sent: its parts, and what could not be attached."""

    parts: list[Part]
    notes: list[str] = field(default_factory=list[str])

    @property
    def attached(self) -> list[str]:
        """The names of the files that go with it."""
        return [str(part["filename"]) for part in self.parts if part["type"] == "file"]


def read_message(text: str, workspace: Workspace, context: str = "") -> Draft:
    """Return a message with the files that it names; `context` is what was piped in."""
    draft = Draft([{"type": "text", "text": text}])
    if context:
        draft.parts.append(make_file("stdin", context.encode(), "text/plain"))
    for path in dict.fromkeys(_find_mentions(text)):
        try:
            draft.parts.append(_attach(path, os.fdopen(workspace.open_file(path), "rb")))
        except ToolError as error:
            draft.notes.append(f"Not attached: {error.message}")
    for path in dict.fromkeys(_find_pictures(text)):
        try:
            workspace.check_argument(str(path), workspace.root)
            draft.parts.append(_attach(path.name, path.open("rb")))
        except (ToolError, OSError) as error:
            draft.notes.append(f"Not attached: {error}")
    return draft


def make_file(name: str, content: bytes, media_type: str | None = None) -> dict[str, Any]:
    """Return a file as a part of a message."""
    kind = media_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
    data = base64.b64encode(content).decode()
    return {"type": "file", "filename": name, "mediaType": kind, "url": f"data:{kind};base64,{data}"}


def list_files(root: Path) -> list[str]:
    """Return the files of a folder that people name: those git would track, otherwise all visible ones."""
    command = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_GIT_SECONDS, check=True)
        found = [name for name in done.stdout.decode(errors="replace").split("\0") if name]
    except (OSError, subprocess.SubprocessError):
        found = list(_walk(root))
    return sorted(found[:MOST_FILES])


def _find_mentions(text: str) -> Iterator[str]:
    for match in _MENTION.finditer(text):
        path = match.group(1) or match.group(2).rstrip(",;:!?)")
        if not _is_picture(path) or not Path(path).is_absolute():
            yield path.rstrip(".") if path.endswith(".") else path


def _find_pictures(text: str) -> Iterator[Path]:
    """Yield the paths of pictures in a text, as a terminal writes a file that is dropped onto it."""
    words = text.split()
    with suppress(ValueError):  # an apostrophe in a sentence
        words += shlex.split(text)
    for word in words:
        name = word if _is_picture(word) else _AROUND.sub("", word)
        path = Path(name).expanduser() if _is_picture(name) and not word.startswith("@") else None
        if path is not None and path.is_file():
            yield path


def _is_picture(word: str) -> bool:
    return word.lower().endswith(PICTURES)


def _attach(name: str, file: Any) -> dict[str, Any]:
    with file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(f"{name!r} is not a regular file.")
        if status.st_size > LARGEST:
            limit = show_size(LARGEST)
            raise ToolError(f"{name!r} is too large: {show_size(status.st_size)}, at most {limit}.")
        return make_file(name, file.read())


def _walk(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        place = Path(folder).relative_to(root)
        yield from (str(place / name) for name in sorted(files) if not name.startswith("."))
