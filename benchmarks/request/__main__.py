"""Print the cost of a streamed request: `python -m benchmarks.request [--no-peer]`."""

import json
import os
import subprocess
import sys

from benchmarks.harness import ROOT, Row, find_peer, report, run_peer

CLIENTS = "benchmarks.request.clients"
BARE = "bare httpx"
TARGET = 1.8

OURS = {
    BARE: "bare_httpx",
    "bare aiohttp": "bare_aiohttp",
    "dovetail requester": "dovetail_requester",
    "dovetail agent": "dovetail_agent",
}
PEERS = {
    "openai": ("with_openai", ["openai==3.49.0"]),
    "pydantic-ai": ("with_pydantic_ai", ["pydantic-ai-slim[openai]==2.66.0"]),
    "langchain-openai": ("with_langchain_openai", ["langchain-openai==1.7.3"]),
    "openai-agents": ("with_openai_agents", ["openai-agents==0.24.0"]),
    "agently": ("with_agently", ["agently==4.0.7.1"]),
}


def main() -> int:
    """Time every client against one server; return the exit status."""
    command = [sys.executable, "-m", "benchmarks.request.server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip()
            times = {name: _run(f"{CLIENTS}.{module}", url) for name, module in OURS.items()}
            if "--no-peer" not in sys.argv:
                for name, (module, requirements) in PEERS.items():
                    times[name] = run_peer(find_peer(name, requirements), f"{CLIENTS}.{module}", url)
        finally:
            server.terminate()
    rows = [_row(name, work, times) for work in times[BARE] for name in times]
    return report("One streamed request of 200 chunks, CPU time", rows)


def _run(module: str, url: str) -> dict[str, float]:
    """Run a client in our own environment, with the package from the source tree, and return its output."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    command = [sys.executable, "-m", module, url]
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
