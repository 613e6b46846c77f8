"""Whether writing works: what the last writes showed, and when it is time to try."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from dovetail.errors import StoreError
from dovetail.store.failures import is_damage

PROOF_SECONDS = 5.0
"""How long a write that worked proves that others will."""

FAILURE_SECONDS = 30.0
"""How long a write that failed on a damaged file speaks against all of it, unless another one works."""


class Health:
    """Notes writes that work and writes that the database could not do."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._proved: float | None = None
        self._failure: tuple[float, StoreError] | None = None

    @contextmanager
    def noted(self) -> Generator[None]:
        """Note how a write goes."""
        try:
            yield
        except StoreError as error:
            self._failure, self._proved = (self._clock(), error), None
            raise
        self._failure, self._proved = None, self._clock()

    def check(self) -> None:
        """Raise the error of a write that failed on damage a moment ago; other causes may be gone by now."""
        if self._failure is None or self._clock() - self._failure[0] >= FAILURE_SECONDS:
            return
        error = self._failure[1]
        if is_damage(error.message):
            raise StoreError(error.message, hint=error.hint)

    def needs_proof(self) -> bool:
        """Whether no write has worked lately."""
        return self._proved is None or self._clock() - self._proved >= PROOF_SECONDS
