"""Print how smooth the page is during 10 000 tokens, 300 tool calls, and in a chat of 5 000 messages.

`python -m benchmarks.web` needs Node, `npm ci` and `npm run build` in `web/`; the page runs in the tests'
Chromium on the real server.
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
    """Measure once; return the exit status."""
    figures, calls, long_chat = measure_page()
    work: dict[str, float] = figures["seconds of work"]
    script = work["ScriptDuration"] / figures["tokens"] * 1000
    rows = [
        Row("median frame", figures["median frame, ms"] / FRAME, 1.2, "frames of 1/60 s"),
        Row("95 % of frames", figures["95 % of frames below, ms"] / FRAME, 4, "frames of 1/60 s"),
        Row("longest frame", figures["longest frame, ms"] / FRAME, None, "frames of 1/60 s"),
        Row("script per token", script, 0.5, "ms"),
        Row("300 calls, median frame", calls["median frame, ms"] / FRAME, 1.2, "frames of 1/60 s"),
        Row("300 calls, 95 % of frames", calls["95 % of frames below, ms"] / FRAME, 4, "frames of 1/60 s"),
        Row("open a long chat", long_chat["until it is shown, ms"], 1000, "ms"),
        Row("open it in a new page", long_chat["until a new page shows it, ms"], 2000, "ms"),
        Row("jump to its first message", long_chat["until its first message is shown, ms"], None, "ms"),
        Row(
            "scroll it, median frame",
            long_chat["median frame while scrolling, ms"] / FRAME,
            1.2,
            "frames of 1/60 s",
        ),
    ]
    return report(
        f"{figures['tokens']} tokens into the page, a chat of {long_chat['messages']} messages", rows
    )


def measure_page() -> list[dict[str, Any]]:
    """Return what the browser measured: the stream, the calls, and the long chat."""
    done = subprocess.run(
        ["npm", "run", "--silent", "bench"],
        cwd=ROOT / "web",
        env={**os.environ, "DOVETAIL_PYTHON": sys.executable, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    lines = [
        line for line in done.stdout.splitlines() if line.startswith(('{"tokens"', '{"calls"', '{"messages"'))
    ]
    if done.returncode or len(lines) != 3:
        raise SystemExit(f"The browser benchmark failed:\n{done.stdout}\n{done.stderr}")
    return [json.loads(line) for line in lines]


if __name__ == "__main__":
    sys.exit(main())
