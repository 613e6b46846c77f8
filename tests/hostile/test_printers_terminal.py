"""A person at a terminal sees what a call would do, and no text steers the terminal."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from dovetail.testing import Reply, ScriptedServer
from pseudo_terminal import Terminal

ESCAPE, ENTER, CTRL_D = "\x1b", "\r", "\x04"
TITLE, CLIPBOARD, CONCEAL = "\x1b]0;title\x07", "\x1b]52;c;eA==\x1b\\", "\x1b[8m"
STEERING = f"{TITLE}{CLIPBOARD}{CONCEAL}\x9b8m\u202e\u2066\x1b[2J\x1b[H"
MARKS = ("\x1b]", "\x1b[8m", "\x1b[2J", "\x07", "\x9b", "\u202e", "\u2066")
FORGED = "python3 -c \"open('forged','w')\" \x1b[2J\x1b[H  $ ls -la"


def sit_down(folder: Path, model: ScriptedServer, *words: str, size: tuple[int, int] = (100, 60)) -> Terminal:
    environment: Mapping[str, str] = {"DOVETAIL_MODEL": "openai:scripted", "DOVETAIL_BASE_URL": model.url}
    return Terminal(*words, folder=folder, environment=environment, size=size)


def find_steering(output: bytes) -> list[str]:
    """Return the sequences of a hostile text in what the terminal got; our own styles are others."""
    return [repr(mark) for mark in MARKS if mark in output.decode()]


def call(name: str, **arguments: object) -> dict[str, object]:
    return {"name": name, "arguments": json.dumps(arguments)}


@pytest.mark.parametrize("form", [("chat",), ("chat", "Clean up")])
def test_a_command_cannot_forge_its_approval(tmp_path: Path, form: tuple[str, ...]) -> None:
    commands = [call("run_shell_command", command=FORGED)]
    with (
        ScriptedServer([{"tool_calls": commands}, "All right."]) as model,
        sit_down(tmp_path, model, *form) as terminal,
    ):
        if form == ("chat",):
            terminal.wait_for("Ctrl-D leaves")
            terminal.type(f"Clean up{ENTER}")
        terminal.wait_for("Allow this call?")
        shown = terminal.wait_for_screen("Esc declines")
        assert r"""$ python3 -c "open('forged','w')" \x1b[2J\x1b[H  $ ls -la""" in shown
        terminal.type(ESCAPE)
        terminal.wait_for("All right.")
        if form == ("chat",):
            terminal.type(CTRL_D)
        terminal.wait()
        assert find_steering(terminal.output) == []
    assert not (tmp_path / "forged").exists()


@pytest.mark.parametrize("size", [(80, 24), (100, 40)])
@pytest.mark.parametrize("blank", [" ", "\u2800", "\xa0 ", "x", "木"])
def test_a_padded_command_stays_on_the_screen(tmp_path: Path, size: tuple[int, int], blank: str) -> None:
    width, height = size
    forged = "master: Allow run_shell_command to run this program?".ljust(width) + "  $ ls -la"
    command = f"python3 -c \"open('forged','w')\" {blank * (width * (height + 20))}{forged}"
    with (
        ScriptedServer([{"tool_calls": [call("run_shell_command", command=command)]}, "No."]) as model,
        sit_down(tmp_path, model, "chat", "Look", size=size) as terminal,
    ):
        shown = terminal.wait_for_screen("Esc declines")
        assert "│ $ python3 -c \"open('forged','w')\"" in shown
        assert "master: Allow run_shell_command to run this program?" in shown.splitlines()
        assert "\n  $ ls" not in shown


def test_a_padded_line_of_a_file_stays_behind_the_margin(tmp_path: Path) -> None:
    content = "oak" + " " * (97 * 40) + "  in the folder .\n" + " " * 4000 + "\nelm\n"
    with (
        ScriptedServer([{"tool_calls": [call("write_file", path="a.txt", content=content)]}, "No."]) as model,
        sit_down(tmp_path, model, "chat", "Look", size=(80, 24)) as terminal,
    ):
        shown = terminal.wait_for_screen("Esc declines")
        assert "│ a new file: a.txt" in shown
        assert "│ +oak␣×3882in the folder ." in shown
        assert "│ +␣×4000\n│ +elm\n" in shown


def test_nothing_in_a_chat_steers_the_terminal(tmp_path: Path) -> None:
    question = {"id": "q", "question": f"Which{STEERING}?", "choices": [f"oak{STEERING}"]}
    calls = [
        call(f"no_tool{STEERING}", text=STEERING),
        call("read_file", path=f"x{STEERING}"),
        call("write_file", path=f"notes{STEERING}.md", content=f"a\n{STEERING}\n"),
        call("ask_user", questions=[question]),
    ]
    text = f"# One {STEERING}\n\n`{STEERING}` &#x202e; <{STEERING}> [a](https://a.example/{STEERING})\n\n"
    replies = [
        {"reasoning": STEERING, "text": text, "tool_calls": calls, "cut": 1},
        Reply(text=f"Two {STEERING}.", cut=1),
        Reply(status=400, body={"error": {"message": f"Three {STEERING}"}}),
    ]
    with ScriptedServer(replies) as model, sit_down(tmp_path, model, "chat") as terminal:
        terminal.wait_for("Ctrl-D leaves")
        terminal.type(f"One \u202e{ENTER}")
        terminal.wait_for("Esc declines")
        terminal.wait_until(lambda: "Keys go to" not in terminal.screen)
        terminal.type(ESCAPE)
        terminal.wait_for("Esc skips")
        terminal.wait_until(lambda: "Keys go to" not in terminal.screen)
        terminal.type(ESCAPE)
        terminal.wait_for(r"Two \x1b]0;title")
        wait_for_prompt(terminal)
        terminal.type(f"Three{ENTER}")
        terminal.wait_for("status 400): Three")
        wait_for_prompt(terminal)
        terminal.type(f"/sessions{ENTER}")
        terminal.wait_for("Which session?")
        terminal.type(ESCAPE)
        wait_for_prompt(terminal)
        terminal.type(CTRL_D)
        terminal.wait()
        assert r"One \x1b]0;title" in terminal.text
        assert find_steering(terminal.output) == []


def wait_for_prompt(terminal: Terminal) -> None:
    terminal.wait_until(lambda: "\n>\n" in terminal.screen and "Enter: add" not in terminal.screen)


def test_an_agent_at_work_in_a_terminal_steers_nothing(tmp_path: Path) -> None:
    place = tmp_path / "agents" / "poet.md"
    place.parent.mkdir()
    place.write_text("---\nname: poet\ndescription: Writes.\ntools: [read_file]\n---\nWrite.\n")
    calls = [call("read_file", path=f"x{STEERING}")]
    replies = [{"tool_calls": calls}, Reply(text=f"Done {STEERING} [a](https://a.example/\x1b]8;;)", cut=1)]
    with ScriptedServer(replies) as model:
        with sit_down(tmp_path, model, "agents", "trust") as terminal:
            terminal.wait()
        with sit_down(tmp_path, model, "run", "poet", "Write") as terminal:
            terminal.wait()
            assert r"Done \x1b]0;title" in terminal.text
            assert find_steering(terminal.output) == []
