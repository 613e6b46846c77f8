"""Data that all parts share: events, deltas, calls, the context of a run."""
