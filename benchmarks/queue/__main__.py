"""Queue many background runs, have workers drain them, and check that none was lost or done twice.

`python -m benchmarks.queue [--runs 10000] [--workers 4] [--engine dbos] [--kill]`: a web process that does
not work takes all runs; then the workers start. With `--kill` the first worker is killed while it works.
The model answers with five tokens within 0.1 seconds.
"""

import argparse
import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import aiohttp
import asyncpg

from benchmarks.harness import ROOT, Row, report
from benchmarks.server.database import start_postgres
from benchmarks.server.engines import engine_contestant, start_engine
from benchmarks.server.process import Server

TOKENS = 5
_AT_ONCE = 16
_COUNTS = """
    SELECT count(*) AS stored,
           count(*) FILTER (WHERE state = 'ended') AS ended,
           count(*) FILTER (WHERE state = 'ended' AND reason = 'goal') AS answered,
           count(*) FILTER (WHERE phase = 'working' AND state = 'running') AS working
    FROM runs
"""
_REPEATED = """
    SELECT count(*) FROM (
        SELECT run_id FROM entries WHERE type = 'turn-end' GROUP BY run_id HAVING count(*) > 1
    ) AS repeated
"""
_MESSAGES = "SELECT count(*) FROM messages WHERE role = 'assistant'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """What was measured: seconds to queue and to drain, CPU seconds of the workers, and lost runs."""

    queued: float
    drained: float
    cpu: float
    lost: int
    repeated: int


def main() -> int:
    """Measure; return the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--engine", default="dbos")
    parser.add_argument("--kill", action="store_true")
    chosen = parser.parse_args()
    seen = asyncio.run(drain(chosen))
    rate = (
        f"{chosen.runs / seen.drained:.0f} runs per second, {seen.cpu / chosen.runs * 1e3:.1f} ms CPU per run"
    )
    queued = f"{seen.queued / chosen.runs * 1e3:.1f} ms per run"
    return report(
        f"{chosen.runs} queued runs, {chosen.workers} workers, engine {chosen.engine}",
        [
            Row("queued", seen.queued, None, "s", queued),
            Row("drained", seen.drained, None, "s", rate),
            Row("lost", float(seen.lost), 0.0, "runs"),
            Row("answered twice", float(seen.repeated), 0.0, "runs"),
        ],
    )


async def drain(chosen: argparse.Namespace) -> Drained:
    """Queue the runs, start the workers, and wait until no run is left."""
    with ExitStack() as stack:
        database = stack.enter_context(start_postgres())
        upstream = stack.enter_context(start_model())
        engine = engine_contestant(chosen.engine, stack.enter_context(start_engine(chosen.engine)))
        web = replace(engine, options=[*engine.options, "--no-work"])
        server = stack.enter_context(web.start(upstream, 1, database))[0]
        begin = time.monotonic()
        await queue_runs(server.port, chosen.runs)
        queued = time.monotonic() - begin
        place = ["--metrics-port", "{port}", "--workspace", "{folder}", "--concurrency", "100"]
        worker = replace(engine, options=["worker", "--engine", chosen.engine, *place], workers=())
        begin = time.monotonic()
        workers = stack.enter_context(worker.start(upstream, chosen.workers, database))
        return await watch(database, workers, chosen, (begin, queued))


async def queue_runs(port: int, count: int) -> None:
    """Send messages whose answers are made in the background."""
    body = {"message": "Say words.", "background": True}
    numbers = iter(range(count))
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as client:

        async def send() -> None:
            for _ in numbers:
                async with client.post("/api/v1/chat", json=body) as reply:
                    if reply.status != 202:
                        raise SystemExit(f"status {reply.status}: {await reply.text()}")

        await asyncio.gather(*(send() for _ in range(_AT_ONCE)))


async def watch(
    database: str, workers: list[Server], chosen: argparse.Namespace, times: tuple[float, float]
) -> Drained:
    """Wait until all runs have ended; kill the first worker on the way if wanted."""
    begin, queued = times
    connection = await asyncpg.connect(database)
    living = workers
    while (counts := await connection.fetchrow(_COUNTS))["ended"] < chosen.runs:
        if chosen.kill and living is workers and counts["ended"] > chosen.runs / 4:
            workers[0].process.send_signal(signal.SIGKILL)
            living = workers[1:]
        await asyncio.sleep(0.5)
    drained = time.monotonic() - begin
    repeated = await connection.fetchval(_REPEATED)
    messages = await connection.fetchval(_MESSAGES)
    await connection.close()
    return Drained(
        queued=queued,
        drained=drained,
        cpu=sum(worker.cpu_seconds for worker in living),
        lost=chosen.runs - min(counts["answered"], messages),
        repeated=repeated,
    )


@contextmanager
def start_model() -> Iterator[str]:
    """Start the model in its own process; yield its address."""
    command = [sys.executable, "-m", "benchmarks.server.upstream", str(TOKENS)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


if __name__ == "__main__":
    raise SystemExit(main())
