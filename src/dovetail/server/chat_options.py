"""The agent and the options that a client chooses for a chat: checked against what this server has."""

from collections.abc import Mapping
from typing import Any

from dovetail.app import Dovetail
from dovetail.data.cron import find_zone
from dovetail.errors import ConfigError, DovetailError, ModelError
from dovetail.policy.mode import choose_mode
from dovetail.requesters.local.files import is_path
from dovetail.requesters.local.weights import CATALOGUE, require
from dovetail.requesters.resolve import find_active
from dovetail.server.errors import InvalidRequest
from dovetail.settings.model import ModelSettings


def refuse_model(model: str | None, app: Dovetail) -> None:
    """Refuse an embedded model that a client may not choose: the path of a file, or one to download.

    A path would show which files exist, and load any of them; a download is the operator's decision, and the
    model that the server uses anyway is downloaded.
    """
    provider, _, name = (model or "").strip().partition(":")
    if provider.strip().lower() != "local" or model == app.settings.section(ModelSettings).name:
        return
    if is_path(name.strip()):
        raise ConfigError(
            f"Cannot use model {model!r}: a request cannot name a file by its path.",
            hint="Add its folder to model.folders in the server's settings, and use local:<name>.",
        )
    if name.strip() in CATALOGUE and f"local:{name.strip()}" != _find_own(app):
        try:
            require(name.strip())
        except ModelError as error:
            raise ConfigError(f"Cannot use model {model!r}: {error.message}", hint=error.hint) from error


def _find_own(app: Dovetail) -> str | None:
    try:
        return find_active(app.settings)
    except ConfigError:
        return None


async def check_choice(app: Dovetail, agent: str | None, options: Mapping[str, Any]) -> None:
    """Raise `InvalidRequest` if an agent, a model, a mode or a time zone is unknown or not allowed here."""
    try:
        if agent is not None:
            app.agents.get_definition(agent)
        await _check_model(app, options.get("model"))
        choose_mode(app.settings, options.get("mode"))
        find_zone(options.get("time_zone") or "UTC")
    except DovetailError as error:
        raise InvalidRequest(error.message, hint=error.hint) from error


async def keep_usable(
    app: Dovetail, agent: str | None, options: Mapping[str, Any]
) -> tuple[str | None, dict[str, Any]]:
    """Return the agent and the options of a chat from elsewhere, without those that this server lacks."""
    kept: dict[str, Any] = {}
    for name, value in {"agent": agent, **options}.items():
        try:
            await check_choice(app, *((value, {}) if name == "agent" else (None, {name: value})))
        except InvalidRequest:
            continue
        kept[name] = value
    return kept.pop("agent", None), kept


async def _check_model(app: Dovetail, model: str | None) -> None:
    if model is None:
        return
    refuse_model(model, app)
    await app.runtime.learn_names(model)
    try:
        app.runtime.requester(model)
    except DovetailError as error:
        raise ConfigError(f"Cannot use model {model!r}: {error.message}", hint=error.hint) from error
