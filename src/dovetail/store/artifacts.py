"""Large results in the database: deleted with their session, readable only by their owner."""

import secrets
import time

import sqlalchemy as sa

from dovetail.events.run_context import get_request_context
from dovetail.store.database import Database
from dovetail.store.tables import artifacts


class ArtifactTable:
    """Texts that belong to the session and the run that produced them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, text: str, *, owner: str | None) -> str:
        """Store a text; return its id, which cannot be guessed."""
        artifact_id = secrets.token_hex(8)
        context = get_request_context()
        content = text.encode("utf-8", "surrogatepass")
        values = {
            "id": artifact_id,
            "owner": owner or "",
            "session_id": context.session_id if context else None,
            "run_id": context.run_id if context else None,
            "name": context.call_id or "" if context else "",
            "media_type": "text/plain; charset=utf-8",
            "size": len(content),
            "content": content,
            "created_at": time.time(),
        }
        statement = sa.insert(artifacts).values(values)
        await self._database.write(lambda connection: connection.execute(statement))
        return artifact_id

    async def get(self, artifact_id: str, *, owner: str | None) -> str | None:
        """Return the text; None if this owner has no such artifact."""
        wanted = (artifacts.c.id == artifact_id) & (artifacts.c.owner == (owner or ""))
        statement = sa.select(artifacts.c.content).where(wanted)
        content: bytes | None = await self._database.read(lambda connection: connection.scalar(statement))
        return None if content is None else content.decode("utf-8", "surrogatepass")
