"""Make tools from something other than functions: each file of a folder becomes a tool that reads it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dovetail import Kind, Tool
from dovetail.events.call import ToolCall
from dovetail.tools import RunContext, ToolContext, ToolRegistry, ToolRunner


class FileTools:
    """A source of tools: the registry calls `get_tools` at every discovery."""

    name = "files"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def get_tools(self) -> Sequence[Tool]:
        """Return one tool for each file that exists now."""
        return [self.make_tool(path) for path in sorted(self.folder.glob("*.txt"))]

    def make_tool(self, path: Path) -> Tool:
        """Return a tool that reads one file."""

        async def execute(args: dict[str, Any], context: ToolContext) -> str:
            text = await asyncio.to_thread(path.read_text)
            return "\n".join(text.splitlines()[: args.get("lines", 10)])

        return Tool(
            name=f"read_{path.stem}",
            description=f"Read {path.name}.",
            parameters={"type": "object", "properties": {"lines": {"type": "integer", "minimum": 1}}},
            execute=execute,
            kind=Kind.Read,
            origin=self.name,
        )


async def main(folder: Path) -> None:
    """Discover the tools of a folder and call one, as a model would."""
    registry = ToolRegistry()
    registry.add_source(FileTools(folder))
    tools = await registry.discover_all_tools()
    print([tool.name for tool in tools])
    call = ToolCall(call_id="call", name="read_plan", arguments='{"lines": "2"}')
    outcome = await ToolRunner().run_call(tools, call, RunContext())
    print(outcome.status, repr(outcome.result.llm_content))


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        Path(folder, "plan.txt").write_text("cut\nglue\nwait\n")
        asyncio.run(main(Path(folder)))
