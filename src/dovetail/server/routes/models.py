"""Models for operators: downloads, a question to see whether one answers, and the keys of providers."""

import asyncio
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import ConfigDict, Field
from starlette.responses import Response

from dovetail.app import Dovetail
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError, DovetailError, NotFoundError
from dovetail.events.call import ModelRequest
from dovetail.requesters.configured import ConfiguredProvider, list_configured
from dovetail.requesters.model_status import ModelStatus
from dovetail.requesters.question import QUESTION, ask, say
from dovetail.requesters.survey import Survey
from dovetail.server.auth import NEEDS_ADMIN
from dovetail.server.errors import InvalidRequest
from dovetail.server.schemas import App, Body
from dovetail.settings import ProviderKeys, Settings
from dovetail.settings.model import ModelSettings

router = APIRouter(prefix="/api/v1/models", tags=["models"])

CHECK_SECONDS = 60.0
_SHOWN = 4
_SHORTEST_SHOWN = 16
"""The length of a key from which on its end says nothing about the rest."""


class ModelBody(Body):
    """The name of a model."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "local:small"}]})
    name: Annotated[str, Field(min_length=1, max_length=300)]


class KeyBody(Body):
    """The key of a provider."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"key": "sk-…"}]})
    key: Annotated[str, Field(min_length=1, max_length=4000)]


@router.post("/pull", status_code=202, dependencies=[NEEDS_ADMIN])
async def pull_model(body: ModelBody, request: Request) -> dict[str, Any]:
    """Download an embedded model in the background; `GET /api/v1/models` has the progress.

    One model at a time; this needs the admin.
    """
    name = body.name.removeprefix("local:")
    try:
        await _status(request).start_pull(name)
    except ConfigError as error:
        raise InvalidRequest(error.message, hint=error.hint) from error
    return {"name": f"local:{name}"}


@router.delete("/pull", status_code=204, response_class=Response, dependencies=[NEEDS_ADMIN])
async def stop_pull(request: Request) -> None:
    """Stop the download; the next one continues where it was. This needs the admin."""
    if not await _status(request).stop_pull():
        raise NotFoundError("No download was started from here.")


@router.post("/check", dependencies=[NEEDS_ADMIN])
async def check_model(body: ModelBody, app: App, request: Request) -> dict[str, Any]:
    """Ask a model one question; this needs the admin. Fallbacks are not asked."""
    found: dict[str, Any] = {"name": body.name, "answer": None, "seconds": None, "error": None, "hint": None}
    settings = Settings({"model": {"fallbacks": [], "download": False}}, parent=app.settings)
    try:
        await app.runtime.learn_names(body.name)
        requester = await asyncio.to_thread(app.runtime.requester, body.name, settings)
        try:
            answer = await ask(requester, ModelRequest(messages=say(QUESTION)), limit=CHECK_SECONDS)
        finally:
            await requester.close()
    except DovetailError as error:
        return {**found, "error": error.message, "hint": error.hint}
    if not answer.text.strip():
        return {**found, "error": "The answer is empty.", "seconds": round(answer.total, 3)}
    return {**found, "answer": answer.text.strip(), "seconds": round(answer.total, 3)}


@router.get("/keys", dependencies=[NEEDS_ADMIN])
async def list_keys(app: App, request: Request) -> dict[str, Any]:
    """List the providers that have keys, and where these come from; this needs the admin."""
    return {"providers": list(await asyncio.to_thread(_describe_all, app, request))}


@router.put("/keys/{provider}", dependencies=[NEEDS_ADMIN])
async def set_key(provider: str, body: KeyBody, app: App, request: Request) -> dict[str, Any]:
    """Store the key of a provider, which is used at once; it cannot be read again. This needs the admin."""
    key = body.key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidRequest("A key has no spaces, line breaks or special characters.")
    return await _keep(provider, key, app, request)


@router.post("/keys/{provider}/check", dependencies=[NEEDS_ADMIN])
async def check_key(provider: str, app: App) -> dict[str, Any]:
    """Ask a provider for its models, to see whether it accepts the key; this needs the admin."""
    _require_provider(provider, app)
    try:
        entry = await Survey(app.settings).list_provider(provider)
    except ConfigError as error:
        raise InvalidRequest(error.message, hint=error.hint) from error
    report = entry.report
    if report is None:
        raise InvalidRequest(f"{entry.configured.provider.title} cannot be asked: {entry.state}.")
    return {"state": report.state, "text": report.text, "models": len(report.models)}


@router.delete("/keys/{provider}", dependencies=[NEEDS_ADMIN])
async def delete_key(provider: str, app: App, request: Request) -> dict[str, Any]:
    """Delete the key that was stored here; one of the environment is used again. This needs the admin."""
    if provider not in _keys(app).get_keys():
        raise NotFoundError(f"No key of {provider!r} was stored here.")
    return await _keep(provider, None, app, request)


async def _keep(provider: str, key: str | None, app: Dovetail, request: Request) -> dict[str, Any]:
    _require_provider(provider, app)
    await asyncio.to_thread(_keys(app).keep, provider, key)
    _status(request).forget_served()
    app.runs.link.announce("reload", "")
    known = await asyncio.to_thread(_describe_all, app, request)
    return next(each for each in known if each["name"] == provider)


def _require_provider(provider: str, app: Dovetail) -> None:
    names = [each.name for each in _list_providers(app, "")]
    if provider not in names:
        raise NotFoundError(explain_unknown("provider", provider, names))


def _list_providers(app: Dovetail, owner: str) -> Iterator[ConfiguredProvider]:
    """Yield the providers whose models need a key, or can have one."""
    options = app.settings.section(ModelSettings)
    for each in list_configured(options, owner):
        if each.provider.keys or each.name in options.providers:
            yield each


def _describe_all(app: Dovetail, request: Request) -> list[dict[str, Any]]:
    owner = (_status(request).active or "").partition(":")[0]
    kept = _keys(app).get_keys()
    return [_describe(each, kept.get(each.name)) for each in _list_providers(app, owner)]


def _describe(configured: ConfiguredProvider, kept: str | None) -> dict[str, Any]:
    row = configured.provider
    source = _find_source(configured, kept)
    shows = source == "page" and kept is not None and len(kept) >= _SHORTEST_SHOWN
    return {
        "name": row.name,
        "title": row.title,
        "source": source,
        "variable": configured.variable or None,
        "ending": kept[-_SHOWN:] if shows and kept else None,
        "variables": list(row.keys),
        "optional": row.is_local or row.signs,
    }


def _find_source(configured: ConfiguredProvider, kept: str | None) -> str | None:
    if configured.variable:
        return "environment"
    if configured.api_key:
        return "page" if configured.api_key == kept else "settings"
    return None


def _keys(app: Dovetail) -> ProviderKeys:
    return ProviderKeys.of(app.settings, app.workspace)


def _status(request: Request) -> ModelStatus:
    return request.app.state.models
