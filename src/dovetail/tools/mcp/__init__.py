"""MCP servers: where they are, the connection to one, and its tools as ours."""
