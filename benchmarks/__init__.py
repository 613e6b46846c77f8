"""Ratios to hand-written code and to peers, on CPU time."""
