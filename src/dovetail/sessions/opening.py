"""Opens what chats need: the database, the sessions in it, and an engine for their runs."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from dovetail.runs.engine import InProcessEngine
from dovetail.sessions.chat import Chat
from dovetail.sessions.host import ChatHost
from dovetail.sessions.store import SessionStore
from dovetail.store.artifacts import ArtifactTable
from dovetail.store.database import Database


@asynccontextmanager
async def open_chat(host: ChatHost, url: str | Path) -> AsyncGenerator[Chat]:
    """Chats of `host`, kept in the database at `url`."""
    async with Database(url) as database, InProcessEngine(database) as runs:
        host.runtime.artifacts.shelf = ArtifactTable(database)
        try:
            yield Chat(host, SessionStore(database), runs)
        finally:
            host.runtime.artifacts.shelf = None
