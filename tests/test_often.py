"""`make test-often` finds tests that depend on their order or on chance, and says how to repeat it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from patience import PATIENCE

SCRIPT = Path(__file__).parents[1] / "scripts" / "often.py"
IN_ORDER = """
seen = []


def test_one():
    seen.append(1)


def test_two():
    assert seen == [1]
"""
# Takes the place of `npx vitest run …`: one of two tests fails, with an odd seed.
VITEST = """#!{python}
import json, sys
options = dict(option.partition("=")[::2] for option in sys.argv[1:])
odd = int(options["--sequence.seed"]) % 2
one = {{"fullName": "a page opens", "status": "passed", "failureMessages": []}}
two = {{"fullName": "a page closes", "status": "passed", "failureMessages": []}}
if odd:
    two |= {{"status": "failed", "failureMessages": ["Error: it is open\\n    at somewhere"]}}
file = {{"name": "/x/page.test.ts", "status": "passed", "message": "", "assertionResults": [one, two]}}
with open(options["--outputFile.json"], "w") as report:
    json.dump({{"testResults": [file]}}, report)
sys.exit(odd)
"""


def run_often(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, "--workers=0", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_a_test_that_depends_on_the_order_is_listed_with_seeds_that_repeat_it(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(IN_ORDER)
    done = run_often(tmp_path, "--runs=6", "--seed=1")
    assert done.returncode == 1, done.stdout + done.stderr
    [row] = [line for line in done.stdout.splitlines() if line.startswith("| test_it.py::test_two |")]
    _, _, failed, runs, seeds, why, _ = (cell.strip() for cell in row.split("|"))
    assert 0 < int(failed) < 6
    assert runs == f"{failed} of 6"
    assert "assert [] == [1]" in why
    bad = seeds.split(", ")
    [good, *_] = [seed for seed in "123456" if seed not in bad]
    assert run_often(tmp_path, "--runs=1", f"--seed={bad[0]}").returncode == 1
    assert run_often(tmp_path, "--runs=1", f"--seed={good}").returncode == 0


def test_a_test_runs_many_times_and_is_counted_under_its_own_name(tmp_path: Path) -> None:
    source = "import pytest\nleft = [3, 2]\n\n\n@pytest.mark.parametrize('name', ['a'])\n"
    source += "def test_it(name):\n    assert not left or left.pop() > 2\n"
    (tmp_path / "test_it.py").write_text(source)
    done = run_often(tmp_path, "--runs=1", "--times=4", "--busy=1")
    assert "3 passed" in done.stdout
    assert "| test_it.py::test_it[a] | 1 | 1 of 1 |" in done.stdout


def test_a_run_that_ends_before_any_test_counts_as_failed(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    done = run_often(tmp_path, "--runs=1", "--no-such-option")
    assert done.returncode == 1
    assert "| (pytest itself) | 1 |" in done.stdout


def test_browser_tests_are_listed_with_their_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "npx"
    program.write_text(VITEST.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    command = [sys.executable, SCRIPT, "--web", "--runs=3", "--seed=1", "page"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "| page.test.ts: a page closes | 2 | 2 of 3 | 1, 3 | Error: it is open |" in done.stdout
