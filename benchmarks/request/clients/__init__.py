"""One script per client; each runs in a process of its own."""
