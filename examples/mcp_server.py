"""Use the tools of an MCP server: this file starts one itself; any URL or command works the same way."""

import sys

from mcp.server import MCPServer

from dovetail import Agent

server = MCPServer("sawmill", log_level="WARNING")


@server.tool()
def find_price(wood: str) -> str:
    """Return the price of a board."""
    return {"oak": "48 euros", "pine": "12 euros"}.get(wood.lower(), "not for sale")


def ask() -> None:
    """Start the server as a program, take its tools, and ask something that needs them."""
    with Agent(system="You sell wood.") as agent:
        agent.use_mcp({"command": sys.executable, "args": [__file__, "serve"]})
        print(agent.input("How much is an oak board?").start())


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        server.run("stdio")
    else:
        ask()
