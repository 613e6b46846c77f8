"""One streamed request: our CPU time compared with bare HTTP clients and other agent packages."""
