"""The engines of the matrix: which processes each needs, and where its data are."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Engine:
    """How runs are worked on: by the servers themselves, or by workers next to them."""

    name: str
    storage: str
    has_workers: bool = False
    web_options: tuple[str, ...] = ()
    worker_options: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    settings: Mapping[str, str | float] = field(default_factory=dict[str, str | float])
    """The section `runs` of `dovetail.toml`."""

    @property
    def can_share(self) -> bool:
        """Whether several servers may use its database."""
        return self.storage != "sqlite"

    def write_settings(self, **more: str | float) -> str:
        """Return the file of settings."""
        lines = [f"{name} = {json.dumps(value)}" for name, value in {**self.settings, **more}.items()]
        return "\n".join(["[runs]", *lines, ""])


ENGINES = {
    engine.name: engine
    for engine in (
        Engine(name="local/SQLite", storage="sqlite"),
        Engine(name="local/PostgreSQL", storage="postgresql", settings={"park_after": 0.05}),
    )
}
