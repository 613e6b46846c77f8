"""Our server with each engine: the web processes work themselves, or a worker works for them."""

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.server.contestants import DOVETAIL, Contestant
from benchmarks.server.process import Server, find_port, wait_for


def engine_contestant(name: str, settings: str = "") -> Contestant:
    """Return our server with an engine; `settings` is further TOML for its workspace."""
    return dataclasses.replace(
        DOVETAIL,
        name=f"dovetail-{name}",
        options=[*DOVETAIL.options, "--engine", name],
        files={"dovetail.toml": settings},
    )


@contextmanager
def start_engine_servers(
    engine: Contestant, upstream: str, database: str, *, is_split: bool
) -> Iterator[list[Server]]:
    """Start two web processes that work, or one that does not and one worker."""
    with ExitStack() as stack:
        if not is_split:
            yield stack.enter_context(engine.start(upstream, 2, database))
            return
        name = engine.options[-1]
        web = dataclasses.replace(engine, options=[*engine.options, "--no-work"])
        place = ["--metrics-port", "{port}", "--workspace", "{folder}"]
        worker = dataclasses.replace(
            engine, options=["worker", "--engine", name, "--concurrency", "1000", *place]
        )
        servers = stack.enter_context(web.start(upstream, 1, database))
        works = stack.enter_context(worker.start(upstream, 1, database))
        yield [*servers, *(dataclasses.replace(server, takes_chats=False) for server in works)]


@contextmanager
def start_engine(name: str) -> Iterator[str]:
    """Start what an engine needs besides PostgreSQL; yield the settings that name it."""
    if name != "temporal":
        yield "[runs]\nconcurrency = 1000\n"
        return
    port = find_port()
    program = Path(sys.executable).with_name("temporal")
    command = [program, "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(process, port)
            yield f'[runs]\nconcurrency = 1000\ntemporal_address = "127.0.0.1:{port}"\n'
        finally:
            process.terminate()
