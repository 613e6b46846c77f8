"""One module per model API: a request in, deltas out."""
