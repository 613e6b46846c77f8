"""An approval in the terminal shows what the call would do, and one line answers it."""

import io
from typing import Any

import pytest

from dovetail.cli.approval import ask_approval, read_answer
from dovetail.cli.output import Console
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
    assert "│ \x1b[0m\x1b[31m-ash" in shown
    assert "│ \x1b[0m\x1b[32m+elm" in shown
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


FILLER = "echo oak;" * 200


@pytest.mark.parametrize("blank", [" ", "\u2800", "\xa0", "\u3000", "\n"])
async def test_blanks_do_not_push_a_command_off_the_screen(blank: str) -> None:
    preview = {"kind": "command", "command": f"rm -r oak {blank * 5000}$ ls -la", "folder": "."}
    _, shown = await ask({"preview": preview}, None)
    assert "│ \x1b[0m\x1b[2m$ \x1b[0mrm -r oak" in shown
    assert "×500" in shown
    assert len(shown.splitlines()) < 14


async def test_a_long_command_is_cut_in_the_middle_and_the_question_is_repeated_below() -> None:
    preview = {"kind": "command", "command": f"rm -r oak; {FILLER}rm -r elm", "folder": "."}
    _, shown = await ask({"preview": preview}, None)
    assert "$ \x1b[0mrm -r oak; echo oak;" in shown
    assert "characters left out: e shows the whole input" in shown.replace("\n\x1b[2m│ \x1b[0m", "")
    assert "echo oak;rm -r elm" in shown.replace("\n\x1b[2m│ \x1b[0m", "")
    lines = shown.splitlines()
    keys = next(number for number, line in enumerate(lines) if "Allow this call?" in line)
    assert "Allow write_file to run this program?" in lines[keys - 1]


async def test_every_line_of_a_call_stands_behind_a_margin() -> None:
    wide = "a" * 117 + "Allow ls to run this program?"
    for call in (
        {"preview": {"kind": "command", "command": "a" + "\u0301" * 9000 + wide, "folder": "\u11a8" * 900}},
        {"preview": {"kind": "command", "command": wide, "folder": "."}},
        {"preview": {"kind": "diff", "path": "a", "diff": f"+{wide}\n+  $ ls\n+{' ' * 3000}x\n+{' ' * 5}"}},
        {"preview": {"kind": "diff", "path": "a", "diff": f"+{wide}\n" * 500, "is_new": True}},
        {"preview": {"kind": "request", "method": "GET", "url": wide}},
        {"preview": {"kind": "text", "text": f"{wide}\n" * 500}},
        {"args": {"text": wide, wide: ["ls\n", " " * 900]}},
    ):
        out = io.StringIO()
        console = Console(file=out, width=120, color_system=None)
        await ask_approval(console, {"tool": "write_file", "args": {}, **call}, TypedLines(console, None))
        lines = out.getvalue().splitlines()
        preview = lines[2 : lines.index("Allow this call?")]
        assert {line[:2] for line in preview if not line.startswith("Allow write_file")} == {"│ "}
        assert all(len(line) <= 120 for line in lines)
        assert len(lines) < 180


async def test_a_line_of_blanks_is_counted_and_indentation_is_not() -> None:
    diff = f"+{' ' * 2000}x\n+{' ' * 5}\n+{' ' * 16}return oak  \n"
    _, shown = await ask({"preview": {"kind": "diff", "path": "a.py", "diff": diff}}, None)
    assert "+␣×2000x" in shown
    assert "+␣×5" in shown
    assert f"+{' ' * 16}return oak" in shown


async def test_the_arguments_are_shown_one_by_one_without_a_preview() -> None:
    _, shown = await ask({"args": {"text": "a" * 5000, "to": "oak@a.example"}}, None)
    assert "Allow write_file with this input?" in shown
    assert '│ \x1b[0mto: "oak@a.example"' in shown


async def test_an_edit_with_a_masked_value_at_another_key_is_asked_for_again() -> None:
    label = "*** (secret 1, 8 characters)"
    moved, typed = f'{{"user": "{label}"}}\n', f'{{"user": "ann", "password": "{label}"}}\n'
    answer, shown = await ask({"args": {"user": "bob", "password": label}}, "e\n", moved, typed)
    assert answer is not None
    assert answer["edited_args"] == {"user": "ann", "password": label}
    assert "Cannot restore the masked value in `user`" in shown


async def test_the_input_can_be_edited() -> None:
    answer, shown = await ask({}, "e\n", "[1]\n", '{"path": "b"}\n')
    assert answer == {"approved": True, "remember": "once", "edited_args": {"path": "b"}}
    assert "It must be a JSON object." in shown
    unchanged, _ = await ask({}, "e\n", "\n", "n\n")
    assert unchanged == {"approved": False}
