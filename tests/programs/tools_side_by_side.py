# Tools of one turn that only read work at the same time: each waits here until the other has begun.
# replies: [
#   {"tool_calls": [{"name": "ask_ann", "arguments": {}}, {"name": "ask_bob", "arguments": {}, "call_id": "b"}]},
#   "Both said yes."
# ]
import asyncio

from dovetail import Agent, Kind, tool

ann, bob = asyncio.Event(), asyncio.Event()


@tool(kind=Kind.Read)
async def ask_ann() -> str:
    """Ask Ann."""
    ann.set()
    await bob.wait()
    return "yes"


@tool(kind=Kind.Read)
async def ask_bob() -> str:
    """Ask Bob."""
    bob.set()
    await ann.wait()
    return "yes"


async def main() -> None:
    result = await Agent(tools=[ask_ann, ask_bob]).async_run("Ask both.")
    print(result.text, result.turns)


asyncio.run(main())

# Output:
# Both said yes. 2
