"""Agent files of a project that a person has looked at and acknowledged, by the hash of their content.

Where others can reach a server, an agent file that came with a project could act for them. There it is used
only after one acknowledgement, which is kept with the user's data and not in the project.
"""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError

REFUSAL = "this agent file is not acknowledged, or has changed since"
HINT = "Look at it, then acknowledge it: `dovetail agents trust`, or start with `dovetail serve --trust`."


class TrustRecord:
    """The acknowledged files; those below one of the `own` folders need none."""

    def __init__(self, own: Iterable[Path], path: Path) -> None:
        self._own = tuple(folder.resolve() for folder in own)
        self._path = path

    def check(self, path: Path, content: bytes) -> None:
        """Let the file pass.

        Raises:
            ConfigError: this content of it is not acknowledged.
        """
        place = path.resolve()
        if any(place.is_relative_to(folder) for folder in self._own):
            return
        if self._read().get(str(place)) != _hash(content):
            raise ConfigError(REFUSAL, hint=HINT)

    def acknowledge(self, paths: Iterable[Path]) -> list[Path]:
        """Note that these files may be used as they are now; returns those that are new or had changed."""
        known = self._read()
        found = {str(path.resolve()): _hash(path.read_bytes()) for path in paths}
        fresh = [Path(place) for place, digest in found.items() if known.get(place) != digest]
        if fresh:
            self._write({**known, **found})
        return fresh

    def _read(self) -> dict[str, str]:
        try:
            data = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"{self._path}: the acknowledged agent files cannot be read: {error}",
                hint="Fix or remove the file, then acknowledge again: `dovetail agents trust`.",
            ) from error
        return {str(place): str(digest) for place, digest in data.items()} if is_mapping(data) else {}

    def _write(self, record: dict[str, str]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(record, indent=2, ensure_ascii=False), encoding="utf-8")
        draft.replace(self._path)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
