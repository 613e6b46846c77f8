"""Run the tests many times in random order and list what failed, how often and with which seeds.

    python scripts/often.py --runs 10 --busy 4 tests/runs
    python scripts/often.py --web --runs 3 long-chat

Run number N has the seed SEED + N - 1, and that seed alone repeats its order. `--busy` starts processes that
only use the processor. `--times` runs each Python test many times within a run. `--web` runs the tests in a
browser instead. Everything else goes to pytest, or to vitest.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): sum(range(100_000))"


@dataclass
class Failure:
    """A test that failed in some runs."""

    why: str
    count: int = 0
    seeds: dict[int, None] = field(default_factory=dict[int, None])


@contextmanager
def keep_busy(count: int) -> Iterator[None]:
    """Let processes use the processor; they end with this one."""
    command = [sys.executable, "-c", _BUSY, str(os.getpid())]
    processes = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def run_once(seed: int, options: argparse.Namespace, rest: list[str]) -> list[dict[str, str]]:
    """Run pytest in the order of a seed; return what failed."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "failures.jsonl"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "random_order", f"--order-seed={seed}"]
        command += [f"--times={options.times}", f"--failures={place}"]
        if options.workers:
            # What is run many times is spread: whole files would leave most workers idle.
            command += ["-n", str(options.workers), "--dist", "load" if options.times > 1 else "loadfile"]
        paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        code = subprocess.run([*command, *rest], env=environment, check=False).returncode
        found = [json.loads(line) for line in place.read_text().splitlines()] if place.exists() else []
    if code and not found:
        found = [{"test": "(pytest itself)", "why": f"exit code {code}, see its output"}]
    return found


def run_web_once(seed: int, rest: list[str]) -> list[dict[str, str]]:
    """Run the browser tests in the order of a seed, files and the tests in each; return what failed."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "report.json"
        command = ["npx", "vitest", "run", "--config", "vitest.browser.config.ts", f"--sequence.seed={seed}"]
        command += ["--sequence.shuffle.files", "--sequence.shuffle.tests"]
        command += ["--reporter=default", "--reporter=json", f"--outputFile.json={place}"]
        code = subprocess.run([*command, *rest], cwd=HERE.parent / "web", check=False).returncode
        report: Any = json.loads(place.read_text()) if place.exists() else {"testResults": []}
    found = [failure for file in report["testResults"] for failure in read_file(file)]
    if code and not found:
        found = [{"test": "(vitest itself)", "why": f"exit code {code}, see its output"}]
    return found


def read_file(file: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Yield what failed in a file of browser tests; the file itself, if it failed before its tests."""
    name = Path(file["name"]).name
    failed = [each for each in file["assertionResults"] if each["status"] == "failed"]
    for each in failed:
        why = next(iter("\n".join(each["failureMessages"]).splitlines()), "")
        yield {"test": f"{name}: {each['fullName']}", "why": why[:200]}
    if file["status"] == "failed" and not failed:
        yield {"test": name, "why": next(iter(file["message"].splitlines()), "")[:200]}


def write_table(failures: dict[str, Failure], runs: int) -> str:
    """Return what failed as a Markdown table, the most frequent first."""
    lines = ["| test | failed | runs | seeds | why, the first time |", "|---|---|---|---|---|"]
    for test, failure in sorted(failures.items(), key=lambda item: -item[1].count):
        seeds = ", ".join(map(str, failure.seeds))
        why = failure.why.replace("|", "\\|")
        lines.append(f"| {test} | {failure.count} | {len(failure.seeds)} of {runs} | {seeds} | {why} |")
    return "\n".join(lines)


def main() -> int:
    """Run as the command line says; the exit code is 1 if any test failed."""
    parser = argparse.ArgumentParser(
        description="Run the tests many times in random order.", allow_abbrev=False
    )
    parser.add_argument("--runs", type=int, default=10, help="how many runs (10)")
    parser.add_argument("--busy", type=int, default=0, help="processes that only use the processor (0)")
    parser.add_argument("--times", type=int, default=1, help="how many times each test within a run (1)")
    parser.add_argument("--seed", type=int, default=None, help="the seed of the first run (random)")
    parser.add_argument("--workers", type=int, default=3, help="processes of pytest-xdist (3), 0 for none")
    parser.add_argument("--web", action="store_true", help="run the browser tests, not those in Python")
    options, rest = parser.parse_known_args()
    if options.web and options.times > 1:
        parser.error("--times is for the tests in Python")
    first = int(time.time()) % 1_000_000 if options.seed is None else options.seed
    failures: dict[str, Failure] = {}
    with keep_busy(options.busy):
        for number in range(1, options.runs + 1):
            seed = first + number - 1
            print(
                f"== run {number} of {options.runs}, seed {seed}, {options.busy} busy processes", flush=True
            )
            began = time.monotonic()
            found = run_web_once(seed, rest) if options.web else run_once(seed, options, rest)
            for one in found:
                failure = failures.setdefault(one["test"], Failure(why=one["why"]))
                failure.count += 1
                failure.seeds[seed] = None
            print(f"== run {number}: {len(found)} failed in {time.monotonic() - began:.0f} s", flush=True)
    if not failures:
        print(f"{options.runs} runs without a failed test; the first seed was {first}.")
        return 0
    print(f"\nThe same order again: --runs 1 --seed SEED\n\n{write_table(failures, options.runs)}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
