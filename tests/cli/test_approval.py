"""An approval in the terminal shows what the call would do, and one line answers it."""

import io
from typing import Any

import pytest
from rich.console import Console

from dovetail.cli.approval import ask_approval, read_answer
from typed_lines import TypedLines

DIFF = "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-ash\n+elm"


async def ask(payload: dict[str, Any], *lines: str | None) -> tuple[Any, str]:
    out = io.StringIO()
    console = Console(file=out, width=120, force_terminal=True, color_system="standard")
    answer = await ask_approval(
        console, {"tool": "write_file", "args": {"path": "a"}, **payload}, TypedLines(console, *lines)
    )
    return answer, out.getvalue()


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("y", {"approved": True, "remember": "once"}),
        (" YES ", {"approved": True, "remember": "once"}),
        ("r", {"approved": True, "remember": "run"}),
        ("always", {"approved": True, "remember": "always"}),
        ("", {"approved": False}),
        ("n", {"approved": False}),
        ("n, use another name", {"approved": False, "reason": "use another name"}),
        ("No not today", {"approved": False, "reason": "not today"}),
        ("e", "edit"),
        ("yes please", None),
        ("what?", None),
    ],
)
def test_a_line_is_read_as_an_answer(line: str, answer: Any) -> None:
    assert read_answer(line) == answer


async def test_a_difference_is_shown_in_colours_and_an_unclear_line_is_asked_for_again() -> None:
    preview = {"kind": "diff", "path": "notes.md", "diff": DIFF, "is_new": False}
    answer, shown = await ask({"preview": preview, "agent_path": ["main"]}, "hm\n", "y\n")
    assert answer["approved"] is True
    assert "\x1b[31m  -ash" in shown
    assert "\x1b[32m  +elm" in shown
    assert shown.count("Allow this call?") == 2


async def test_a_command_a_request_and_a_text_are_shown() -> None:
    for preview, words in [
        ({"kind": "command", "command": "ls [x]", "folder": "app"}, ["ls [x]", "in the folder app"]),
        ({"kind": "request", "method": "GET", "url": "https://a.example"}, ["GET https://a.example"]),
        ({"kind": "text", "text": "Sends a mail."}, ["Sends a mail."]),
    ]:
        answer, shown = await ask({"preview": preview}, None)
        assert answer == {"approved": False}
        assert all(word in shown for word in words)


async def test_the_input_can_be_edited() -> None:
    answer, shown = await ask({}, "e\n", "[1]\n", '{"path": "b"}\n')
    assert answer == {"approved": True, "remember": "once", "edited_args": {"path": "b"}}
    assert "It must be a JSON object." in shown
    unchanged, _ = await ask({}, "e\n", "\n", "n\n")
    assert unchanged == {"approved": False}
