"""One call of a small async function as a tool: the overhead of the pipeline compared with peers."""
