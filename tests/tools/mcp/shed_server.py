"""A real MCP server for tests: over stdio, or with a port over HTTP."""

import asyncio
import os
import sys
from pathlib import Path

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.types import ToolAnnotations

server = MCPServer("shed")
marks = Path(os.environ.get("SHED_MARKS", "/dev/null"))


def mark(word: str) -> None:
    with marks.open("a") as file:
        file.write(f"{word}\n")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


@server.tool(annotations=ToolAnnotations(destructive_hint=True))
def burn() -> str:
    return "burnt"


@server.tool()
async def wait(context: Context) -> str:
    """Start, and never return."""
    mark("begun")
    await context.report_progress(1, 10, "begun")
    try:
        await asyncio.Event().wait()
    finally:
        mark("stopped")
    return "never"


@server.tool()
def crash() -> str:
    """Exit the whole server at the first call; answer at the second."""
    return _crash_once()


@server.tool(annotations=ToolAnnotations(idempotent_hint=True))
def crash_safely() -> str:
    """The same, but harmless to repeat."""
    return _crash_once()


def _crash_once() -> str:
    is_first = "crashed" not in marks.read_text()
    mark("crashed")
    if is_first:
        os._exit(1)
    return "second time"


@server.tool(structured_output=False)
def show() -> list[object]:
    return ["a picture:", Image(data=b"\x89PNG", format="png")]


@server.tool()
def fail() -> str:
    raise ValueError("the saw is blunt")


@server.tool()
async def grow(context: Context) -> str:
    """Add one more tool."""

    def sharpen() -> str:
        return "sharp"

    server.add_tool(sharpen)
    await context.notify_tools_changed()
    return "grown"


class AnnouncingServer(uvicorn.Server):
    async def startup(self, sockets: object = None) -> None:
        await super().startup(sockets)  # type: ignore[arg-type]
        print("ready", flush=True)  # noqa: T201


if __name__ == "__main__":
    if len(sys.argv) > 1:
        config = uvicorn.Config(server.streamable_http_app(), port=int(sys.argv[1]), log_level="error")
        AnnouncingServer(config).run()
    else:
        server.run("stdio")
