"""The fluent agent, its agent extensions, one request and the loop of turns."""
