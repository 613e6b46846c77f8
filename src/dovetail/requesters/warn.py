"""Warnings about settings that a model cannot follow, given once."""

import logging
from functools import lru_cache

logger = logging.getLogger(__name__)


@lru_cache(maxsize=1024)
def warn_once(text: str) -> None:
    """Log a warning, the first time it is given."""
    logger.warning("%s", text)


def warn_of_tools(model: str) -> None:
    """Say once that the model is too small for tools, and what helps."""
    better = "get a better model with `dovetail models pull good`, or name another one"
    warn_once(f"{model} is too small to choose tools reliably and may answer without them: {better}")
