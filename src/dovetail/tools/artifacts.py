"""Artifacts: results too large for a conversation, stored so that they can be read page by page."""

import json
import logging
import re
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dovetail.errors import StoreError
from dovetail.tools.threads import run_in_thread

logger = logging.getLogger(__name__)
_MOST_CHARACTERS = 64_000_000
_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactPage:
    """Part of an artifact's text, starting at `offset`; `total` is the length of the whole."""

    text: str
    offset: int
    total: int


class ArtifactStore(Protocol):
    """A store of large results; only the owner of an artifact can read it."""

    async def put(self, text: str, *, owner: str | None) -> str:
        """Store a text and return the id of the artifact."""
        ...

    async def read(
        self, artifact_id: str, *, owner: str | None, offset: int, length: int
    ) -> ArtifactPage | None:
        """Return up to `length` characters from `offset` on; None if this owner has no such artifact."""
        ...


class MemoryArtifacts:
    """Artifacts in memory; the oldest are dropped when there are too many."""

    def __init__(self, most_characters: int = _MOST_CHARACTERS) -> None:
        self._texts: OrderedDict[tuple[str | None, str], str] = OrderedDict()
        self._left = most_characters

    async def put(self, text: str, *, owner: str | None) -> str:
        """Store a text; the oldest ones make room for it."""
        artifact_id = make_artifact_id()
        self._texts[owner, artifact_id] = text
        self._left -= len(text)
        while self._left < 0 and len(self._texts) > 1:
            self._left += len(self._texts.popitem(last=False)[1])
        return artifact_id

    async def read(
        self, artifact_id: str, *, owner: str | None, offset: int, length: int
    ) -> ArtifactPage | None:
        """Return a page of an artifact."""
        text = self._texts.get((owner, artifact_id))
        return None if text is None else cut_page(text, offset, length)


class TextShelf(Protocol):
    """Persistent storage of texts by id and owner, such as `store.artifacts.ArtifactTable`."""

    async def put(self, text: str, *, owner: str | None) -> str: ...

    async def get(self, artifact_id: str, *, owner: str | None) -> str | None: ...


class LastingArtifacts:
    """Artifacts on a persistent shelf, if there is one that can be reached; otherwise in memory."""

    def __init__(self) -> None:
        self.shelf: TextShelf | None = None
        self._memory = MemoryArtifacts()

    async def put(self, text: str, *, owner: str | None) -> str:
        """Store a text, in memory if the shelf cannot be reached."""
        if self.shelf is not None:
            try:
                return await self.shelf.put(text, owner=owner)
            except StoreError as error:
                logger.warning("a large result is stored in memory only: %s", error.message)
        return await self._memory.put(text, owner=owner)

    async def read(
        self, artifact_id: str, *, owner: str | None, offset: int, length: int
    ) -> ArtifactPage | None:
        """Return a page of an artifact."""
        page = await self._memory.read(artifact_id, owner=owner, offset=offset, length=length)
        if page is not None or self.shelf is None:
            return page
        text = await self.shelf.get(artifact_id, owner=owner)
        return None if text is None else cut_page(text, offset, length)


class FolderArtifacts:
    """Artifacts as files in a folder, where they survive a restart."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, text: str, *, owner: str | None) -> str:
        """Store a text in a file of its own."""
        artifact_id = make_artifact_id()
        await run_in_thread(lambda: self._write(artifact_id, text, owner))
        return artifact_id

    async def read(
        self, artifact_id: str, *, owner: str | None, offset: int, length: int
    ) -> ArtifactPage | None:
        """Return a page of an artifact."""
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
    """Return an id that cannot be guessed."""
    return secrets.token_hex(8)


def cut_page(text: str, offset: int, length: int) -> ArtifactPage:
    """Return a page of a text."""
    return ArtifactPage(text=text[offset : offset + length], offset=offset, total=len(text))
