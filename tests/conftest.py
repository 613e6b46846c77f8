"""Hooks for all tests."""

from collections.abc import Generator
from typing import Any

import pytest

from dovetail.data.clean import clean_texts


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Report a failed test whose text is not valid Unicode; it would crash a pytest-xdist worker."""
    return clean_texts((yield))
