"""One call of a small async function as a tool: the pipeline's own cost beside that of peers."""
