"""One streamed request: our CPU time beside bare HTTP clients and other agent packages."""
