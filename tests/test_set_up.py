"""The set-up steps of the Makefile: quiet when they work, one clear message when they do not."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from patience import PATIENCE

ROOT = Path(__file__).parents[1]


def step(*command: str) -> subprocess.CompletedProcess[str]:
    words = [ROOT / "scripts" / "step", "install it", "pip config list", *command]
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_a_step_that_works_says_nothing() -> None:
    done = step("echo", "downloading")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "words",
    [
        "WARNING: Retrying after connection broken by 'NewConnectionError(...)': /simple/pip/",
        "npm error code ECONNREFUSED",
        "npm error code ENOTFOUND",
    ],
)
def test_an_unreachable_index_is_named(words: str) -> None:
    done = step("sh", "-c", 'echo "$0"; echo "ERROR: ResolutionImpossible" >&2; exit 3', words)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Error: could not install it: cannot connect to the package index.",
        "Check the network, the proxy and `pip config list`, then try again; completed steps are kept.",
    ]


@pytest.mark.parametrize(
    "words", ["OSError: [Errno 28] No space left on device", "npm error code ENOSPC", "Disk quota exceeded"]
)
def test_a_full_disk_is_named(words: str) -> None:
    done = step("sh", "-c", 'echo "$0"; exit 1', words)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: could not install it: no space left on the disk.\nFree")


def test_another_failure_shows_the_end_of_its_output() -> None:
    done = step("sh", "-c", "seq 100; echo the compiler is missing; exit 1")
    assert done.returncode == 1
    assert "the compiler is missing\nError: could not install it" in done.stderr
    assert len(done.stderr.splitlines()) == 21


@pytest.mark.slow
def test_the_checks_say_at_once_that_they_need_node(tmp_path: Path) -> None:
    for name in ("sh", "awk", "grep", "find", "echo", "test"):
        found = next(folder / name for folder in map(Path, ("/bin", "/usr/bin")) if (folder / name).exists())
        (tmp_path / name).symlink_to(found)
    done = subprocess.run(
        [shutil.which("make") or "make", "test"],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert "need Node 20 or newer" in done.stdout
    assert "pyright" not in done.stdout + done.stderr
