"""Follow a page of docs/howto as a reader would: save its files, type its commands, compare what they print.

    ```python title="ask.py"       the block is saved under that name, in an empty folder
    ```bash                        the block is run there, as one script that stops at the first error
    ```                            a plain block directly after it is its output; `…` stands for any text

A comment before a block sets it up:

    <!-- replies: ["Hello."] -->   what the model says from now on, in `ScriptedServer`'s form
    <!-- stays -->                 the script serves: it is started, and stopped at the end of the page
    <!-- skip: reason -->          not run (it needs something a test must not use)

Pages use port 8000 and one address of a database; a test has others, which replace them.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dovetail.testing import ScriptedServer
from patience import PATIENCE

_BLOCK = re.compile(
    r"^(?P<comment><!--(?:(?!-->).)*-->\n+)?"
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<code>.*?)^```\n'
    r"(?:\n*^```(?:text)?\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
_REPLIES = re.compile(r"replies:\s*(\[.*\])\s*-->", re.DOTALL)


@dataclass(frozen=True)
class Step:
    """One block of a page: a file to save, or a script to run."""

    line: int
    language: str
    title: str | None
    code: str
    output: str | None
    replies: list[Any]
    stays: bool


def find_steps(text: str) -> Iterator[Step]:
    """Yield the blocks that a reader saves or types."""
    for match in _BLOCK.finditer(text):
        comment = match["comment"] or ""
        replies = _REPLIES.search(comment)
        if "skip:" not in comment and (match["title"] or match["language"] == "bash"):
            yield Step(
                line=text[: match.start("code")].count("\n") + 1,
                language=match["language"],
                title=match["title"],
                code=match["code"],
                output=match["output"],
                replies=json.loads(replies[1]) if replies else [],
                stays="<!-- stays -->" in comment,
            )


class Reader:
    """A person with an empty folder and a terminal, whose model plays the replies of the page."""

    def __init__(self, folder: Path, model: ScriptedServer, swap: Mapping[str, str]) -> None:
        self.folder = folder
        self._model = model
        self._swap = swap
        self._left: list[subprocess.Popen[str]] = []
        self.environment = {
            **{
                key: value
                for key, value in os.environ.items()
                if not key.startswith(("DOVETAIL_", "OPENAI_"))
            },
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "DOVETAIL_MODEL": "openai:scripted",
            "DOVETAIL_API_KEY": "none",
            "DOVETAIL_BASE_URL": model.url,
            "DOVETAIL_DATA": str(folder.parent / "data"),
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": model.url,
            "COLUMNS": "100",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # a reader has no more than pytest
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._left):
            os.killpg(process.pid, signal.SIGTERM)
        for process in self._left:
            process.communicate(timeout=PATIENCE)

    def follow(self, page: Path) -> None:
        """Save and run every block of the page, from top to bottom."""
        for step in find_steps(page.read_text(encoding="utf-8")):
            self._model.script.add(*step.replies)
            if step.title:
                self.save(step)
            elif step.stays:
                self.leave_running(step)
            else:
                printed = self.run(step)
                check(step, printed, f"{page.name}:{step.line}")

    def save(self, step: Step) -> Path:
        """Save a block as a file of the folder."""
        path = self.folder / (step.title or "")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._adapt(step.code), encoding="utf-8")
        return path

    def run(self, step: Step) -> str:
        """Run a script to its end; return what it prints."""
        script = ["bash", "-eu", "-c", self._adapt(step.code)]
        done = subprocess.run(
            script, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, f"{step.code}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def leave_running(self, step: Step) -> None:
        """Start a script that serves, and wait for its first line, which it prints when it is ready."""
        log = self.folder.parent / f"{step.line}.log"
        with log.open("w") as errors:
            process = subprocess.Popen(
                ["bash", "-eu", "-c", self._adapt(step.code)],
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        self._left.append(process)
        assert process.stdout is not None
        assert process.stdout.readline(), f"{step.code}\n{log.read_text()}"

    def _adapt(self, text: str) -> str:
        for name, value in self._swap.items():
            text = text.replace(name, value)
        return text


def check(step: Step, printed: str, place: str) -> None:
    """Compare what was printed with the output on the page, if there is one."""
    if step.output is None:
        return
    expected = ".*".join(re.escape(piece) for piece in step.output.strip().split("…"))
    found = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    assert re.fullmatch(expected, found, re.DOTALL), f"{place} prints:\n{printed}"
