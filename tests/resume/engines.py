"""The engines of the matrix: which processes each needs, and where its data are."""

import asyncio
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from google.protobuf.duration_pb2 import Duration
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client

from dovetail.ids import new_id
from temporal_server import TemporalDevServer, start_temporal

DAY = 24 * 3600
_starting = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Engine:
    """How runs are worked on: by the servers themselves, or by workers next to them."""

    name: str
    storage: str
    has_workers: bool = False
    packages: tuple[str, ...] = ()
    settings: Mapping[str, str | float] = field(default_factory=dict[str, str | float])
    """The section `runs` of `dovetail.toml`."""

    @property
    def web_options(self) -> list[str]:
        """The options of `dovetail serve`."""
        return ["--no-work"] if self.has_workers else []

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
        Engine(
            name="dbos",
            storage="postgresql",
            has_workers=True,
            packages=("dbos", "dovetail.cli.commands.worker"),
            settings={"engine": "dbos", "park_after": 0.05},
        ),
        Engine(
            name="temporal",
            storage="postgresql",
            has_workers=True,
            packages=("temporalio.worker", "dovetail.cli.commands.worker"),
            settings={"engine": "temporal", "park_after": 0.05},
        ),
    )
}


def _start_once() -> TemporalDevServer:
    with _starting:
        return start_temporal()


async def make_settings(engine: Engine) -> str:
    """Return the settings for one cell; with Temporal, each has a namespace of its own on one server."""
    if engine.name != "temporal":
        return engine.write_settings()
    address = (await asyncio.to_thread(_start_once)).address
    client = await Client.connect(address)
    namespace = new_id("cell")
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(
            namespace=namespace, workflow_execution_retention_period=Duration(seconds=DAY)
        )
    )
    return engine.write_settings(temporal_address=address, temporal_namespace=namespace)
