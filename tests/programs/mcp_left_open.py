# A program that forgets to close the connection to an MCP server ends in silence.
import sys
from pathlib import Path

from dovetail import Agent

server = {"command": sys.executable, "args": [str(Path(__file__).parent / "parts" / "shed_server.py")]}
agent = Agent().use_mcp({"mcpServers": {"shed": server}})
print([tool.name for tool in agent.tools])

# Output:
# ['add']
