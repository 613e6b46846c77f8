"""Extension folders for tests: written as a user would, called through the real pipeline."""

import asyncio
import os
import weakref
from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent
from typing import Any

from dovetail.events.call import ToolCall
from dovetail.events.run_context import RunContext
from dovetail.tools.pipeline.runner import ToolRunner
from dovetail.tools.snapshot import ToolSnapshot
from dovetail.tools.tool import CallOutcome, Tool

ONE_TOOL = """
def execute():
    return {answer!r}

TOOL = {{
    "label": "test",
    "name": {name!r},
    "description": "Gives an answer",
    "parameters": {{}},
    "execute": execute,
}}
"""


LIMIT = 60.0
"""Seconds that a folder may take; with `end_late` no test waits for them."""


class Folders:
    """A root with extension folders in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, source: str, **modules: str) -> Path:
        """Write `<root>/<name>/extension.py` and further modules next to it."""
        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        for stem, text in {"extension": source, **modules}.items():
            (folder / f"{stem}.py").write_text(dedent(text))
        return folder

    def write_tool(self, folder: str, name: str, answer: str = "yes") -> Path:
        """Write a folder with one tool that always returns the same answer."""
        return self.write(folder, ONE_TOOL.format(name=name, answer=answer))


class SlowFolder:
    """A folder whose import, or `setup()`, waits at a gate: a named pipe."""

    def __init__(self, folders: Folders, gate: Path, *, in_setup: bool = False) -> None:
        self.folders, self.gate = folders, gate
        os.mkfifo(gate)
        wait = f"with open({str(gate)!r}, 'rb', buffering=0) as gate: gate.read(1)\n"
        self._wait = f"def setup(context):\n    {wait}" if in_setup else wait

    def edit(self, source: str) -> None:
        """Write the slow version."""
        self.folders.write("slow", self._wait + source)

    async def begun(self) -> None:
        """Wait until the import has come to the gate, which it passes with `let_through`."""
        self._end = await asyncio.to_thread(os.open, self.gate, os.O_WRONLY)
        weakref.finalize(self, os.close, self._end)

    def let_through(self, imports: int = 1) -> None:
        """Open the gate for a number of imports, also those that come to it later."""
        os.write(self._end, b"x" * imports)


async def call_tool(tools: Iterable[Tool], name: str, /, **arguments: Any) -> CallOutcome:
    """Call a tool through the pipeline, as a model would."""
    call = ToolCall(call_id="call-1", name=name, arguments=arguments)
    return (await ToolRunner().run_batch(ToolSnapshot.of(tools), [call], RunContext(mode="yolo")))[0]


async def ask(tools: Iterable[Tool], name: str, /, **arguments: Any) -> Any:
    """Call a tool and return the text that the model reads."""
    return (await call_tool(tools, name, **arguments)).result.llm_content
