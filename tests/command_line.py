"""Run `dovetail` in the test's own process."""

import pytest

from dovetail.cli.main import main


def run(*words: object) -> int:
    """Run the command line with these arguments; return its exit code."""
    with pytest.raises(SystemExit) as caught:
        main([str(word) for word in words])
    return int(caught.value.code or 0)
