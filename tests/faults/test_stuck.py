"""A tool that hangs forever does not keep the server from stopping."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from dovetail.testing import ScriptedServer
from patience import PATIENCE

pytestmark = pytest.mark.slow

EXTENSION = """
import asyncio, sys, time

def hang():
    print("stuck", file=sys.stderr, flush=True)
    time.sleep(3600)

async def hang_in_thread():
    await asyncio.to_thread(hang)

async def hang_the_loop():
    hang()

TOOLS = [
    {"label": "test", "name": f.__name__, "description": "Hangs", "parameters": {}, "execute": f}
    for f in (hang, hang_in_thread, hang_the_loop)
]
"""


@asynccontextmanager
async def start(folder: Path, model: ScriptedServer) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    place = folder / "extensions" / "hanging"
    place.mkdir(parents=True)
    (place / "extension.py").write_text(EXTENSION)
    environment = {
        **os.environ,
        "DOVETAIL_MODEL": "openai:x",
        "DOVETAIL_BASE_URL": model.url,
        "DOVETAIL_API_KEY": "none",
        "DATABASE_URL": f"sqlite:///{folder / 'x.db'}",
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "dovetail", "serve", "--port", "0", "--workspace", str(folder)),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        yield process, (await process.stdout.readline()).decode().split()[-1]
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


@pytest.mark.parametrize(("tool", "code"), [("hang", 0), ("hang_in_thread", 0), ("hang_the_loop", 1)])
async def test_the_server_ends_although_a_tool_hangs(tmp_path: Path, tool: str, code: int) -> None:
    with ScriptedServer([{"tool_calls": [{"call_id": "c", "name": tool}]}]) as model:
        async with (
            start(tmp_path, model) as (process, address),
            httpx.AsyncClient(timeout=PATIENCE) as client,
        ):
            body = {"message": "Go.", "session_id": "s"}
            asking = asyncio.create_task(client.post(f"{address}/api/v1/chat", json=body))
            assert process.stderr is not None
            async with asyncio.timeout(PATIENCE):
                while b"stuck" not in await process.stderr.readline():
                    pass
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(PATIENCE):
                _, told = await process.communicate()
            assert process.returncode == code
            assert ("did not stop within" in told.decode()) == bool(code)
            await asyncio.gather(asking, return_exceptions=True)
