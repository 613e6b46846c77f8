"""MCP servers: the connection to one, and its tools as ours."""
