"""Cron lines with a time zone: what they mean, also on days on which clocks change, and what is refused."""

from datetime import UTC, datetime, timedelta

import pytest

from dovetail.data.cron import LONGEST, Cron, parse_cron
from dovetail.errors import ConfigError


def at(text: str) -> float:
    """The seconds of a moment in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def follow(cron: Cron, after: str, count: int) -> list[str]:
    """The next times, as UTC."""
    moment, found = at(after), list[str]()
    for _ in range(count):
        moment = cron.next_after(moment) or 0.0
        found.append(datetime.fromtimestamp(moment, UTC).strftime("%m-%d %H:%M"))
    return found


def test_a_line_without_a_zone_means_utc() -> None:
    cron = parse_cron("0 9 * * 1-5")
    assert str(cron) == "0 9 * * 1-5 UTC"
    assert follow(cron, "2026-11-13 08:59:59", 2) == ["11-13 09:00", "11-16 09:00"]


def test_a_moment_of_the_line_itself_is_not_after_it() -> None:
    assert follow(parse_cron("* * * * *"), "2026-11-13 09:00:00", 1) == ["11-13 09:01"]


def test_the_zone_moves_the_hour_with_summer_time() -> None:
    cron = parse_cron("0 9 * * * Europe/Berlin")
    assert follow(cron, "2026-03-27 12:00:00", 2) == ["03-28 08:00", "03-29 07:00"]


def test_a_time_in_the_skipped_hour_comes_at_its_end_once() -> None:
    cron = parse_cron("30 2 * * * Europe/Berlin")  # 02:00 becomes 03:00 on 29 March
    assert follow(cron, "2026-03-28 00:00:00", 3) == ["03-28 01:30", "03-29 01:00", "03-30 00:30"]


def test_two_times_in_the_skipped_hour_come_once() -> None:
    cron = parse_cron("0,30 2 * * * Europe/Berlin")
    assert follow(cron, "2026-03-29 00:00:00", 2) == ["03-29 01:00", "03-30 00:00"]


def test_a_time_in_the_repeated_hour_comes_once_the_first_time() -> None:
    cron = parse_cron("30 2 * * * Europe/Berlin")  # 03:00 becomes 02:00 on 25 October
    assert follow(cron, "2026-10-24 12:00:00", 2) == ["10-25 00:30", "10-26 01:30"]
    assert follow(cron, "2026-10-25 01:10:00", 1) == ["10-26 01:30"]  # asked for in the second of the hours


def test_a_line_with_a_star_counts_real_hours() -> None:
    cron = parse_cron("30 * * * * Europe/Berlin")
    assert follow(cron, "2026-03-29 00:00:00", 3) == ["03-29 00:30", "03-29 01:30", "03-29 02:30"]
    assert follow(cron, "2026-10-25 00:00:00", 3) == ["10-25 00:30", "10-25 01:30", "10-25 02:30"]


@pytest.mark.parametrize(
    "fields", ["30 2 * * *", "*/20 * * * *", "0,30 1-3 * * *", "15 2 * * 0", "0 0 1 * *"]
)
@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe", "America/New_York", "UTC"])
@pytest.mark.parametrize(
    "day", ["2026-03-08", "2026-03-29", "2026-04-05", "2026-10-04", "2026-10-25", "2026-11-01"]
)
def test_the_times_between_two_moments_are_those_that_follow_one_another(
    fields: str, zone: str, day: str
) -> None:
    cron = parse_cron(f"{fields} {zone}")
    start = at(day) - timedelta(days=1).total_seconds()
    for end in (at(day) + 600.0 * step for step in range(0, 144, 5)):
        followed, moment = list[float](), start
        while (moment := cron.next_after(moment) or end + 1) <= end:
            followed.append(moment)
        assert cron.list_between(start + 1, end, 1000) == followed


def test_the_newest_times_are_kept_if_there_are_many() -> None:
    first, last = at("2024-01-01 00:00:00"), at("2026-11-16 12:00:30")
    found = parse_cron("* * * * *").list_between(first, last, 3)
    assert found == [last - 150, last - 90, last - 30]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("61 * * * *", "Invalid minute '61'"),
        ("0 24 * * *", "Invalid hour '24'"),
        ("0 9 0 * *", "Invalid day of month '0'"),
        ("0 9 * JANUARY *", "Invalid month 'JANUARY'"),
        ("0 9 * * 1-9", "Invalid day of week '1-9'"),
        ("*/0 * * * *", "Invalid minute '*/0'"),
        ("0 9 * *", "needs five fields, got 4"),
        ("@daily", "needs five fields, got 1"),
        ("", "needs five fields, got 0"),
        ("0 9 30 2 *", "no month of it has that day"),
        ("0 9 * * 1 Europe/Berln", "Did you mean 'Europe/Berlin'"),
        ("0 9 * * 1 europe/berlin", "Did you mean 'Europe/Berlin'"),
        ("0 9 * * 1 Berlin", "Did you mean 'Europe/Berlin'"),
        ("0 9 * * 1 Europe", "Unknown time zone 'Europe'"),
        ("0 9 * * 1 ../../etc/passwd", "Unknown time zone"),
        ("0 0 9 * * 1-5", "Unknown time zone '1-5'"),
        ("x" * (LONGEST + 1), "must be a line of text"),
        (9, "must be a line of text"),
        (None, "must be a line of text"),
    ],
)
def test_a_wrong_line_is_refused_with_the_wrong_field(text: object, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_cron(text)
    assert problem in caught.value.message


def test_a_day_that_never_comes_is_refused() -> None:
    with pytest.raises(ConfigError, match="never comes"):
        parse_cron("0 0 31 2 *")
