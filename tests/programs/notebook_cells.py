# Cells of a notebook: code with a top-level `await` runs in tasks of its own, other code in the kernel's task.
# replies: [{"when": "one", "text": "1"}, {"when": "two", "text": "2"}, {"when": "three", "text": "3"}]
import ast
import asyncio
import inspect
import sys

CELLS = [
    "from dovetail import Agent",
    "agent = Agent()",
    "agent.input('one')",
    "print(await agent.async_start())",
    "await asyncio.sleep(0); agent.input('two')",
    "print(agent.start())",
    "agent.input('three')",
    "print(await agent.instruct('Be brief.').async_start())",
]


async def run_cells():
    sys.ps1 = "In : "  # as interactive shells set it
    names = {"asyncio": asyncio}
    for cell in CELLS:
        outcome = eval(compile(cell, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
        if inspect.iscoroutine(outcome):
            await asyncio.ensure_future(outcome)


asyncio.run(run_cells())

# Output:
# 1
# 2
# 3
