"""Print what an endless answer costs a server: `python -m benchmarks.endless [SECONDS]`.

A model's server streams text without an end, as fast as it is read, to `dovetail serve` in a process of its
own. After the seconds (40) the run is cancelled. Printed are the memory of the server before and at its peak,
the size of the database, the text that was stored, and the longest time without `/healthz`.
"""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
from aiohttp import web

PIECE = "All work and no play makes Jack a dull boy. "
PIECES = 20


async def speak(request: web.Request) -> web.StreamResponse:
    """Answer a request for a chat completion, and never finish."""
    await request.read()
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    chunk = json.dumps({"id": "1", "model": "m", "choices": [{"index": 0, "delta": {"content": PIECE}}]})
    data = f"data: {chunk}\n\n".encode() * PIECES
    with contextlib.suppress(ConnectionError):
        while True:
            await response.write(data)
    return response


async def start_model() -> tuple[web.AppRunner, int]:
    """Start the model's server; return it and its port."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", speak)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    return runner, runner.addresses[0][1]


def read_memory(pid: int, name: str) -> float:
    """Return a figure of a process's memory in MB: VmRSS now, VmHWM at its peak."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(name))) / 1024


async def watch_health(client: httpx.AsyncClient, gaps: list[float]) -> None:
    """Ask `/healthz` again and again; note how long each answer took."""
    while True:
        started = time.monotonic()
        await client.get("/healthz", timeout=600)
        gaps.append(time.monotonic() - started)
        await asyncio.sleep(0.05)


async def wait_until_ready(client: httpx.AsyncClient) -> None:
    """Wait until the server answers."""
    while True:
        try:
            return (await client.get("/readyz")).raise_for_status() and None
        except httpx.HTTPError:
            await asyncio.sleep(0.2)


async def chat(client: httpx.AsyncClient, seconds: float) -> float:
    """Ask for the endless answer and cancel it after the seconds; return how long the run took."""
    started = time.monotonic()
    body = {"message": "Go.", "session_id": "s", "stream": True}
    reader = asyncio.create_task(client.post("/api/v1/chat", json=body, timeout=600))
    await asyncio.sleep(seconds)
    runs = (await client.get("/api/v1/runs", timeout=600)).json()["runs"]
    if not reader.done():
        await client.post(f"/api/v1/runs/{runs[0]['id']}/cancel", timeout=600)
    await reader
    return time.monotonic() - started


def start_server(folder: Path, port: int, model_port: int) -> subprocess.Popen[bytes]:
    """Start `dovetail serve` in a folder, with the model's server as its model."""
    environment = {
        **os.environ,
        "DOVETAIL_MODEL": "openai:m",
        "DOVETAIL_BASE_URL": f"http://127.0.0.1:{model_port}/v1",
        "DOVETAIL_API_KEY": "none",
    }
    command = [sys.executable, "-m", "dovetail", "serve", "--port", str(port)]
    with (folder / "log").open("w") as log:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)


def measure_database(folder: Path) -> float:
    """Return the size of the database in MB."""
    return sum(file.stat().st_size for file in folder.rglob("*") if ".db" in file.name) / 1e6


async def measure(seconds: float, folder: Path) -> None:
    """Measure one endless answer."""
    runner, model_port = await start_model()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = start_server(folder, port, model_port)
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            await wait_until_ready(client)
            before = read_memory(server.pid, "VmRSS")
            gaps: list[float] = []
            watcher = asyncio.create_task(watch_health(client, gaps))
            took = await chat(client, seconds)
            watcher.cancel()
            peak, after = read_memory(server.pid, "VmHWM"), read_memory(server.pid, "VmRSS")
    finally:
        server.terminate()
        server.wait()
        await runner.cleanup()
    print(f"memory {before:.0f} MB before, {peak:.0f} MB at the peak, {after:.0f} MB after")
    print(f"database {measure_database(folder):.1f} MB")
    print(f"the run took {took:.1f} s; the longest time without /healthz was {max(gaps):.2f} s")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(measure(float(sys.argv[1]) if len(sys.argv) > 1 else 40.0, Path(name)))
