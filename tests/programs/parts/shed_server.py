"""An MCP server over stdio with one tool."""

from mcp.server import MCPServer

server = MCPServer("shed")


@server.tool()
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


if __name__ == "__main__":
    server.run("stdio")
