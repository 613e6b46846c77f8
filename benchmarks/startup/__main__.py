"""Print how long imports take, compared with `import httpx`: `python -m benchmarks.startup`.

The programs run in turns, each in a fresh interpreter; CPU time counts, minus that of an empty program. The
best round of each is used, and the loaded modules are counted.
"""

import os
import subprocess
import sys

from benchmarks.harness import ROOT, Row, report

ROUNDS = 15
PROGRAMS = {
    "nothing": "pass",
    "import httpx": "import httpx",
    "import dovetail": "import dovetail",
    "Agent()": "from dovetail import Agent; Agent()",
    "dovetail --version": "from dovetail.cli.main import main; main(['--version'])",
}
TARGETS = {"import dovetail": 0.3, "Agent()": 2.0, "dovetail --version": None}
COUNT = "\nimport sys; print(len(sys.modules))"


def main() -> int:
    """Measure all programs; return the exit status."""
    best = dict.fromkeys(PROGRAMS, float("inf"))
    for _ in range(ROUNDS):
        for name, program in PROGRAMS.items():
            best[name] = min(best[name], time_program(program))
    floor = best["import httpx"] - best["nothing"]
    rows = [
        Row(name, (best[name] - best["nothing"]) / floor, target, "x httpx", describe(name, best))
        for name, target in TARGETS.items()
    ]
    return report(f"Start ('import httpx' takes {floor * 1000:.0f} ms)", rows)


def time_program(program: str) -> float:
    """Return the CPU seconds of a fresh interpreter that runs the program."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", program]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{program!r} failed")
    return usage.ru_utime + usage.ru_stime


def describe(name: str, best: dict[str, float]) -> str:
    """Return the milliseconds, and the number of loaded modules."""
    milliseconds = f"{(best[name] - best['nothing']) * 1000:.0f} ms"
    if name not in ("import dovetail", "Agent()"):
        return milliseconds
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", PROGRAMS[name] + COUNT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    return f"{milliseconds}, {done.stdout.strip()} modules"


if __name__ == "__main__":
    sys.exit(main())
