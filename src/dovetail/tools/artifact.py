"""Keeps results that are too large for a conversation, so that they can be read page by page."""

import json
import re
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dovetail.tools.threads import run_in_thread

_MOST_CHARACTERS = 64_000_000
_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactPage:
    """Some of an artifact's text, from `offset` on; `total` is the length of the whole."""

    text: str
    offset: int
    total: int


class ArtifactStore(Protocol):
    """Where large results are kept. What one owner stored, no other reads."""

    async def put(self, text: str, *, owner: str | None) -> str:
        """Keep a text whole; gives the artifact's id."""
        ...

    async def read(
        self, artifact_id: str, *, owner: str | None, offset: int, length: int
    ) -> ArtifactPage | None:
        """Up to `length` characters from `offset` on; None when this owner has no such artifact."""
        ...


class MemoryArtifacts:
    """Keeps artifacts in memory, the newest ones when there are too many."""

    def __init__(self, most_characters: int = _MOST_CHARACTERS) -> None:
        self._texts: OrderedDict[tuple[str | None, str], str] = OrderedDict()
        self._left = most_characters

    async def put(self, text: str, *, owner: str | None) -> str:
        """Keep a text; the oldest ones make room for it."""
        artifact_id = make_artifact_id()
        self._texts[owner, artifact_id] = text
        self._left -= len(text)
        while self._left < 0 and len(self._texts) > 1:
            self._left += len(self._texts.popitem(last=False)[1])
        return artifact_id

    async def read(
        self, artifact_id: str, *, owner: str | None, offset: int, length: int
    ) -> ArtifactPage | None:
        """A page of an artifact."""
        text = self._texts.get((owner, artifact_id))
        return None if text is None else cut_page(text, offset, length)


class FolderArtifacts:
    """Keeps artifacts as files in a folder, where they survive a restart."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, text: str, *, owner: str | None) -> str:
        """Keep a text in a file of its own."""
        artifact_id = make_artifact_id()
        await run_in_thread(lambda: self._write(artifact_id, text, owner))
        return artifact_id

    async def read(
        self, artifact_id: str, *, owner: str | None, offset: int, length: int
    ) -> ArtifactPage | None:
        """A page of an artifact."""
        if _ID.fullmatch(artifact_id) is None:
            return None
        return await run_in_thread(lambda: self._read(artifact_id, owner, offset, length))

    def _write(self, artifact_id: str, text: str, owner: str | None) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{artifact_id}.txt"
        with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(json.dumps({"owner": owner}) + "\n")
            file.write(text)

    def _read(self, artifact_id: str, owner: str | None, offset: int, length: int) -> ArtifactPage | None:
        path = self._folder / f"{artifact_id}.txt"
        if not path.is_file():
            return None
        with path.open(encoding="utf-8", errors="surrogatepass", newline="") as file:
            if json.loads(file.readline())["owner"] != owner:
                return None
            return cut_page(file.read(), offset, length)


def make_artifact_id() -> str:
    """An id that nobody can guess."""
    return secrets.token_hex(8)


def cut_page(text: str, offset: int, length: int) -> ArtifactPage:
    """A page of a text."""
    return ArtifactPage(text=text[offset : offset + length], offset=offset, total=len(text))
