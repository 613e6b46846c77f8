"""Run the programs of a page and write their output below them: `python tests/prompt/docs_page.py`."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent.parent.parent / "docs" / "prompt.md"

_PROGRAM = re.compile(r"```python\n(.*?)```\n(?:\n```text\n.*?```\n)?", re.DOTALL)


def refresh(page: str) -> str:
    """Return the page with the current outputs of its programs; they share their names in order."""
    names: dict[str, Any] = {"__name__": "page"}

    def run(program: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program[1], str(PAGE), "exec"), names)
        return f"```python\n{program[1]}```\n\n```text\n{printed.getvalue().rstrip()}\n```\n"

    return _PROGRAM.sub(run, page)


if __name__ == "__main__":
    PAGE.write_text(refresh(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
