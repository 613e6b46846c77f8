# `run`, turn after turn, for several tasks on one agent with one tool.
# replies: [
#   {"when": "chisels", "tool_calls": [{"name": "stock", "arguments": {"item": "chisel"}}]}, {"when": "chisel: 3", "text": "Three."},
#   {"when": "saws", "tool_calls": [{"name": "stock", "arguments": {"item": "saw"}}]}, {"when": "saw: 0", "text": "None."}
# ]
import asyncio

from dovetail import Agent

agent = Agent()


@agent.tool_func
def stock(item: str) -> str:
    """Say how many of an item there are."""
    return f"{item}: {3 if item == 'chisel' else 0}"


async def main():
    outcomes = await asyncio.gather(agent.async_run("How many chisels?"), agent.async_run("How many saws?"))
    print([(outcome.text, outcome.turns) for outcome in outcomes])


asyncio.run(main())

# Output:
# [('Three.', 2), ('None.', 2)]
