"""Print the cost of a streamed request: `python -m benchmarks.request [--no-peer] [PROTOCOL …]`."""

import json
import os
import subprocess
import sys

from benchmarks.harness import ROOT, Row, find_peer, report, run_peer
from benchmarks.request.protocols import NAMES, find_protocol

CLIENTS = "benchmarks.request.clients"
BARE = "bare httpx"
TARGET = 1.0

OURS = {
    BARE: "bare_httpx",
    "bare aiohttp": "bare_aiohttp",
    "dovetail requester": "dovetail_requester",
    "dovetail agent": "dovetail_agent",
}
PEERS = {
    "pydantic-ai": ("with_pydantic_ai", ["pydantic-ai-slim[openai]==2.66.0"]),
    "langchain-openai": ("with_langchain_openai", ["langchain-openai==1.7.3"]),
    "openai-agents": ("with_openai_agents", ["openai-agents==0.24.0"]),
    "agently": ("with_agently", ["agently==4.0.7.1"]),
}
"""Other packages, for chat completions; the official ones are development dependencies."""


def main() -> int:
    """Time every client of every protocol; return the exit status."""
    chosen = [name for name in sys.argv[1:] if not name.startswith("-")] or NAMES
    return max([_time_protocol(name, with_peers="--no-peer" not in sys.argv) for name in chosen])


def _time_protocol(name: str, *, with_peers: bool) -> int:
    command = [sys.executable, "-m", "benchmarks.request.server", name]
    sdk = find_protocol(name).SDK
    clients = {**OURS, f"{sdk.removeprefix('with_')} package": sdk}
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip()
            times = {title: _run(f"{CLIENTS}.{module}", url, name) for title, module in clients.items()}
            if with_peers and name == "chat":
                for title, (module, requirements) in PEERS.items():
                    python = find_peer(title, requirements)
                    times[title] = run_peer(python, f"{CLIENTS}.{module}", url, name)
        finally:
            server.terminate()
    rows = [_row(title, work, times) for work in times[BARE] for title in times]
    return report(f"One streamed request of 200 chunks ({name}), CPU time", rows)


def _run(module: str, *arguments: str) -> dict[str, float]:
    """Run a client in our own environment, with the package from the source tree, and return its output."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(
        command, check=True, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, timeout=600
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def _row(name: str, work: str, times: dict[str, dict[str, float]]) -> Row:
    ratio = times[name][work] / times[BARE][work]
    target = TARGET if name.startswith("dovetail") else None
    return Row(f"{work}: {name}", ratio, target, f"x {BARE}", f"{times[name][work]:.2f} ms")


if __name__ == "__main__":
    raise SystemExit(main())
