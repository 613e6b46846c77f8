"""The code that decides what the embedded models answer, and a digest of it.

A result is kept with the digest of what made it: after a change it is older, and the question is asked again.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from dovetail.requesters.local.weights import CATALOGUE

ROOT = Path(__file__).parents[1]
_SOURCE = ROOT / "src" / "dovetail"
_DECIDING = (
    *("answer", "arguments", "choice", "closed_schema", "fit", "grounding", "llama", "messages"),
    *("repetition", "requester", "wishes"),
)
"""Modules of `requesters/local` that decide an answer; the others download, load and describe weights."""
_UNREAD = {"README.md", "AGENTS.md", ".gitignore", "__pycache__", ".dovetail"}


def list_model_parts() -> list[str | Path]:
    """Return what decides the answers of an embedded model: its code, prompts and sampling."""
    local = [_SOURCE / "requesters" / "local" / f"{name}.py" for name in _DECIDING]
    return [*local, _SOURCE / "loop" / "judged.py", repr(CATALOGUE)]


def compute_digest(parts: Iterable[str | Path]) -> str:
    """Return a digest of texts and of files; a folder stands for what a model can meet in it."""
    found = hashlib.sha256()
    for part in parts:
        for content in _read(part):
            found.update(len(content).to_bytes(8, "big") + content)
    return found.hexdigest()[:12]


def _read(part: str | Path) -> Iterable[bytes]:
    if isinstance(part, str):
        yield part.encode()
    elif part.is_file():
        yield part.read_bytes()
    else:
        for path in sorted(path for path in part.rglob("*") if path.is_file() and _is_read(path, part)):
            yield path.relative_to(part).as_posix().encode()
            yield path.read_bytes()


def _is_read(path: Path, folder: Path) -> bool:
    names = path.relative_to(folder).parts
    return not ({*names} & _UNREAD) and not path.name.startswith("test_") and ".db" not in path.name
