"""Measure CPU time side by side and print ratios next to their targets.

    times = measure({"ours": render, "by hand": render_by_hand})
    report("Render a prompt", [Row("small", times["ours"] / times["by hand"], target=6, unit="x by hand")])

Functions run in turns for many rounds, and the best round of each counts, so that other load on the machine
affects all of them alike. A peer package runs in its own virtual environment under `.bench/`, see `run_peer`.
"""

import gc
import json
import os
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / ".bench"


@dataclass(frozen=True, slots=True)
class Row:
    """One measured ratio; a row without a target is only for comparison."""

    work: str
    ratio: float
    target: float | None = None
    unit: str = "x"
    detail: str = ""

    @property
    def is_met(self) -> bool:
        return self.target is None or self.ratio <= self.target


def measure(
    functions: Mapping[str, Callable[[], Any]], *, rounds: int = 15, round_seconds: float = 0.02
) -> dict[str, float]:
    """Return the CPU seconds per call of each function: the best round, each of about `round_seconds`."""
    calls = {name: _find_calls(function, round_seconds) for name, function in functions.items()}
    best = dict.fromkeys(functions, float("inf"))
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, function in functions.items():
                best[name] = min(best[name], time_calls(function, calls[name]))
            gc.collect()
    finally:
        if was_enabled:
            gc.enable()
    return best


def time_calls(function: Callable[[], Any], calls: int) -> float:
    """Return CPU seconds per call."""
    begin = time.process_time()
    for _ in range(calls):
        function()
    return (time.process_time() - begin) / calls


def _find_calls(function: Callable[[], Any], round_seconds: float) -> int:
    calls = 1
    while (seconds := time_calls(function, calls) * calls) < round_seconds / 4:
        calls *= 4
    return max(1, round(calls * round_seconds / seconds))


def find_peer(name: str, requirements: Sequence[str]) -> Path:
    """Return the Python of a peer's virtual environment, which is created on first use."""
    folder = PEERS / name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = folder / "requirements.json"
    if not done.is_file() or json.loads(done.read_text()) != list(requirements):
        venv.EnvBuilder(with_pip=True, clear=True).create(folder)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *requirements], check=True, stdout=sys.stderr
        )
        done.write_text(json.dumps(list(requirements)))
    return python


def run_peer(python: Path | str, module: str, *arguments: str) -> Any:
    """Return the JSON that a peer's module prints last; it may import this module, not Dovetail."""
    done = subprocess.run(
        [python, "-m", module, *arguments],
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=600,
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def report(title: str, rows: Sequence[Row]) -> int:
    """Print the table; return the exit status, 1 if a target is missed."""
    width = max(len(row.work) for row in rows)
    print(f"\n{title}")
    for row in rows:
        target = "" if row.target is None else f"target <= {row.target:g}"
        verdict = "" if row.target is None else ("met" if row.is_met else "MISSED")
        measured = f"{row.work:<{width}}  {row.ratio:8.2f} {row.unit:<12}"
        print(f"  {measured} {target:<14} {verdict:<6} {row.detail}".rstrip())
    return 0 if all(row.is_met for row in rows) else 1
