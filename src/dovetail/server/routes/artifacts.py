"""Large results, whole: what a conversation only has the beginning of."""

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from dovetail.errors import NotFoundError
from dovetail.server.schemas import App, Owner
from dovetail.store.artifacts import ArtifactTable

router = APIRouter(prefix="/api/v1/artifacts", tags=["runs"])


@router.get("/{artifact_id}", response_class=Response)
async def get_artifact(artifact_id: str, app: App, owner: Owner) -> Response:
    """Return a large result of a tool as plain text."""
    text = await ArtifactTable(app.runs.database).get(artifact_id, owner=owner)
    if text is None:
        raise NotFoundError(
            f"Artifact {artifact_id!r} not found.", hint="It is deleted with the chat it belongs to."
        )
    return PlainTextResponse(text.encode("utf-8", "replace"))
