"""The server that fault tests kill: the real one, with tools that leave a trace of every execution.

    python process.py WORKSPACE LEDGER

The database and the model come from the environment, as for `dovetail serve`. For each line `start` on its
standard input it starts a server process of its own, which prints `<process id> <address>` when it is ready;
for a line `wait` it prints `gone` when that one has ended. What takes long to import is imported only once.
Each execution of a tool appends `<tool> <key>` to the ledger before the tool continues.
"""

import asyncio
import logging
import os
import socket
import sys
from pathlib import Path

from dovetail.app import Dovetail
from dovetail.events.call import Kind
from dovetail.server.app import create_app
from dovetail.server.socket import run_server
from dovetail.tools.makers.browser import make_browser_tool
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool

WORK_SECONDS = 0.02


def make_tools(ledger: Path) -> list[Tool]:
    """Tools of every kind: plain, repeatable, with approval, in the browser."""

    async def work(tool: str, key: str) -> str:
        place = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(place, f"{tool} {key}\n".encode())
        os.close(place)
        await asyncio.sleep(WORK_SECONDS)
        return f"{tool} {key} is done"

    async def note(key: str) -> str:
        """Do something that must not happen twice."""
        return await work("note", key)

    async def look(key: str) -> str:
        """Do something that may be repeated."""
        return await work("look", key)

    async def spend(key: str) -> str:
        """Do something that requires approval."""
        return await work("spend", key)

    schema = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
    return [
        make_tool(note),
        make_tool(look, kind=Kind.Read, idempotent=True),
        make_tool(spend, kind=Kind.Execute),
        make_browser_tool("pick", "Let the user pick something.", schema),
    ]


def serve() -> None:
    """Serve until the process is stopped or killed."""
    app = Dovetail(workspace=Path(sys.argv[1]))
    for tool in make_tools(Path(sys.argv[2])):
        app.tools.register_tool(tool)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        told = f"{os.getpid()} http://127.0.0.1:{port}"
        run_server(create_app(app), listener, lambda: print(told, flush=True))  # noqa: T201


def main() -> None:
    """Start servers until standard input closes."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    server = 0
    for line in sys.stdin:
        if line == "wait\n":
            os.waitpid(server, 0)
            print("gone", flush=True)  # noqa: T201
        elif (server := os.fork()) == 0:
            serve()
            os._exit(0)


if __name__ == "__main__":
    main()
