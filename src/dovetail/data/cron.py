"""Cron lines with a time zone: `0 9 * * 1-5 Europe/Berlin`; without a zone they mean UTC.

Promises about days on which clocks change: a fixed time (`30 2 * * *`) that is skipped comes at the first
minute after the gap, and one that is repeated comes once, the first time. Lines whose minute or hour begins
with `*` count real time: they skip the missing hour and include both repeated ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from dovetail.data.text import did_you_mean, shorten
from dovetail.errors import ConfigError
from dovetail.lazy import install_command, install_packages, lazy

cronsim = lazy("cronsim", extra="server")
zoneinfo = lazy("zoneinfo")

LONGEST = 200
"""Characters of a line."""
_FIELDS = ("minute", "hour", "day of month", "month", "day of week")
_FORM = (
    "Write five fields (minute, hour, day of month, month, day of week) and maybe a time zone, "
    "such as `0 9 * * 1-5 Europe/Berlin`."
)
_LONGEST_CHANGE = 3 * 3600.0
"""Seconds; no clock is moved by more when summer time begins or ends."""


@dataclass(frozen=True, slots=True)
class Cron:
    """The times that a cron line names, in one time zone."""

    fields: str
    zone: str = "UTC"

    def __str__(self) -> str:
        return f"{self.fields} {self.zone}"

    def next_after(self, moment: float) -> float | None:
        """Return the first time after a moment, in seconds since 1970; None if it never comes."""
        return next((each for each in self._iterate(moment) if each > moment), None)

    def list_between(self, first: float, last: float, most: int) -> list[float]:
        """Return the times from `first` to `last`, both included; the newest if they are more than `most`."""
        found: list[float] = []
        for each in self._iterate(last + _LONGEST_CHANGE, is_reverse=True):
            if each < first or len(found) == most:
                break
            if each <= last:
                found.append(each)
        return found[::-1]

    def _iterate(self, moment: float, *, is_reverse: bool = False) -> Iterator[float]:
        start = datetime.fromtimestamp(moment, find_zone(self.zone))
        for each in cronsim.CronSim(self.fields, start, reverse=is_reverse):
            yield each.timestamp()


def parse_cron(text: Any) -> Cron:
    """Return the cron line of a text.

    Raises:
        ConfigError: a field or the time zone is wrong, or the line names no time at all.
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ConfigError(f"A schedule must be a line of text, got {shorten(text)}.", hint=_FORM)
    words = text.split()
    if len(words) not in (5, 6):
        raise ConfigError(f"A schedule needs five fields, got {len(words)} in {text!r}.", hint=_FORM)
    try:
        _check_fields(words[:5], text)
    except ImportError as error:
        raise ConfigError(
            "Schedules need the package cronsim.", hint=f"Install it: {install_command('server')}"
        ) from error
    cron = Cron(" ".join(words[:5]), words[5] if len(words) == 6 else "UTC")
    find_zone(cron.zone)
    if cron.next_after(0.0) is None:
        raise ConfigError(f"Schedule {text!r} never comes: no date fits all of its fields.")
    return cron


def _check_fields(words: list[str], text: str) -> None:
    for place, (name, word) in enumerate(zip(_FIELDS, words, strict=True)):
        alone = ["*"] * 5
        alone[place] = word
        if not _is_valid(alone):
            raise ConfigError(f"Invalid {name} {word!r} in schedule {text!r}.", hint=_FORM)
    if not _is_valid(words):
        raise ConfigError(f"Schedule {text!r} never comes: no month of it has that day.")


def _is_valid(words: list[str]) -> bool:
    try:
        cronsim.CronSim(" ".join(words), datetime(2000, 1, 1, tzinfo=UTC))
    except cronsim.CronSimError:
        return False
    return True


def find_zone(name: str) -> tzinfo:
    """Return the time zone with this name; raise `ConfigError` if it is unknown."""
    if name == "UTC":
        return UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise _explain_zone(name) from error


def _explain_zone(name: str) -> ConfigError:
    known = {each.casefold(): each for each in zoneinfo.available_timezones()}
    if not known:
        return ConfigError(
            f"Time zone {name!r} not found: this machine has no time zone data.",
            hint=f"Install it: {install_packages('tzdata')}",
        )
    cities = {each.rpartition("/")[2]: full for each, full in known.items()}
    exact = known.get(name.casefold()) or cities.get(name.casefold().replace(" ", "_"))
    near = f"Did you mean {exact!r}?" if exact else did_you_mean(name, known.values(), cutoff=0.85)
    return ConfigError(
        f"Unknown time zone {name!r}.{' ' if near else ''}{near}",
        hint="Use a name such as Europe/Berlin, America/New_York or UTC.",
    )
