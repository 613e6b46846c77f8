"""Prints the frame times of the page during 10 000 streamed tokens: `python -m benchmarks.web`.

Needs Node, `npm ci` and `npm run build` in `web/`; the page runs in the tests' Chromium on the real server.
"""

import json
import os
import subprocess
import sys
from typing import Any

from benchmarks.harness import ROOT, Row, report

FRAME = 1000 / 60
TIME_LIMIT = 300.0


def main() -> int:
    """Measure once; the exit status tells whether the targets are met."""
    figures = measure_page()
    work: dict[str, float] = figures["seconds of work"]
    script = work["ScriptDuration"] / figures["tokens"] * 1000
    rows = [
        Row("median frame", figures["median frame, ms"] / FRAME, 1.2, "frames of 1/60 s"),
        Row("95 % of frames", figures["95 % of frames below, ms"] / FRAME, 4, "frames of 1/60 s"),
        Row("longest frame", figures["longest frame, ms"] / FRAME, None, "frames of 1/60 s"),
        Row("script per token", script, 0.5, "ms"),
    ]
    return report(f"Stream {figures['tokens']} tokens into the page", rows)


def measure_page() -> dict[str, Any]:
    """What the browser has measured."""
    done = subprocess.run(
        ["npm", "run", "--silent", "bench"],
        cwd=ROOT / "web",
        env={**os.environ, "DOVETAIL_PYTHON": sys.executable, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"tokens"')]
    if done.returncode or not lines:
        raise SystemExit(f"the browser could not measure:\n{done.stdout}\n{done.stderr}")
    return json.loads(lines[-1])


if __name__ == "__main__":
    sys.exit(main())
