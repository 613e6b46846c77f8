"""The pipeline of a tool call: prepare, approve, execute, limit the result, record."""
