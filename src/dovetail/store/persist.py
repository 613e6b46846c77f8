"""What must be stored, although the database may be away for a while."""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from dovetail.concurrency import backoff, retrying
from dovetail.errors import StoreError
from dovetail.store.errors import Closed

T = TypeVar("T")
logger = logging.getLogger(__name__)
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0


async def persist(action: Callable[[], Awaitable[T]]) -> T:
    """Store something that must be stored: retry while the database is not available.

    Raises:
        StoreError: this process has closed the database.
    """
    async for _ in retrying(backoff(_FIRST_PAUSE, _LONGEST_PAUSE)):
        try:
            return await action()
        except Closed:
            raise
        except StoreError as error:
            logger.warning("Database not available, retrying: %s", error.message)
    raise AssertionError("delays that double never end")
