"""Check whether `codebase_investigator` finds a planted fact: `python -m evals.investigator [model]`."""

import asyncio
import sys
import tempfile
from pathlib import Path

from dovetail.agents.run import AgentExecutor
from dovetail.app import Dovetail
from dovetail.events.model_events import ToolInputEnd
from dovetail.events.run_events import Event

FILES = {
    "README.md": "# Lathe\n\nA tool that turns drawings into cutting plans.\n",
    "lathe/plan.py": "from lathe.limits import MOST_CUTS\n\nplan = lambda sheet: sheet.cuts[:MOST_CUTS]\n",
    "lathe/limits.py": "# More than this breaks the blade of the small machine.\nMOST_CUTS = 37\n",
    "lathe/draw.py": "def draw(shape):\n    return shape.outline()\n",
}
OBJECTIVE = "What is the value of MOST_CUTS, and in which file is it defined?"


def show(event: Event) -> None:
    """Print each call that the agent makes."""
    if isinstance(event, ToolInputEnd):
        print(f"  {event.name} {event.args}", flush=True)


async def main(model: str) -> bool:
    """Write the files, run the agent, and look for the fact in its report."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        async with Dovetail({"model": {"name": model}}, workspace=folder) as app:
            definition = app.agents.get_definition("codebase_investigator")
            executor = await AgentExecutor.create(definition, app, show)
            output = await executor.run({"objective": OBJECTIVE})
    print(f"{output.reason} after {output.turns} turns, {output.duration:.0f} s: {output.result}")
    return output.reason == "goal" and "37" in output.result and "limits" in output.result


if __name__ == "__main__":
    found = asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "local:good"))
    print("1 passed, 0 failed" if found else "0 passed, 1 failed")
    sys.exit(0 if found else 1)
