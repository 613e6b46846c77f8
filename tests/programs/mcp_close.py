# Tools of an MCP server in a sync program that closes its agent.
# replies: [
#   {"json": {"use_tool": true, "tool_command": {"purpose": "sum", "tool_name": "add", "tool_kwargs": {"a": 3}}}},
#   {"when": "5", "text": "It is 5."}
# ]
import sys
from pathlib import Path

from dovetail import Agent

server = {"command": sys.executable, "args": [str(Path(__file__).parent / "parts" / "shed_server.py")]}
agent = Agent().use_mcp({"mcpServers": {"shed": server}})
print([tool.name for tool in agent.tools])
print(agent.input("3 + 2?").start())
agent.close()

# Output:
# ['add']
# It is 5.
