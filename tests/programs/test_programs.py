"""Every program in this folder runs in a process of its own and prints what it says it prints.

A program is what people paste into issues and chat rooms: 5-20 plain lines against the public API, without
anything of pytest. It starts with comments that set it up, and ends with the exact output:

    # Two questions at the same time.                 what it is about, in words
    # replies: ["Hello.", {"when": "Paris", "text": "France."}]
    import asyncio
    ...
    # Output:
    # Hello.

Comments at the top, each on one line or (for a list) on several lines that all begin with `#`:

    # replies: [...]      what the model says, in the form of `ScriptedServer`. A reply with `when` is for the
                          request whose last message holds that text, which is what concurrent programs need;
                          with `repeat` it is never used up. All other replies must be used, each once. `json`
                          stands for `text`: {"json": {"name": "teal"}} is a reply with that JSON as its text.
    # exit: 1             the exit code, if it is not 0
    # stderr: some text   a text that stderr must hold; without it stderr must be empty
    # model: local:small  an embedded model instead of the scripted one

`# Output:` is compared with all of stdout. `# Output holds:` asks for each of its lines somewhere in stdout.
A program runs in an empty folder, with `DOVETAIL_MODEL` and the address of the model in its environment;
helper files are in `parts/`.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dovetail.testing import ScriptedServer
from patience import PATIENCE

FOLDER = Path(__file__).parent
SOURCE = FOLDER.parent.parent / "src"
PROGRAMS = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("test_"))

_HEAD = re.compile(r"\A(?:#.*\n)*")
_FIELD = re.compile(r"^(replies|exit|stderr|model): ?(.*(?:\n(?!\w+: ).*)*)", re.MULTILINE)
_OUTPUT = re.compile(r"^# Output( holds)?:\n((?:#.*\n?)*)\Z", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """What the comments of a program say."""

    replies: list[Any]
    exit: int
    stderr: str
    model: str | None
    output: str
    is_loose: bool


def read_program(text: str) -> Program:
    head = _HEAD.match(text)
    comments = "" if head is None else _uncomment(head[0])
    fields = {name: value.strip() for name, value in _FIELD.findall(comments)}
    output = _OUTPUT.search(text)
    assert output is not None, "a program ends with `# Output:` and the lines that it prints"
    return Program(
        replies=[_write_json(reply) for reply in json.loads(fields.get("replies", "[]"))],
        exit=int(fields.get("exit", "0")),
        stderr=fields.get("stderr", ""),
        model=fields.get("model"),
        output=_uncomment(output[2]),
        is_loose=bool(output[1]),
    )


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program_prints_what_it_says(path: Path, tmp_path: Path) -> None:
    program = read_program(path.read_text(encoding="utf-8"))
    with ScriptedServer(program.replies) as server:
        ended = run(path, tmp_path, program, server.url)
    told = f"stdout:\n{ended.stdout}\nstderr:\n{ended.stderr}"
    check_output(program, ended.stdout, told)
    assert program.stderr in ended.stderr, told
    assert program.stderr or not ended.stderr, told
    assert ended.returncode == program.exit, told
    assert not server.script.unused, f"replies that no request asked for: {server.script.unused}\n{told}"


def run(path: Path, folder: Path, program: Program, url: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DOVETAIL_")}
    environment |= {
        "DOVETAIL_MODEL": program.model or "openai:scripted",
        "DOVETAIL_API_KEY": "none",
        "PYTHONPATH": str(SOURCE),
        "PYTHONIOENCODING": "utf-8",
        "PYTHONWARNINGS": "default",  # a forgotten coroutine or an unclosed socket shows up in stderr
    }
    if program.model is None:
        environment["DOVETAIL_BASE_URL"] = url
    return subprocess.run(
        [sys.executable, str(path)],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE,
        check=False,
    )


def check_output(program: Program, printed: str, told: str) -> None:
    if program.is_loose:
        for line in program.output.splitlines():
            assert line in printed, told
    else:
        assert printed.rstrip("\n") == program.output.rstrip("\n"), told


def _write_json(reply: Any) -> Any:
    if not isinstance(reply, dict) or "json" not in reply:
        return reply
    return {"text": json.dumps(reply["json"])} | {key: reply[key] for key in reply if key != "json"}


def _uncomment(lines: str) -> str:
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines.splitlines())


def test_the_comments_of_a_program_are_read() -> None:
    text = """\
# About: a question.
# replies: [
#   "Hi", {"json": {"a": 1}}
# ]
# exit: 1

print(1)

# Output:
# 1
#
# 2
"""
    assert read_program(text) == Program(["Hi", {"text": '{"a": 1}'}], 1, "", None, "1\n\n2", False)
