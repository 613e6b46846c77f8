"""Hooks for all tests."""

import atexit
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from dovetail.data.clean import clean_texts
from dovetail.requesters.local.weights import cache_folder, find
from mock_provider import MockProvider, run_mock_provider
from patience import be_patient

# A shell that starts the tests in the background makes them, and each program they start, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A time limit per example measures the machine, not the code.
settings.register_profile("dovetail", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dovetail")


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests a data folder of their own, and a cache with the small model alone.

    They are the same on every machine then, and leave nothing in the home of who runs them.

    With the good model, each server without a model of its own would read the beginning of a chat with it.
    The tests in `tests/reality` ask the good model; they are run by themselves.
    """
    be_patient()
    if not os.environ.get("DOVETAIL_DATA"):
        os.environ["DOVETAIL_DATA"] = _make_folder("dovetail-data-")
    weights = find("small")
    asks_the_good_model = all("reality" in argument for argument in config.args)
    if weights is None or asks_the_good_model or os.environ.get("DOVETAIL_CACHE"):
        return
    os.environ["DOVETAIL_CACHE"] = _make_folder("dovetail-cache-")
    cache_folder().mkdir()
    for name in (weights.name, f"{weights.name}.checked"):  # not the lock of a download
        (cache_folder() / name).symlink_to(weights.with_name(name))


def _make_folder(prefix: str) -> str:
    folder = tempfile.mkdtemp(prefix=prefix)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Report a failed test whose text is not valid Unicode; it would crash a pytest-xdist worker."""
    return clean_texts((yield))


@pytest.fixture(scope="session")
def running_provider() -> Generator[MockProvider]:
    """One aimock for all tests of a session."""
    with run_mock_provider() as provider:
        yield provider


@pytest.fixture
def one_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it be noon (UTC): what a test counts for today stays on one day."""
    clock, start = time.time, time.time()
    to_noon = (0.5 - start / 86400 % 1) * 86400
    monkeypatch.setattr(time, "time", lambda: clock() + to_noon)


@pytest.fixture
def mock_provider(running_provider: MockProvider) -> MockProvider:
    """A model provider without answers and requests, see `mock_provider.py`."""
    running_provider.reset()
    return running_provider
