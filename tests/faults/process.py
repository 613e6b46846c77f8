"""The server that fault tests kill: the real one, with tools that leave a trace of every execution.

    python process.py WORKSPACE LEDGER

The database and the model come from the environment, as for `dovetail serve`. For each line `start` on its
standard input it starts a server process of its own, which prints `<process id> <address>` when it is ready;
for a line `wait` it prints `gone` when that one has ended. What takes long to import is imported only once.
Each execution of a tool appends `<tool> <key>` to the ledger before the tool continues. While the file `hold`
in the workspace names them, tools stay in progress: `enter` and `peek` inside of their work, and `held`, an
agent, between its end and its result.
"""

import asyncio
import logging
import os
import socket
import sys
from pathlib import Path
from typing import Any

from dovetail.agents.as_tool import SubagentInvocation, SubagentToolWrapper
from dovetail.agents.definition import AgentDefinition, AgentInputs
from dovetail.app import Dovetail
from dovetail.events.call import Kind
from dovetail.events.run_context import current_context
from dovetail.events.tool_context import ToolContext
from dovetail.server.app import create_app
from dovetail.server.socket import run_server
from dovetail.tools.makers.browser import make_browser_tool
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool, ToolResult

WORK_SECONDS = 0.02


class HeldAgent(SubagentToolWrapper):
    """An agent whose call may stay in progress after the agent has ended."""

    def create_invocation(self, params: AgentInputs) -> "HeldInvocation":
        """Return one run of the agent."""
        return HeldInvocation(params, self.definition, self.config, self.message_bus)


class HeldInvocation(SubagentInvocation):
    """One run of the agent."""

    async def execute(self, signal: Any = None, update_output: Any = None) -> ToolResult:
        """Run the agent, then hold its result."""
        result = await super().execute(signal, update_output)
        if is_held("held"):
            await current_context().flush()
            update_output("held")
            await asyncio.Event().wait()
        return result


def is_held(tool: str) -> bool:
    """Whether a tool is to stay in progress."""
    place = Path(sys.argv[1]) / "hold"
    return place.exists() and tool in place.read_text().split()


def make_held_agent(app: Dovetail) -> Tool:
    """Return the agent `held`, which hands in a result with a structure."""
    definition = AgentDefinition(
        name="held",
        description="Does a task and hands in a result.",
        input_config={"inputs": {"task": {"type": "string", "required": True}}},
        prompt_config={"query": "${task}"},
        output_config={"schema": {"type": "object"}},
        tool_config={"tools": ["note"]},
    )
    return HeldAgent(definition, app)


async def work(ledger: Path, tool: str, key: str) -> str:
    """Leave the trace of one execution."""
    place = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(place, f"{tool} {key}\n".encode())
    os.close(place)
    await asyncio.sleep(WORK_SECONDS)
    return f"{tool} {key} is done"


def make_tools(ledger: Path) -> list[Tool]:
    """Tools of every kind: plain, repeatable, with approval, in the browser."""

    async def note(key: str) -> str:
        """Do something that must not happen twice."""
        return await work(ledger, "note", key)

    async def look(key: str) -> str:
        """Do something that may be repeated."""
        return await work(ledger, "look", key)

    async def spend(key: str) -> str:
        """Do something that requires approval."""
        return await work(ledger, "spend", key)

    schema = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
    return [
        make_tool(note),
        make_tool(look, kind=Kind.Read, idempotent=True),
        make_tool(spend, kind=Kind.Execute),
        make_browser_tool("pick", "Let the user pick something.", schema),
    ]


def make_long_tools(ledger: Path) -> list[Tool]:
    """Tools that may stay in progress."""

    async def stay(tool: str, key: str, context: ToolContext) -> str:
        text = await work(ledger, tool, key)
        if is_held(tool):
            context.update("inside")
            await asyncio.Event().wait()
        return text

    async def enter(key: str, context: ToolContext) -> str:
        """Do something that must not happen twice, and may take long."""
        return await stay("enter", key, context)

    async def peek(key: str, context: ToolContext) -> str:
        """Do something that may be repeated, and may take long."""
        return await stay("peek", key, context)

    return [make_tool(enter), make_tool(peek, kind=Kind.Read, idempotent=True)]


def serve() -> None:
    """Serve until the process is stopped or killed."""
    app = Dovetail(workspace=Path(sys.argv[1]))
    ledger = Path(sys.argv[2])
    for tool in [*make_tools(ledger), *make_long_tools(ledger), make_held_agent(app)]:
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
