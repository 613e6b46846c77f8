"""The types hold in a user's project: both type checkers accept `tests/user_project` in their strict modes.

Its `type: ignore` comments mark mistakes. A checker that does not find one of them rejects the comment.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = ROOT / "tests" / "user_project"
# Errors in our own modules are not the user's, as if the package were installed.
MYPY = [sys.executable, "-m", "mypy", "--follow-imports=silent", f"--cache-dir={ROOT / '.mypy_cache'}", "."]
PYRIGHT = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "."]


@pytest.mark.parametrize("command", [MYPY, PYRIGHT], ids=["mypy", "pyright"])
def test_programs_of_a_user_pass_a_strict_type_checker(command: list[str]) -> None:
    paths = {"PYTHONPATH": str(ROOT / "src"), "MYPYPATH": str(ROOT / "src")}
    checked = subprocess.run(
        command, cwd=PROJECT, env={**os.environ, **paths}, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_package_says_that_it_is_typed() -> None:
    assert (ROOT / "src" / "dovetail" / "py.typed").exists()
