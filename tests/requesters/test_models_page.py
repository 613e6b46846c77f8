"""Every program on the page about models runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "models.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_program_runs(number: int) -> None:
    # In a process of its own: a program may set what all agents take.
    done = subprocess.run(
        [sys.executable, "-c", PROGRAMS[number]], capture_output=True, text=True, timeout=25
    )
    assert done.returncode == 0, done.stderr
