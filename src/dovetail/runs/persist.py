"""Tries again while the database cannot be reached."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from dovetail.errors import StoreError

T = TypeVar("T")
logger = logging.getLogger(__name__)
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0


async def persist(action: Callable[[], Awaitable[T]]) -> T:
    """Do what must be stored; while the database is away, wait and do it again."""
    pause = _FIRST_PAUSE
    while True:
        try:
            return await action()
        except StoreError as error:
            logger.warning("the database is away, trying again: %s", error.message)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
