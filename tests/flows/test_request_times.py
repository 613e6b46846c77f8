"""Operators see where the time of a run went: in its journal, the list of runs, the metrics and the log."""

import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail.app import Dovetail
from dovetail.testing import ScriptedServer
from patience import PATIENCE
from serving import Serving, serve, serve_app

OVERLOADED: list[Any] = [{"status": 503}, {"status": 503}, "Two coats."]


def make_settings(model: ScriptedServer) -> dict[str, Any]:
    provider = {"base_url": model.url, "api_key": "k"}
    retries = {"first_delay": 0.01, "longest_delay": 0.01}
    return {"model": {"name": "openai:busy", "providers": {"openai": provider}, "retries": retries}}


async def test_a_request_that_was_retried_says_so_everywhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="dovetail.requests")
    with ScriptedServer(OVERLOADED) as model:
        app = Dovetail(make_settings(model), workspace=tmp_path)
        async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
            server = Serving(app, model, client, address)  # pyright: ignore[reportArgumentType]
            await server.chat("How many coats?")
            [run] = (await server.get("/api/v1/runs"))["runs"]
            events = [e async for e in server.stream("GET", f"/api/v1/runs/{run['id']}/events")]
            shown = await server.get(f"/api/v1/runs/{run['id']}")
            metrics = (await client.get("/metrics")).text
    [turn] = [event for event in events if event["type"] == "turn-end"]
    assert turn["timing"]["retries"] == ["503", "503"]
    assert turn["timing"]["seconds"] >= turn["timing"]["first_token"] >= turn["timing"]["waited"] > 0
    assert 'dovetail_model_retries_total{model="openai:busy",status="503"} 2.0' in metrics
    assert 'dovetail_model_first_token_seconds_count{model="openai:busy"} 1.0' in metrics
    assert 'dovetail_model_request_seconds_count{model="openai:busy"} 1.0' in metrics
    assert 'dovetail_queue_wait_seconds_count{queue="default"} 1.0' in metrics
    assert run["started_at"] == shown["started_at"] >= run["created_at"]
    assert run["waited"] >= 0
    [line] = [record for record in caplog.records if record.getMessage() == "model request"]
    fields: dict[str, Any] = line.__dict__["fields"]
    assert (fields["model"], fields["status"], fields["retries"]) == ("openai:busy", "ok", "503,503")


async def test_a_request_that_fails_has_a_line_in_the_log_with_its_status(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="dovetail.requests")
    async with serve(tmp_path, [{"status": 401, "body": "no key"}]) as server:
        await server.chat("How many coats?")
    [line] = [record for record in caplog.records if record.getMessage() == "model request"]
    assert line.__dict__["fields"]["status"] == "401"
