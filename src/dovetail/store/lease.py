"""Leases: how long a process may take itself for alive, and when others take it for stopped.

The event loop of each process shows now and then that it turns. A process that has not done so for `seconds`
has lost its lease: frozen, hung or cut off, others take over what it works on. No two clocks are compared:
each side counts the seconds since a sign by itself, so clocks may differ and jump.
"""

import time
from collections.abc import Callable, Mapping

_SIGNS = 0.1
"""The share of the time until a take-over after which a process shows itself again."""
_SILENCE = 0.8
"""The share of it after which a process counts as stopped; the rest is for those that take over."""
_LONGEST_INTERVAL = 2.0


def read_clocks() -> tuple[float, ...]:
    """Return the clocks that may show that time has passed: a machine that is stopped may stop some."""
    return time.monotonic(), time.time(), time.clock_gettime(_BOOT) if _BOOT is not None else 0.0


_BOOT: int | None = getattr(time, "CLOCK_BOOTTIME", None)


class Lease:
    """The lease of this process; `takeover` is the setting, None if only the dead are taken over."""

    def __init__(self, takeover: float | None, clocks: Callable[[], tuple[float, ...]] = read_clocks) -> None:
        self.seconds = None if takeover is None else takeover * _SILENCE
        """How long it lasts after a sign of life."""
        self.interval = min(takeover or _LONGEST_INTERVAL / _SIGNS, _LONGEST_INTERVAL / _SIGNS) * _SIGNS
        """Seconds between two signs."""
        self._clocks = clocks
        self._life = 0
        self._shown: tuple[float, ...] | None = None

    @property
    def life(self) -> int | None:
        """The number of this life, which changes with each interruption; None if the lease may be lost."""
        return None if self._is_over(self._clocks()) else self._life

    def begin(self) -> tuple[float, ...]:
        """Return the moment before a sign is given, for `renew`."""
        return self._clocks()

    def renew(self, moment: tuple[float, ...]) -> bool:
        """Count from a sign that was given after this moment; return whether a new life begins with it."""
        is_new = self._is_over(moment)
        self._life += is_new
        self._shown = moment
        return is_new

    def end(self) -> None:
        """Note that the lease is lost."""
        self._shown = None

    def _is_over(self, moment: tuple[float, ...]) -> bool:
        if self._shown is None:
            return True
        passed = max(now - then for now, then in zip(moment, self._shown, strict=True))
        return self.seconds is not None and passed >= self.seconds


class Observer:
    """The signs of other processes, as this one sees them: who has shown none for too long."""

    def __init__(self, lease: Lease, clock: Callable[[], float] = time.monotonic) -> None:
        self._lease = lease
        self._clock = clock
        self._looked_at = clock()
        self._signs: dict[str, int] = {}
        self._silent: dict[str, float] = {}

    def look(self, signs: Mapping[str, int]) -> bool:
        """Take the newest sign of each process; return whether one of them has stopped or gone since."""
        now = self._clock()
        passed = min(now - self._looked_at, 2 * self._lease.interval)  # this process may have stood still
        self._looked_at = now
        before = {process_id for process_id in self._signs if not self.has_stopped(process_id)}
        for process_id, sign in signs.items():
            is_new = self._signs.get(process_id) != sign
            self._silent[process_id] = 0.0 if is_new else self._silent[process_id] + passed
        self._signs = dict(signs)
        return any(process_id not in signs or self.has_stopped(process_id) for process_id in before)

    @property
    def has_company(self) -> bool:
        """Whether there are other processes, alive or stopped."""
        return bool(self._signs)

    def has_stopped(self, process_id: str) -> bool:
        """Whether a process has shown nothing for as long as a lease lasts."""
        seconds = self._lease.seconds
        known = process_id in self._signs and seconds is not None
        return known and self._silent[process_id] >= (seconds or 0.0)
