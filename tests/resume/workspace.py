"""The folder that the processes of a cell serve: tools that write an effect ledger, and a helper agent.

Each execution of `note` or `spend` appends one line to the ledger, forces it to the disk, and then asks the
harness whether it may continue. `spend` requires approval.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from resume.model import HELPER

EXTENSION = '''"""Tools with effects that are counted."""

import json
import os

import aiohttp

from dovetail.events.tool_context import ToolContext

EDITION = {edition}


async def work(tool: str, key: str, context: ToolContext) -> str:
    line = {{"tool": tool, "key": key, "edition": EDITION, "call": context.call_id, "run": context.run_path}}
    place = os.open({ledger!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(place, json.dumps(line).encode() + b"\\n")
    os.fsync(place)
    os.close(place)
    async with aiohttp.ClientSession() as session, session.post({gates!r}, json=line) as response:
        await response.read()
    return f"{{tool}} {{key}} is done"


async def note(key: str, context: ToolContext) -> str:
    return await work("note", key, context)


async def spend(key: str, context: ToolContext) -> str:
    return await work("spend", key, context)


PARAMETERS = {{"key": {{"type": "string", "description": "What it is about", "required": True}}}}
TOOLS = [
    {{"label": "x", "name": "note", "description": "Note.", "parameters": PARAMETERS, "execute": note}},
    {{"label": "x", "name": "spend", "description": "Spend.", "parameters": PARAMETERS, "execute": spend,
     "kind": "execute"}},
]
'''
AGENT = f"""---
name: helper
description: Does a task with tools of its own.
tools: [note, spend]
---
{HELPER}
"""


@dataclass(frozen=True)
class Effect:
    """A line of the ledger."""

    tool: str
    key: str
    edition: int


class ToolGate:
    """A call of a tool that is held after its effect."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()


@dataclass
class Workspace:
    """A folder with tools and an agent, and the server that its tools ask whether they may continue."""

    folder: Path
    address: str = ""
    _holds: dict[str, ToolGate] = field(default_factory=dict[str, ToolGate])
    _gates: list[ToolGate] = field(default_factory=list[ToolGate])

    @property
    def ledger(self) -> Path:
        """The file of effects."""
        return self.folder / "ledger.jsonl"

    def write(self, edition: int = 1, settings: str = "") -> None:
        """Write the folder; the edition of its tools is recorded with each effect."""
        if settings:
            (self.folder / "dovetail.toml").write_text(settings)
        tools = self.folder / "extensions" / "effects"
        tools.mkdir(parents=True, exist_ok=True)
        text = EXTENSION.format(edition=edition, ledger=str(self.ledger), gates=self.address)
        (tools / "extension.py").write_text(text)
        (self.folder / "agents").mkdir(exist_ok=True)
        (self.folder / "agents" / "helper.md").write_text(AGENT)
        self.ledger.touch()

    def hold(self, key: str) -> ToolGate:
        """Hold the next call with this key."""
        gate = self._holds[key] = ToolGate()
        self._gates.append(gate)
        return gate

    def read_effects(self) -> list[Effect]:
        """Return the effects so far."""
        lines = map(json.loads, self.ledger.read_text().splitlines())
        return [Effect(line["tool"], line["key"], line["edition"]) for line in lines]

    def open_all(self) -> None:
        """Let everything continue."""
        for gate in self._gates:
            gate.opened.set()

    async def answer(self, request: web.Request) -> web.Response:
        """Reply to a tool when it may continue."""
        line: dict[str, Any] = await request.json()
        gate = self._holds.pop(line["key"], None)
        if gate is not None:
            gate.reached.set()
            await gate.opened.wait()
        return web.Response()


@asynccontextmanager
async def open_workspace(folder: Path) -> AsyncIterator[Workspace]:
    """Write a workspace and serve its gates."""
    workspace = Workspace(folder)
    app = web.Application()
    app.router.add_post("/gate", workspace.answer)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        workspace.address = f"http://127.0.0.1:{runner.addresses[0][1]}/gate"
        workspace.write()
        yield workspace
    finally:
        workspace.open_all()
        await runner.cleanup()
