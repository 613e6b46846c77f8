"""The folder that the processes of a soak serve: tools of every kind whose effects are counted, and an agent.

Each execution appends `<tool> <key> <process id>` to the ledger, and forces it to the disk.
"""

import asyncio
import re
from collections import Counter
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from dovetail.concurrency import retrying
from faults.brain import HELPER_FILE

LOOK = 0.001
"""Seconds between two looks at the ledger: an effect is noticed before its result can be stored."""

EXTENSION = '''"""Tools with effects that are counted."""

import asyncio
import os
import random


async def work(tool: str, key: str) -> str:
    place = os.open({ledger!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(place, f"{{tool}} {{key}} {{os.getpid()}}\\n".encode())
    os.fsync(place)
    os.close(place)
    await asyncio.sleep(random.random() * 0.1)
    return f"{{tool}} {{key}} is done"


async def note(key: str) -> str:
    return await work("note", key)


async def look(key: str) -> str:
    return await work("look", key)


async def spend(key: str) -> str:
    return await work("spend", key)


def make(name, **fields):
    parameters = {{"key": {{"type": "string", "description": "What it is about", "required": True}}}}
    fields |= {{"description": "Edition {edition}.", "parameters": parameters}}
    return {{"label": "soak", "name": name, **fields}}


TOOLS = [
    make("note", execute=note),
    make("look", execute=look, kind="read"),
    make("spend", execute=spend, kind="execute"),
    make("pick", browser=True),
]
'''


CLERK = "You are the clerk of the soak."
CLERK_FILE = f"""---
name: clerk
description: Counts what a task is about.
inputs:
  task: {{type: string, description: What to count., required: true}}
query: "${{task}}"
tools: [note]
output:
  name: count
  schema:
    type: object
    properties: {{what: {{type: string}}, letters: {{type: integer}}}}
    required: [what, letters]
    additionalProperties: false
---
{CLERK}
"""
DAY_LIMIT = """
[limits.day]
calls = 1000000
"""


@dataclass(frozen=True)
class Ledger:
    """The effects of all processes, in their order."""

    path: Path

    def count(self) -> "Counter[str]":
        """Return how often each call had its effect."""
        return Counter(line.rsplit(" ", 1)[0] for line in self.path.read_text().splitlines())

    async def wait_for_effect(self, seconds: float) -> int | None:
        """Return the process that has the next effect, the moment it has it; None if there is none."""
        size = self.path.stat().st_size
        try:
            async with asyncio.timeout(seconds):
                async for _ in retrying(repeat(LOOK)):
                    if self.path.stat().st_size > size:
                        break
        except TimeoutError:
            return None
        return int(self.path.read_bytes()[size:].split(b"\n")[0].rsplit(b" ", 1)[1])


def get_ledger(folder: Path) -> Ledger:
    """Return the ledger of a folder."""
    return Ledger(folder / "ledger.txt")


def write_workspace(folder: Path) -> None:
    """Write the tools and the agents, and limit what a day may spend; other settings are the engine's."""
    ledger = get_ledger(folder)
    ledger.path.touch()
    write_tools(folder, 1)
    (folder / "agents").mkdir(exist_ok=True)
    (folder / "agents" / "helper.md").write_text(HELPER_FILE)
    (folder / "agents" / "clerk.md").write_text(CLERK_FILE)
    with (folder / "dovetail.toml").open("a") as settings:
        settings.write(DAY_LIMIT)


def write_tools(folder: Path, edition: int) -> None:
    """Write an edition of the tools, as an editor does that replaces the file."""
    tools = folder / "extensions" / "effects"
    tools.mkdir(parents=True, exist_ok=True)
    text = EXTENSION.format(edition=edition, ledger=str(get_ledger(folder).path))
    (tools / "next").write_text(text)
    (tools / "next").replace(tools / "extension.py")


def read_edition(folder: Path) -> int:
    """Return the edition of the tools that was written last."""
    text = (folder / "extensions" / "effects" / "extension.py").read_text()
    return int(re.findall(r"Edition (\d+)", text)[0])
