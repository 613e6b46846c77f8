"""Many background runs in a queue, drained by several workers."""
