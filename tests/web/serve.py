"""The real server with a scripted model, for tests in a browser.

Prints one JSON line when it is ready, and stops when its standard input closes.
"""

import asyncio
import json
import os
import sys
import tempfile
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import uvicorn
from pydantic import BaseModel

from dovetail.app import Dovetail
from dovetail.errors import ToolError
from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.server.app import create_app
from dovetail.testing import ScriptedServer
from dovetail.tools.makers.browser import make_browser_tool, open_url
from dovetail.tools.makers.function import make_tool
from patience import PATIENCE, be_patient

REPOSITORY = Path(__file__).resolve().parents[2]
NOTES: dict[str, str] = {}
ADMIN_TOKEN = "open-sesame"
KEYS = "ann:anns-long-key,bob:bobs-long-key"
GATES: dict[str, asyncio.Event] = {}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SHOWN: dict[str, Any] = {
    "text": "plain words",
    "json": {"joint": {"name": "dovetail", "slope": [1, 8]}},
    "table": [{"joint": "dovetail", "minutes": 45}, {"joint": "box", "minutes": 25}],
    "image": f"data:image/png;base64,{PIXEL}",
    "chart": {
        "type": "chart",
        "kind": "line",
        "title": "Costs",
        "data": [{"day": "Mon", "cost": 2}, {"day": "Tue", "cost": 5}, {"day": "Wed", "cost": 3}],
    },
    "links": [{"url": "https://example.org/joints", "title": "Joints", "snippet": "How they hold."}],
    "colors": "\x1b[1;31mFAIL\x1b[0m one of two",
    "diff": "--- a/joint\n+++ b/joint\n@@ -1 +1 @@\n-slope 1:6\n+slope 1:8\n",
}
SCRIBE = """---
name: scribe
display_name: Scribe
description: Writes one note.
inputs:
  query: {type: string, description: What to write down., required: true}
---
You write notes.
"""


HIGHLIGHT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class Board(BaseModel):
    """A board."""

    wood: Literal["oak", "pine"]
    width: int


def write_note(name: str, text: str) -> str:
    """Keep a note under a name."""
    NOTES[name] = text
    return f"kept {name}: {text}"


async def count_up(context: ToolContext, gate: str, to: int = 3) -> str:
    """Count, show it, and stop in the middle until the gate is open."""
    for number in range(1, to + 1):
        context.update(f"at {number}")
        if number == 2:
            await asyncio.wait_for(GATES.setdefault(gate, asyncio.Event()).wait(), PATIENCE)
    return f"counted to {to}"


async def open_gate(gate: str) -> str:
    """Release the count that waits at this gate."""
    GATES.setdefault(gate, asyncio.Event()).set()
    return "open"


def show(
    what: Literal["text", "json", "table", "image", "diff", "chart", "links", "colors", "error"],
) -> Any:
    """Return an output of one shape."""
    if what == "error":
        raise ToolError("the drawer is stuck")
    return SHOWN[what]


def cut(boards: list[Board], customer: Board | None = None, glued: bool = False, note: str = "") -> Any:
    """Cut boards as they are wanted."""
    return {"boards": boards, "customer": customer, "glued": glued, "note": note}


def make_app(model_url: str, workspace: Path, *, database: str | None = None, **server: str) -> Dovetail:
    """Return an app whose model is the script; without a database it has one of its own."""
    name = os.environ.get("SHOWN_MODEL", "openai:scripted")  # pictures show the name of a real one
    model = {"name": name, "base_url": model_url, "api_key": "none"}
    prices = {name: {"input": 2.5, "output": 10.0}}
    (workspace / "agents").mkdir(parents=True)
    (workspace / "agents" / "scribe.md").write_text(SCRIBE, encoding="utf-8")
    settings = {"model": {**model, "prices": prices}, "server": server, "store": {"url": database}}
    app = Dovetail(settings, workspace=workspace)
    for tool in (
        make_tool(write_note, kind=Kind.Write, display_name="Write a note"),
        make_tool(count_up, kind=Kind.Think, display_name="Count"),
        make_tool(open_gate, kind=Kind.Think),
        make_tool(show, kind=Kind.Read),
        make_tool(cut, kind=Kind.Think),
        make_browser_tool("highlight", "Highlight a text.", HIGHLIGHT, display_name="Highlight"),
        open_url,
    ):
        app.tools.register_tool(tool)
    return app


@asynccontextmanager
async def listen(app: Dovetail, port: int = 0) -> AsyncGenerator[str]:
    """Serve an app and yield its address."""
    api = create_app(app, web=REPOSITORY / "web" / "dist")
    server = uvicorn.Server(uvicorn.Config(api, port=port, log_level="warning", timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve())
    while not server.started:
        if task.done():
            raise RuntimeError("the server did not start") from task.exception()
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


class QuietFiles(SimpleHTTPRequestHandler):
    """Serve files without a line of log for each."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@contextmanager
def serve_files(folder: Path) -> Iterator[str]:
    """Serve a folder as another origin than the server's, and yield its address."""
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietFiles, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


async def serve() -> None:
    """Run until the other end of standard input is closed."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ScriptedServer() as model,
        serve_files(Path(folder) / "client") as client,
    ):
        workspace = Path(folder) / "open"
        app = make_app(model.url, workspace, admin_token=ADMIN_TOKEN, cors_origins=client)
        locked = make_app(model.url, Path(folder) / "locked", api_keys=KEYS)
        async with listen(app) as url, listen(locked) as locked_url:
            ready = {
                "url": url,
                "locked": locked_url,
                "script": model.url.removesuffix("/v1"),
                "workspace": str(workspace),
                "client": client,
                "clientFolder": str(Path(folder) / "client"),
            }
            sys.stdout.write(json.dumps(ready) + "\n")
            sys.stdout.flush()
            await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    os.environ.pop("DOVETAIL_MODEL", None)
    os.environ["DOVETAIL_WEB_ALLOWED_HOSTS"] = "127.0.0.1"
    be_patient()
    asyncio.run(serve())
