"""Print the cost of 20 tool calls in a row, in units of the same requests with a bare client.

`python -m benchmarks.tools [--no-peer]`
"""

import asyncio
import sys

import httpx

from benchmarks.harness import Row, find_peer, report, run_peer
from benchmarks.tools import by_hand
from benchmarks.tools.peer import measure
from benchmarks.tools.server import serve
from dovetail import Agent

TARGET = 1.6
UNIT = "x bare httpx"
PEERS = {
    "pydantic_ai": ["pydantic-ai-slim[openai]", "httpx"],
    "langchain": ["langchain", "langchain-openai"],
    "openai_agents": ["openai-agents"],
}


def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


async def measure_ours(url: str) -> dict[str, float]:
    """Measure our loop and the bare client, in one process and one event loop."""
    settings = {"model": {"name": "openai:scripted", "base_url": url, "api_key": "none"}}
    agent = Agent(settings=settings).use_tools(add)

    async def ours() -> str:
        return (await agent.async_run("Count to 21.")).text

    async with httpx.AsyncClient() as client:
        times = {
            "bare": await measure(url, lambda: by_hand.run(client, url)),
            "dovetail": await measure(url, ours),
        }
    await agent.requester.close()
    return times


def main() -> int:
    """Measure; return the exit status."""
    with serve() as url:
        times = asyncio.run(measure_ours(url))
        bare = times["bare"]
        detail = f"{times['dovetail'] * 1e3:.1f} ms, bare {bare * 1e3:.1f} ms"
        rows = [Row("dovetail, agent.run", times["dovetail"] / bare, TARGET, UNIT, detail)]
        if "--no-peer" not in sys.argv:
            for name, requirements in PEERS.items():
                seconds = run_peer(find_peer(name, requirements), f"benchmarks.tools.{name}_peer", url)
                rows.append(
                    Row(name.replace("_", "-"), seconds / bare, None, UNIT, f"{seconds * 1e3:.1f} ms")
                )
    return report("20 native tool calls in a row", rows)


if __name__ == "__main__":
    raise SystemExit(main())
