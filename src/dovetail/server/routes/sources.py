"""The texts behind agents, skills and prompts, and changing them while the server runs."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter
from pydantic import ConfigDict, Field
from starlette.responses import Response

from dovetail.app import Dovetail
from dovetail.errors import ConfigError
from dovetail.server.auth import NEEDS_ADMIN
from dovetail.server.errors import InvalidRequest
from dovetail.server.schemas import App, Body
from dovetail.sources import Source, SourceKind, Sources

router = APIRouter(prefix="/api/v1/sources", tags=["catalog"])
T = TypeVar("T")


class SourceChange(Body):
    """The new text of an agent, a skill or a prompt; with `version`, only if it has not changed since."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "---\\nname: …", "version": "0f"}]})
    text: Annotated[str, Field(max_length=1_000_000)]
    version: str | None = None


class SourceBody(Body):
    """A new agent, skill or prompt."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "poet", "text": "---\\nname: poet…"}]})
    name: str
    text: Annotated[str, Field(max_length=1_000_000)]


@router.get("/{kind}/{name}", dependencies=[NEEDS_ADMIN])
async def get_source(kind: SourceKind, name: str, app: App) -> dict[str, Any]:
    """Return the text of an agent, a skill or a prompt; this needs the admin."""
    return _describe(await asyncio.to_thread(Sources(app).read, kind, name), app)


@router.post("/{kind}", status_code=201, dependencies=[NEEDS_ADMIN])
async def create_source(kind: SourceKind, body: SourceBody, app: App) -> dict[str, Any]:
    """Create an agent, a skill or a prompt in the workspace, which is used at once; this needs the admin."""
    created = await _attempt(lambda: Sources(app).create(kind, body.name, body.text))
    await app.reload()
    return _describe(created, app)


@router.put("/{kind}/{name}", dependencies=[NEEDS_ADMIN])
async def change_source(kind: SourceKind, name: str, body: SourceChange, app: App) -> dict[str, Any]:
    """Change a text, which is used at once; an invalid one is refused and changes nothing.

    What ships with the package is copied to the workspace and changed there. This needs the admin.
    """
    changed = await _attempt(lambda: Sources(app).write(kind, name, body.text, body.version))
    await app.reload()
    return _describe(changed, app)


@router.post("/{kind}/{name}/check", dependencies=[NEEDS_ADMIN])
async def check_source(kind: SourceKind, name: str, body: SourceChange, app: App) -> dict[str, Any]:
    """Return what is wrong with a text, without changing anything; this needs the admin."""
    try:
        await asyncio.to_thread(Sources(app).check, kind, name, body.text)
    except ConfigError as error:
        return {"error": error.message, "hint": error.hint}
    return {"error": None, "hint": None}


@router.delete("/{kind}/{name}", status_code=204, response_class=Response, dependencies=[NEEDS_ADMIN])
async def delete_source(kind: SourceKind, name: str, app: App) -> None:
    """Delete a text of the workspace, a skill with its folder; this needs the admin."""
    await _attempt(lambda: Sources(app).delete(kind, name))
    await app.reload()


async def _attempt(work: Callable[[], T]) -> T:
    """Do it in a thread; an invalid text is the caller's error."""
    try:
        return await asyncio.to_thread(work)
    except ConfigError as error:
        raise InvalidRequest(error.message, hint=error.hint) from error


def _describe(source: Source, app: Dovetail) -> dict[str, Any]:
    path, root = source.path, app.workspace
    return {
        "kind": source.kind,
        "name": source.name,
        "path": str(path.relative_to(root)) if path.is_relative_to(root) else path.name,
        "text": source.text,
        "version": source.version,
        "is_own": source.is_own,
        "problem": source.problem,
    }
