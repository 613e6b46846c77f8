"""Errors of a database as ours: violated constraints, values it cannot hold, and failures; and its health.

The three must never be mixed up. A write is retried while the database is not available; one with a value
that the database rejects would be retried without end. What the database says is for the log: clients are not
given its tables and paths.
"""

import logging
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError, StatementError

from dovetail.errors import ConflictError, InvalidDataError, StoreError

logger = logging.getLogger(__name__)
_LONGEST = 300
_DATA_STATES = ("22", "54")
"""Classes of PostgreSQL's error codes for values that do not fit their type or encoding, or are too large."""
_GAVE_WAY = ("40001", "40P01")
"""PostgreSQL's error codes for a transaction that was rolled back in favour of another one."""
_DAMAGED = ("malformed", "not a database", "corrupt")
_DATA_ERRORS = (UnicodeError, OverflowError, RecursionError)
"""Exceptions that drivers raise before a value reaches the database."""


class Closed(StoreError):
    """The database is not open in this process; a retry does not help."""


class GaveWay(StoreError):
    """Two transactions waited for each other and this one was rolled back; a retry works."""


@contextmanager
def translated_errors() -> Generator[None]:
    """Raise `ConflictError`, `InvalidDataError` or `StoreError` for errors of the database and its driver."""
    try:
        yield
    except IntegrityError as error:
        logger.debug("the database rejected a write: %s", error.orig)
        raise ConflictError(
            "It conflicts with what is stored.", hint="An id is taken, or what it belongs to was deleted."
        ) from error
    except SQLAlchemyError as error:
        raise _translate(error) from error
    except _DATA_ERRORS as error:
        raise _refuse_data(error) from error
    except OSError as error:
        raise StoreError(f"The database failed: {error}") from error
    except Exception as error:
        if not type(error).__module__.startswith("asyncpg."):
            raise
        # What keeps a connection from being opened comes as the driver's own error.
        raise StoreError(f"The database failed: {error}") from error


def _translate(error: SQLAlchemyError) -> InvalidDataError | StoreError:
    original: Any = error.orig if isinstance(error, StatementError) else None
    if original is None:
        return StoreError(f"The database failed: {error}")
    # Not the database's error: a value could not be made ready for it.
    is_value = not isinstance(error, DBAPIError) or isinstance(error, DataError)
    if is_value or _find_state(original).startswith(_DATA_STATES):
        return _refuse_data(original)
    if _find_state(original) in _GAVE_WAY:
        return GaveWay(f"The database failed: {original}")
    return StoreError(f"The database failed: {original}", hint=_find_hint(str(original)))


def is_damage(text: str) -> bool:
    """Whether the text of an error reports a damaged file."""
    return any(sign in text for sign in _DAMAGED)


def _find_hint(text: str) -> str | None:
    if is_damage(text):
        return "The file is damaged: stop the server and restore a backup with `dovetail store restore`."
    return "Free some disk space, then retry." if "full" in text else None


def _find_state(original: Any) -> str:
    """Return PostgreSQL's code of an error; empty for other databases."""
    return str(getattr(original, "sqlstate", None) or getattr(original.__cause__, "sqlstate", None) or "")


def _refuse_data(error: BaseException | None) -> InvalidDataError:
    logger.info("the database cannot hold a value: %s", str(error)[:_LONGEST])
    return InvalidDataError(
        "The database cannot hold this: a value is not valid text, too large or nested too deeply."
    )


PROOF_SECONDS = 5.0
"""Seconds for which a successful write proves that the database works."""

FAILURE_SECONDS = 30.0
"""Seconds for which a write that failed on a damaged file counts, unless another one succeeds."""


class Health:
    """The record of writes that succeeded or failed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._proved: float | None = None
        self._failure: tuple[float, StoreError] | None = None

    @contextmanager
    def noted(self) -> Generator[None]:
        """Record how a write ends."""
        try:
            yield
        except StoreError as error:
            self._failure, self._proved = (self._clock(), error), None
            raise
        self._failure, self._proved = None, self._clock()

    def check(self) -> None:
        """Raise the error of a recent write that failed on a damaged file; other causes may be gone."""
        if self._failure is None or self._clock() - self._failure[0] >= FAILURE_SECONDS:
            return
        error = self._failure[1]
        if is_damage(error.message):
            raise StoreError(error.message, hint=error.hint)

    def needs_proof(self) -> bool:
        """Whether no write has succeeded recently."""
        return self._proved is None or self._clock() - self._proved >= PROOF_SECONDS
