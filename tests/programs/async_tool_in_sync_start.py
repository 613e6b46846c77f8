# An async tool in a sync program, and a sync tool that starts an event loop of its own.
# replies: [
#   {"tool_calls": [{"name": "slow", "arguments": {}}, {"name": "own_loop", "arguments": {}, "call_id": "b"}]},
#   {"when": "from a loop", "text": "Both worked."}
# ]
import asyncio

from dovetail import Agent

agent = Agent().set_settings("tools.strategy", "native")


@agent.tool_func
async def slow() -> str:
    """Take a while."""
    await asyncio.sleep(0.01)
    return "slept"


@agent.tool_func
def own_loop() -> str:
    """Run a loop."""
    return asyncio.run(asyncio.sleep(0, "from a loop"))


print(agent.input("Try both.").start())

# Output:
# Both worked.
