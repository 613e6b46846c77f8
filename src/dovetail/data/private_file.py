"""Small files with secrets: JSON that only its owner may read, replaced in one step."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=2)
        draft.replace(path)
    except OSError as error:
        raise ConfigError(f"Cannot write {path}: {error.strerror}.") from error
