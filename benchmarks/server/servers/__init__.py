"""The servers that are measured: ours is the real one; each of the others in the fewest lines it needs."""
