"""Hooks for all tests."""

from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from dovetail.data.clean import clean_texts
from mock_provider import MockProvider, run_mock_provider

# A time limit per example measures the machine, not the code.
settings.register_profile("dovetail", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dovetail")


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
def mock_provider(running_provider: MockProvider) -> MockProvider:
    """A model provider without answers and requests, see `mock_provider.py`."""
    running_provider.reset()
    return running_provider
