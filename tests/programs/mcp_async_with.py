# An agent in `async with` closes its connections at the end; a second agent keeps using its own.
# replies: [
#   {"tool_calls": [{"name": "add", "arguments": {"a": 3}}]}, {"when": "5", "text": "It is 5."},
#   {"tool_calls": [{"name": "add", "arguments": {"a": 4}}]}, {"when": "6", "text": "It is 6."}
# ]
import asyncio
import sys
from pathlib import Path

from dovetail import Agent

server = {"command": sys.executable, "args": [str(Path(__file__).parent / "parts" / "shed_server.py")]}


async def main():
    other = Agent("other").set_settings("tools.strategy", "native")
    async with Agent().set_settings("tools.strategy", "native") as agent, other:
        await asyncio.gather(agent.async_use_mcp(server), other.async_use_mcp(server))
        print(await agent.input("3 + 2?").async_start())
        await agent.async_close()
        print(await other.input("4 + 2?").async_start())


asyncio.run(main())

# Output:
# It is 5.
# It is 6.
