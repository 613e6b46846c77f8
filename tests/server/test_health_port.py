"""The health port of a worker: checks and metrics without the HTTP interface."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from dovetail.app import Dovetail
from dovetail.errors import ConfigError
from dovetail.server.health_port import HealthPort
from dovetail.server.metrics import Metrics, RunMetrics
from patience import PATIENCE


@asynccontextmanager
async def open_port(folder: Path) -> AsyncIterator[tuple[HealthPort, str]]:
    metrics = Metrics()
    async with Dovetail({"store": {"url": f"sqlite:///{folder}/x.db"}}, workspace=folder) as app:
        await app.open_chat()
        health = HealthPort(app, metrics, RunMetrics(app, metrics))
        async with health.open("127.0.0.1", 0) as port:
            yield health, f"http://127.0.0.1:{port}"


async def test_it_serves_health_readiness_and_metrics(tmp_path: Path) -> None:
    async with (
        open_port(tmp_path) as (health, address),
        httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client,
    ):
        assert (await client.get("/healthz")).json()["status"] == "ok"
        assert (await client.get("/readyz")).json() == {"status": "ok"}
        metrics = await client.get("/metrics")
        assert "dovetail_runs_active 0.0" in metrics.text
        assert metrics.headers["content-type"].startswith("text/plain")
        assert (await client.get("/other")).status_code == 404
        health.is_draining = True
        draining = await client.get("/readyz")
        assert (draining.status_code, draining.json()) == (503, {"status": "draining"})
        assert (await client.get("/healthz")).status_code == 200


async def test_a_worker_that_is_starting_is_not_ready(tmp_path: Path) -> None:
    metrics = Metrics()
    async with Dovetail({"store": {"url": f"sqlite:///{tmp_path}/x.db"}}, workspace=tmp_path) as app:
        health = HealthPort(app, metrics, RunMetrics(app, metrics))
        async with health.open("127.0.0.1", 0) as port, httpx.AsyncClient(timeout=PATIENCE) as client:
            for path in ("readyz", "metrics"):
                reply = await client.get(f"http://127.0.0.1:{port}/{path}")
                assert (reply.status_code, reply.json()) == (503, {"status": "starting"})
            assert (await client.get(f"http://127.0.0.1:{port}/healthz")).status_code == 200


async def test_a_client_that_sends_nonsense_does_not_disturb_others(tmp_path: Path) -> None:
    async with open_port(tmp_path) as (_, address), asyncio.timeout(PATIENCE):
        for nonsense in (b"\r\n\r\n", b"x" * 70_000):
            reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
            writer.write(nonsense)
            writer.write_eof()
            assert await reader.read() == b""
            writer.close()
        async with httpx.AsyncClient(timeout=PATIENCE) as client:
            assert (await client.get(f"{address}/healthz")).status_code == 200


async def test_a_taken_port_is_named(tmp_path: Path) -> None:
    async with open_port(tmp_path) as (health, address):
        port = int(address.rpartition(":")[2])
        with pytest.raises(ConfigError, match=f"Cannot listen on 127.0.0.1:{port} for metrics"):
            async with health.open("127.0.0.1", port):
                pass
