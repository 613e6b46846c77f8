"""The real server with a scripted model, for tests in a browser.

Prints one JSON line when it is ready, and stops when its standard input closes.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

import uvicorn

from dovetail.app import Dovetail
from dovetail.messages.kind import Kind
from dovetail.server.app import create_app
from dovetail.testing import ScriptedServer
from dovetail.tools.browser import open_url
from dovetail.tools.function import make_tool
from dovetail.tools.tool import ToolContext

REPOSITORY = Path(__file__).resolve().parents[2]
NOTES: dict[str, str] = {}


def write_note(name: str, text: str) -> str:
    """Keep a note under a name."""
    NOTES[name] = text
    return f"kept {name}: {text}"


async def count_up(context: ToolContext, to: int = 3) -> str:
    """Count slowly and show it."""
    for number in range(1, to + 1):
        context.update(f"at {number}")
        await asyncio.sleep(0)
    return f"counted to {to}"


def make_app(model_url: str, workspace: Path) -> Dovetail:
    """An app whose model is the script."""
    settings = {"model": {"name": "openai:scripted", "base_url": model_url, "api_key": "none"}}
    app = Dovetail(settings, workspace=workspace)
    for tool in (
        make_tool(write_note, kind=Kind.Write, display_name="Write a note"),
        make_tool(count_up, kind=Kind.Think, display_name="Count"),
        open_url,
    ):
        app.tools.register_tool(tool)
    return app


async def serve() -> None:
    """Run until nobody holds the other end of standard input any more."""
    with tempfile.TemporaryDirectory() as folder, ScriptedServer() as model:
        api = create_app(make_app(model.url, Path(folder)), web=REPOSITORY / "web" / "dist")
        config = uvicorn.Config(api, port=0, log_level="warning", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        while not server.started:
            if task.done():
                return await task
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        ready = {
            "url": f"http://127.0.0.1:{port}",
            "script": model.url.removesuffix("/v1"),
            "workspace": folder,
        }
        sys.stdout.write(json.dumps(ready) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        server.should_exit = True
        await task


if __name__ == "__main__":
    os.environ.pop("DOVETAIL_MODEL", None)
    asyncio.run(serve())
