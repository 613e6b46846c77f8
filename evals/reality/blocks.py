"""Run the Python blocks of a page as one program: `python -m evals.reality.blocks PAGE RESULTS`.

Blocks share their names, as in `tests/test_docs.py`. Each block leaves a line of JSON in the results.
"""

import contextlib
import io
import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from evals.reality.pages import find_blocks


def run(page: Path, results: Path) -> None:
    """Run all blocks, and continue after one that fails."""
    names: dict[str, Any] = {"__name__": "page"}
    for block in find_blocks(page):
        if block.skipped:
            continue
        printed, error, begin = io.StringIO(), "", time.time()
        code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
        with contextlib.redirect_stdout(printed):
            try:
                exec(code, names)
            except Exception:
                error = traceback.format_exc(limit=-1).strip().splitlines()[-1]
        result = {
            "line": block.line,
            "text": printed.getvalue(),
            "problem": error,
            "begin": begin,
            "end": time.time(),
        }
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]))
