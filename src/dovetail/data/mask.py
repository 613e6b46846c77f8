"""What stands in the place of a secret, in every text and log."""

MASK = "***"
"""The same everywhere, so that a reader knows it and a search finds it."""
