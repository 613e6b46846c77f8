"""Whether a weights file holds the bytes it should: its checksum is computed once per version of the file.

Beside the file lies a note of the size and time it had when it was checked; while they are the same, the
bytes are taken to be.
"""

import contextlib
import hashlib
from pathlib import Path

from dovetail.requesters.embedded.weights import Weights, find, get_weights


def compute_checksum(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_sound(path: Path, weights: Weights) -> bool:
    """Whether a file holds its model's weights."""
    try:
        if _note(path).read_text() == _describe(path):
            return True
    except (OSError, UnicodeDecodeError):
        pass  # not checked yet
    if compute_checksum(path) != weights.sha256:
        return False
    note_sound(path)
    return True


def note_sound(path: Path) -> None:
    """Note that a file's bytes were checked; where nothing can be written, they are checked again."""
    with contextlib.suppress(OSError):
        _note(path).write_text(_describe(path))


def remove_if_broken(path: Path, weights: Weights) -> bool:
    """Remove a file that does not hold its model's weights; whether it was removed."""
    if not path.exists() or is_sound(path, weights):
        return False
    path.unlink()
    return True


def drop_broken(name: str) -> bool:
    """Remove an embedded model whose weights are broken; whether it was removed."""
    path = find(name)
    return path is not None and remove_if_broken(path, get_weights(name))


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.checked")


def _describe(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns}"
