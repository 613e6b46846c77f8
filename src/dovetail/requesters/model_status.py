"""The status of this server's models: ready or missing, in use, download progress."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.concurrency import run_sync
from dovetail.errors import ConflictError, DovetailError
from dovetail.requesters.local.download import BackgroundPull, find_progress, is_running
from dovetail.requesters.local.files import list_models
from dovetail.requesters.local.weights import CATALOGUE, STAND_IN, find, get_weights
from dovetail.requesters.resolve import find_active
from dovetail.requesters.survey import ModelEntry, Survey
from dovetail.settings import Settings
from dovetail.settings.model import ModelSettings

ASKED_FOR = 60.0
"""Seconds for which the answers of model servers are remembered."""

MOST_MODELS = 20
"""Models of one provider; OpenRouter alone has hundreds."""


class ModelStatus:
    """The models as the page shows them, with the progress of downloads in this process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pull: BackgroundPull | None = None
        self._asked: tuple[float, Sequence[ModelEntry]] = (-ASKED_FOR, ())

    @property
    def active(self) -> str | None:
        """The model of new runs, if any."""
        try:
            return find_active(self._settings)
        except DovetailError:  # the name is wrong, or no model is here; both are reported when it is used
            chosen = self._settings.section(ModelSettings).name
            return chosen if isinstance(chosen, str) else None

    async def start_pull(self, name: str) -> None:
        """Download an embedded model in the background, unless it is there; one at a time.

        Raises:
            ConfigError: no embedded model has this name.
            ConflictError: a model is being downloaded already.
        """
        if find(name):
            return
        begun = self._pull.progress if self._pull else None
        arriving = [each for each in CATALOGUE if is_running(each)]
        if begun and begun.state not in ("ready", "failed"):
            arriving.append(begun.name)
        if arriving:
            raise ConflictError(f"local:{arriving[0]} is being downloaded.", hint="Wait until it is there.")
        self._pull = BackgroundPull(name)
        await self._pull.__aenter__()

    async def stop_pull(self) -> bool:
        """Stop the download that was started here; what is there stays for the next one."""
        pull, self._pull = self._pull, None
        if pull is None or pull.progress.state in ("ready", "failed"):
            return False
        await pull.__aexit__()
        return True

    def forget_served(self) -> None:
        """Ask the servers again for their models, because a key has changed."""
        self._asked = (-ASKED_FOR, ())

    def describe(self) -> list[Mapping[str, Any]]:
        """Return all models, the active one first; servers are asked for theirs at most once a minute."""
        active = self.active
        models: list[Mapping[str, Any]] = [
            {
                "name": f"local:{name}",
                "title": weights.title,
                "size": weights.size,
                **_describe_arrival(name),
                "active": active == f"local:{name}",
                # Named or not, its answers are placeholders, which the page says.
                **({"stand_in": True} if name == STAND_IN and active == f"local:{name}" else {}),
            }
            for name, weights in CATALOGUE.items()
        ]
        for name, file in list_models(self._settings.section(ModelSettings).folders):
            shown = f"local:{name}"
            models.append(
                {
                    "name": shown,
                    "title": file.title,
                    "size": file.size,
                    "state": "ready",
                    "active": shown == active,
                }
            )
        known = {model["name"] for model in models}
        models += [_describe(entry) for entry in self._list_served() if entry.name not in known]
        if active is not None and all(model["name"] != active for model in models):
            models.append({"name": active, "title": active, "state": "ready", "active": True})
        return sorted(models, key=lambda model: not model["active"])

    def _list_served(self) -> Sequence[ModelEntry]:
        """Return the model in use, its fallbacks, and the chat models of the providers that are set up."""
        survey = Survey(self._settings)
        moment, served = self._asked
        if time.monotonic() - moment > ASKED_FOR:
            served = run_sync(_ask_providers(survey))
            self._asked = time.monotonic(), served
        entries = {entry.name: entry for entry in (*survey.list_chosen(), *served)}
        return list(entries.values())


async def _ask_providers(survey: Survey) -> Sequence[ModelEntry]:
    found: list[ModelEntry] = []
    for provider in await survey.list_providers(set_up_only=True):
        row = provider.configured.provider
        chat = [model for model in provider.models if not row.prices or (model.price and model.price.output)]
        found += chat[:MOST_MODELS]
    return found


def _describe_arrival(name: str) -> Mapping[str, Any]:
    """Return whether an embedded model is there, how far its download is, or why it failed."""
    if find(name):
        return {"state": "ready"}
    pull = find_progress(name)
    if is_running(name) and (pull is None or pull.state in ("ready", "failed")):  # it has just begun
        return {"state": "downloading", "progress": {"done": 0, "total": get_weights(name).size}}
    if pull is None or pull.state == "ready":  # it was deleted since
        return {"state": "missing"}
    progress = {"done": pull.done, "total": pull.total}
    if pull.state == "failed":
        return {"state": "failed", "progress": progress, "error": pull.message}
    return {"state": "downloading", "progress": progress}


def _describe(entry: ModelEntry) -> Mapping[str, Any]:
    data = entry.to_dict()
    shown = {name: data[name] for name in ("free", "price", "context_tokens")}
    return {"name": entry.name, "title": entry.name, "state": "ready", "active": entry.is_active, **shown}
