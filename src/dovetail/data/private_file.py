"""Small files with secrets: JSON that only its owner may read, replaced in one step."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from dovetail.data.shapes import is_dict
from dovetail.errors import ConfigError


def read_private(path: Path) -> dict[str, Any]:
    """Return the content of a file, empty if it does not exist.

    Raises:
        ConfigError: it cannot be read; the message does not show what it holds.
    """
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"Cannot read {path}: {type(error).__name__}.") from None
    if not is_dict(data):
        raise ConfigError(f"Cannot read {path}: it is not a JSON object.")
    return data


def write_private(path: Path, data: Mapping[str, Any]) -> None:
    """Replace the content of a file; neither the old nor the new file can be read by others.

    Raises:
        ConfigError: it cannot be written; the file stays as it is.
    """
    draft = path.with_name(f".{path.name}.draft")
    try:
        make_private_folder(path.parent)
        with open_private(draft, "w") as file:
            json.dump(data, file, indent=2)
        draft.replace(path)
    except OSError as error:
        raise ConfigError(f"Cannot write {path}: {error.strerror}.") from error


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner can open; folders that exist stay as they are."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def open_private(path: Path, mode: str) -> IO[Any]:
    """Open a file for writing that only its owner can read, also if it exists; a link is not followed.

    Raises:
        OSError: it cannot be opened.
    """
    return open(path, mode, encoding=None if "b" in mode else "utf-8", opener=_open_own)


def _open_own(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NOFOLLOW, 0o600)
    os.fchmod(descriptor, 0o600)
    return descriptor
