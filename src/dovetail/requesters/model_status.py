"""The status of this server's models: ready or missing, in use, download progress."""

from typing import Any

from dovetail.requesters.local.files import list_models
from dovetail.requesters.local.weights import CATALOGUE, find, find_best
from dovetail.settings import Settings
from dovetail.settings.model import ModelSettings


class ModelStatus:
    """The models as the page shows them; a background download reports its progress here."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pulls: dict[str, dict[str, Any]] = {}

    @property
    def active(self) -> str | None:
        """The model of new runs, if any."""
        chosen = self._settings.section(ModelSettings).name
        best = find_best()
        return chosen or (f"local:{best}" if best else None)

    def update(self, name: str, state: str, done: int, total: int, error: str = "") -> None:
        """Record the progress of the download of an embedded model."""
        shown = state if state in ("ready", "failed") else "downloading"
        pull: dict[str, Any] = {"state": shown, "progress": {"done": done, "total": total}}
        self._pulls[name] = {**pull, "error": error} if error else pull

    def describe(self) -> list[dict[str, Any]]:
        """Return all models, the active one first."""
        active = self.active
        models = [
            {
                "name": f"local:{name}",
                "title": weights.title,
                "size": weights.size,
                "state": "ready" if find(name) else "missing",
                **({} if find(name) else self._pulls.get(name, {})),
                "active": active == f"local:{name}",
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
        if active is not None and all(model["name"] != active for model in models):
            models.append({"name": active, "title": active, "state": "ready", "active": True})
        return sorted(models, key=lambda model: not model["active"])
