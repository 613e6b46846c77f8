"""Warnings about settings that a model cannot follow, given once."""

import logging
from functools import lru_cache

logger = logging.getLogger(__name__)


@lru_cache(maxsize=1024)
def warn_once(text: str) -> None:
    """Log a warning, the first time it is given."""
    logger.warning("%s", text)
