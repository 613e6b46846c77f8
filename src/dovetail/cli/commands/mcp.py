"""`dovetail mcp`: serve the tools of the workspace to any MCP client."""

import asyncio
from contextlib import nullcontext
from pathlib import Path

import typer

from dovetail.app import Dovetail
from dovetail.cli.process import follow_changes, open_listener
from dovetail.cli.terminal import WORKSPACE
from dovetail.data.text import expected_one_of
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.policy.mode import read_mode
from dovetail.policy.rule import Mode
from dovetail.server.mcp import ToolServer

lowlevel = lazy("mcp.server.lowlevel", extra="mcp")
stdio = lazy("mcp.server.stdio", extra="mcp")
uvicorn = lazy("uvicorn", extra="server")

app = typer.Typer()

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@app.command("mcp")
def serve_mcp(
    http: int | None = typer.Option(
        None, metavar="PORT", help="Serve HTTP on this port instead of stdio; 0 for a free one."
    ),
    host: str = typer.Option("127.0.0.1", help="The address to serve HTTP on."),
    only: list[str] | None = typer.Option(
        None, help="Serve only tools that match this glob; can be repeated."
    ),
    mode: str = typer.Option("default", help="The policy mode: plan, default, auto or yolo."),
    watch: bool = typer.Option(False, "--watch", help="Reload when a folder is edited."),
    workspace: Path | None = WORKSPACE,
) -> None:
    """Serve the tools of the workspace over MCP: stdio by default, or streamable HTTP at /mcp."""
    if host not in _LOOPBACK:
        raise ConfigError(
            f"Cannot serve MCP on {host!r}: it has no authentication.",
            hint="Serve it on 127.0.0.1, behind a proxy that authenticates callers.",
        )
    asyncio.run(_serve(Dovetail(workspace=workspace), only or ["*"], read_mode(mode), (host, http), watch))


async def _serve(
    dovetail: Dovetail, globs: list[str], mode: Mode, address: tuple[str, int | None], watch: bool
) -> None:
    offer = ToolServer(dovetail.get_tool_registry(), dovetail.runtime.runner, globs, mode)
    async with dovetail, follow_changes(dovetail, offer.announce_change) if watch else nullcontext():
        await dovetail.open_book()
        await dovetail.get_tool_registry().discover_all_tools()
        if not offer.get_snapshot().tools:
            known = expected_one_of(dovetail.get_tool_registry().snapshot().tools)
            typer.echo(f"No tool matches {', '.join(globs)} yet. {known}", err=True)
        server, (host, port) = offer.server, address
        if port is None:
            async with stdio.stdio_server() as (read, write):
                options = lowlevel.NotificationOptions(tools_changed=watch)
                await server.run(read, write, server.create_initialization_options(options))
        else:
            with open_listener(host, port, "dovetail mcp --http {port}") as listener:
                typer.echo(f"MCP at http://{host}:{listener.getsockname()[1]}/mcp", err=True)
                config = uvicorn.Config(
                    server.streamable_http_app(host=host), log_level="warning", access_log=False
                )
                await uvicorn.Server(config).serve(sockets=[listener])
