"""Tokens and their cost are the same wherever they are shown."""

from pathlib import Path
from typing import Any

import pytest

from dovetail import Agent
from dovetail.events.delta import Usage
from dovetail.testing import Reply, ScriptedServer
from serving import Serving, serve

USED = Usage(1_000, 100, 600, 40, 0.25, 200)
SHOWN = {
    "input_tokens": 1_000,
    "output_tokens": 100,
    "cached_tokens": 600,
    "cache_write_tokens": 200,
    "reasoning_tokens": 40,
    "cost": 0.25,
}


async def read_metrics(server: Serving, model: str) -> dict[str, str]:
    lines = (await server.client.get("/metrics")).text.splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if f'model="{model}"' in line)  # type: ignore[misc]


async def test_stream_session_export_and_metrics_show_all_kinds_of_tokens_and_the_cost(
    tmp_path: Path,
) -> None:
    async with serve(tmp_path, [Reply(text="Hi.", usage=USED)]) as server:
        chunks = await server.chat("Hello.")
        session = await server.get("/api/v1/sessions/s")
        export = await server.get("/api/v1/sessions/s/export")
        model = server.model.model
        metrics = await read_metrics(server, model)
        imported = await server.client.post("/api/v1/sessions/import", json=export)
    assert chunks[-1]["messageMetadata"]["usage"] == SHOWN
    assert session["usage"] == SHOWN
    assert export["usage"] == SHOWN
    assert imported.json()["usage"] == SHOWN
    kinds = {"input": 1_000, "output": 100, "cached": 600, "cache_write": 200, "reasoning": 40}
    for kind, count in kinds.items():
        assert float(metrics[f'dovetail_tokens_total{{kind="{kind}",model="{model}"}}']) == count
    assert float(metrics[f'dovetail_cost_total{{model="{model}"}}']) == 0.25


@pytest.mark.parametrize("stream", [True, False])
async def test_openai_compatible_answers_show_them_too(tmp_path: Path, stream: bool) -> None:
    body = {
        "model": "master",
        "messages": [{"role": "user", "content": "Hello."}],
        "stream": stream,
        "stream_options": {"include_usage": True},
    }
    async with serve(tmp_path, [Reply(text="Hi.", usage=USED)]) as server:
        if stream:
            chunks = [chunk async for chunk in server.stream("POST", "/v1/chat/completions", json=body)]
            usage = next(chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage"))
        else:
            usage = (await server.client.post("/v1/chat/completions", json=body)).json()["usage"]
    assert usage == {
        "prompt_tokens": 1_000,
        "completion_tokens": 100,
        "total_tokens": 1_100,
        "prompt_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 200},
        "completion_tokens_details": {"reasoning_tokens": 40},
        "cost": 0.25,
    }


@pytest.mark.parametrize(
    ("model", "cost"),
    [
        ("openai:gpt-5-mini", (400 * 0.25 + 600 * 0.025 + 100 * 2) / 1e6),
        ("openai:gpt-5-mini-2025-08-07", (400 * 0.25 + 600 * 0.025 + 100 * 2) / 1e6),
        ("ollama:qwen3", 0.0),
        ("openai:unheard-of", None),
    ],
)
async def test_meta_has_the_published_price(model: str, cost: float | None) -> None:
    used = Usage(1_000, 100, 600, 40)
    provider = model.partition(":")[0]
    async with ScriptedServer([Reply(text="Hi.", usage=used)]) as server:
        settings: dict[str, Any] = {
            "model": {"providers": {provider: {"base_url": server.url, "api_key": "k"}}}
        }
        agent = Agent(model=model, settings=settings)
        response = agent.input("Hello.").get_response()
        usage = (await response.async_get_meta())["usage"]
    assert usage["cost"] == (cost if cost is None else pytest.approx(cost))
    assert (usage["cached_tokens"], usage["reasoning_tokens"], usage["cache_write_tokens"]) == (600, 40, 0)


async def test_cost_of_all_turns_is_added_up() -> None:
    used = Usage(1_000_000, 0)
    calls = {"tool_calls": [{"name": "look", "arguments": {}}], "usage": used}
    async with ScriptedServer([calls, Reply(text="Hi.", usage=used)]) as server:
        prices = {"any": {"input": 2.0, "output": 1.0}}
        agent = Agent(model="openai:any", settings={"model": {"base_url": server.url, "prices": prices}})

        @agent.tool_func
        def look() -> str:
            """Look."""
            return "seen"

        outcome = await agent.async_run("Look.")
    assert outcome.usage.cost == pytest.approx(4.0)
