"""The engines of the matrix: which processes each needs, and where its data are."""

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
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def can_share(self) -> bool:
        """Whether several servers may use its database."""
        return self.storage != "sqlite"


ENGINES = {
    engine.name: engine
    for engine in (
        Engine(name="local/SQLite", storage="sqlite"),
        Engine(name="local/PostgreSQL", storage="postgresql"),
    )
}
