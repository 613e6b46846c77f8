"""A pytest plugin: random order that a seed repeats, tests that run many times, and a file of what failed.

    PYTHONPATH=scripts pytest -p random_order --order-seed 7 --times 20 --failures failed.jsonl tests/runs

Files are shuffled, and the tests in each file; a file stays in one piece, as `--dist loadfile` needs it.
"""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

_TIME = re.compile(r"time\d+of\d+-|-?time\d+of\d+|\[time\d+of\d+\]")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the three options."""
    group = parser.getgroup("random order")
    group.addoption("--order-seed", type=int, help="run the tests in the random order of this seed")
    group.addoption("--times", type=int, default=1, help="run each test function that many times")
    group.addoption("--failures", type=Path, help="append what failed to this file, a JSON object per line")


def pytest_configure(config: pytest.Config) -> None:
    """Note failures in the process that gets the reports of all workers."""
    place: Path | None = config.getoption("--failures")
    if place is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Failures(place))


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which order this is."""
    seed = config.getoption("--order-seed")
    return None if seed is None else f"random order: --order-seed {seed}"


@pytest.fixture
def time_of_test(request: pytest.FixtureRequest) -> int:
    """Return which of its `--times` a test runs."""
    return request.param


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make `--times` tests out of each function."""
    times: int = metafunc.config.getoption("--times")
    if times > 1:
        metafunc.fixturenames.append("time_of_test")
        names = [f"time{number}of{times}" for number in range(1, times + 1)]
        metafunc.parametrize("time_of_test", range(times), indirect=True, ids=names)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests into the order of the seed."""
    seed: int | None = config.getoption("--order-seed")
    if seed is None:
        return
    chance = random.Random(seed)
    files = sorted({str(item.path) for item in items})
    place = dict(zip(files, chance.sample(range(len(files)), len(files)), strict=True))
    chance.shuffle(items)
    items.sort(key=lambda item: place[str(item.path)])


class _Failures:
    def __init__(self, place: Path) -> None:
        self._place = place

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._note(name_test(report.nodeid), f"{report.when}: {_first_line(report)}")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._note(report.nodeid, f"collect: {_first_line(report)}")

    def _note(self, test: str, why: str) -> None:
        with self._place.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"test": test, "why": why}) + "\n")


def name_test(node_id: str) -> str:
    """Return the name of a test without its number among `--times`."""
    return _TIME.sub("", node_id).replace("[]", "")


def _first_line(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(report.longrepr) if crash is None else crash.message
    return next(iter(text.splitlines()), "")[:200]
