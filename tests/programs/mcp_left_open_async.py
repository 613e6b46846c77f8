# The same in async code: the event loop ends with the connection open.
import asyncio
import sys
from pathlib import Path

from dovetail import Agent

server = {"command": sys.executable, "args": [str(Path(__file__).parent / "parts" / "shed_server.py")]}


async def main():
    agent = Agent()
    await agent.async_use_mcp({"mcpServers": {"shed": server}})
    print([tool.name for tool in agent.tools])


asyncio.run(main())

# Output:
# ['add']
