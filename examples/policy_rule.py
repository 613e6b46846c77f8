"""Let a tool write inside one folder, require approval for everything else, and remember the answer."""

import asyncio
from collections.abc import Mapping
from typing import Any

from dovetail import Kind, tool
from dovetail.events.call import ToolCall
from dovetail.events.run_events import AskKind
from dovetail.policy import Policy, PolicyRule
from dovetail.tools import RunContext, ToolRunner, ToolSnapshot


@tool(kind=Kind.Write)
async def write_file(path: str, text: str) -> str:
    """Write a text file."""
    return f"{len(text)} characters written to {path}"


RULES = [
    PolicyRule(
        name="notes are free", action="allow", tool="write_file", arguments={"path": r"notes/\w+\.txt"}
    ),
    PolicyRule(name="no secrets", action="deny", arguments={"text": ".*BEGIN PRIVATE KEY.*"}, priority=100),
]


async def ask(
    kind: AskKind, call_id: str, payload: Mapping[str, Any], seconds: float | None
) -> Mapping[str, Any]:
    """A stand-in for a person: approve the report, and remember the answer."""
    print(f"   asked: {payload['title']} {payload['args']['path']}")
    return {"approved": payload["args"]["path"] == "report.txt", "remember": "always"}


async def main() -> None:
    """Run a few calls, as a model would make them."""
    runner = ToolRunner(Policy(RULES))
    tools, scope = ToolSnapshot.of([write_file]), RunContext(ask=ask, owner="ann")
    for path, text in [
        ("notes/today.txt", "cut, glue"),
        ("notes/../report.txt", "out of the folder"),
        ("report.txt", "all is well"),
        ("report.txt", "all is well"),
        ("notes/key.txt", "-----BEGIN PRIVATE KEY-----"),
    ]:
        call = ToolCall(call_id="call", name="write_file", arguments={"path": path, "text": text})
        outcome = await runner.run_call(tools, call, scope)
        print(f"{path}: {outcome.status}, {outcome.result.llm_content}")


if __name__ == "__main__":
    asyncio.run(main())
