"""A short soak: a few random faults under people who use everything at once."""

from pathlib import Path

import pytest

from soak.__main__ import soak

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("engine", ["local/SQLite", "local/PostgreSQL"])
async def test_nothing_is_lost_or_done_twice_under_random_faults(tmp_path: Path, engine: str) -> None:
    report = await soak(engine, 12, 3, tmp_path)
    assert report.damage == [], report.write()
    assert report.questions
