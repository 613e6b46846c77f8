"""No text of a model, a provider, a tool or a file steers the terminal, wherever it is printed.

Standard output is a pipe here, so not a single control character may be printed;
`test_printers_terminal.py` looks at a terminal.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer

from command_line import run
from dovetail.cli.main import GROUPS, build_app
from dovetail.testing import Reply, ScriptedServer

BIDI = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\U000e0041"
CONTROLS = "".join(chr(code) for code in (*range(1, 9), *range(11, 32), *range(127, 160))) + BIDI
HOSTILE = f"a\x1b[2J\x1b[H\x1b]0;title\x07\x1b]52;c;eA==\x1b\\\x1b[8mb{CONTROLS}c"
STEERING = re.compile(f"[{CONTROLS}]")

TOOL = f'''"""Says what is on the label."""

from dovetail import tool


@tool
def read_label() -> str:
    """Read {json.dumps(HOSTILE)[1:-1]}."""
    return {json.dumps(HOSTILE)}
'''


def find_steering(text: str) -> list[str]:
    return [repr(line) for line in text.split("\n") if STEERING.search(line)]


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs `dovetail` in a workspace; returns what it printed after checking that nothing of it steers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOVETAIL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("DOVETAIL_MODEL", "openai:scripted")
    monkeypatch.setenv("DOVETAIL_API_KEY", "none")

    def call(*words: str, model: ScriptedServer | None = None) -> str:
        if model is not None:
            monkeypatch.setenv("DOVETAIL_BASE_URL", model.url)
        run(*words)
        shown = capsys.readouterr()
        assert find_steering(shown.out) == []
        assert find_steering(shown.err) == []
        return shown.out + shown.err

    return call


def write(folder: Path, path: str, text: str) -> None:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


@pytest.mark.parametrize("form", [(), ("-p",), ("--json",), ("--jsonl",)])
@pytest.mark.parametrize("cut", [0, 1])
def test_an_answer_is_shown_in_every_form_and_however_it_is_cut(
    printed: Any, form: tuple[str, ...], cut: int
) -> None:
    reply = Reply(text=HOSTILE, reasoning=HOSTILE, cut=cut)
    with ScriptedServer([reply]) as model:
        shown = printed("chat", *form, "Hi", model=model)
    if form in ((), ("-p",)):
        assert r"a\x1b[2J\x1b[H\x1b]0;title\x07" in shown
        assert r"\u202e" in shown
    else:
        assert json.loads(shown if form == ("--json",) else shown.splitlines()[-1])["response"] == HOSTILE


@pytest.mark.parametrize("form", [(), ("-p",), ("--json",), ("--jsonl",)])
def test_an_error_of_a_provider_is_shown(printed: Any, form: tuple[str, ...]) -> None:
    with ScriptedServer([Reply(status=400, body={"error": {"message": HOSTILE}})]) as model:
        assert "title" in printed("chat", *form, "Hi", model=model)


def test_calls_of_any_name_with_any_input_and_result_are_shown(printed: Any, tmp_path: Path) -> None:
    write(tmp_path, "extensions/label/extension.py", TOOL)
    calls = [
        {"name": f"no_tool{HOSTILE}", "arguments": json.dumps({HOSTILE: HOSTILE})},
        {"name": "read_label", "arguments": "{}"},
        {"name": "read_file", "arguments": json.dumps({"path": HOSTILE})},
        {"name": "write_file", "arguments": json.dumps({"path": HOSTILE, "content": HOSTILE})},
        {"name": "ask_user", "arguments": json.dumps({"questions": [{"id": "q", "question": HOSTILE}]})},
    ]
    replies = [{"tool_calls": calls}, f"Done {HOSTILE}"]
    with ScriptedServer(replies) as model:
        shown = printed("chat", "Hi", model=model)
    assert r"no_toola\x1b[2J" in shown
    assert r"Done a\x1b[2J" in shown


def test_a_chat_with_a_hostile_message_is_listed_and_shown(printed: Any) -> None:
    failure = Reply(status=400, body={"error": {"message": HOSTILE}})
    with ScriptedServer([Reply(text=HOSTILE), failure]) as model:
        printed("chat", "--session", "s", f"Label {HOSTILE}", model=model)
        printed("chat", "--session", "s", HOSTILE, model=model)
    runs = json.loads(printed("runs", "list", "--all", "--json"))["runs"]
    assert len(runs) == 2
    for each in runs:
        printed("runs", "show", each["id"])
        printed("runs", "show", each["id"], "--json")
    for words in (("runs", "list", "--all"), ("usage",), ("schedules", "list"), ("store", "info")):
        printed(*words)


AGENT = f"""---
name: poet
description: {json.dumps(HOSTILE)}
---
Write {HOSTILE}
"""
BROKEN = f"raise ValueError({json.dumps(HOSTILE)})\n"
RULES = f"""[[rules]]
tool = "read_label"
action = "deny"
reason = {json.dumps(HOSTILE)}
"""

LISTS = (
    *("agents list", "agents check", "agents show poet", "agents show broken"),
    *("tools list", "tools show read_label", "tools explain read_label", "tools call read_label"),
    *("skills list", "skills show rhyme", "skills why rhyme", "prompt list", "policy list", "policy check"),
    *("ext list", "ext check", "ext show label", "settings"),
)


def test_everything_a_project_contains_is_listed(printed: Any, tmp_path: Path) -> None:
    write(tmp_path, "agents/poet.md", AGENT.replace("\x7f", ""))
    write(tmp_path, "agents/broken.md", f"---\nname: {json.dumps(HOSTILE)}\n---\nx\n")
    write(tmp_path, "extensions/label/extension.py", TOOL)
    write(tmp_path, "extensions/broken/extension.py", BROKEN)
    write(tmp_path, "skills/rhyme/SKILL.md", AGENT.replace("poet", "rhyme"))
    write(tmp_path, "policy.toml", RULES)
    printed("agents", "trust")
    for words in LISTS:
        printed(*words.split())
    assert r"\x1b[2J" in printed("ext", "check")
    assert r"\x1b[2J" in printed("tools", "list")


@pytest.mark.parametrize(
    "words", [(f"--{HOSTILE}",), (HOSTILE,), ("chat", f"--{HOSTILE}"), ("chat", "--mode", HOSTILE, "x")]
)
def test_wrong_usage_is_quoted(printed: Any, words: tuple[str, ...]) -> None:
    assert "title" in printed(*words)


def list_commands() -> list[tuple[str, ...]]:
    """Return every command with a hostile text for each of its arguments, or one too many."""
    found: list[tuple[str, ...]] = []
    for name in GROUPS:
        group = typer.main.get_command(build_app(name)).commands[name]
        inner = {(name, key): command for key, command in getattr(group, "commands", {}).items()}
        for words, command in (inner or {(name,): group}).items():
            count = sum(each.param_type_name == "argument" for each in command.params)
            found.append((*words, *[HOSTILE] * max(count, 1)))
    return found


COMMANDS = list_commands()


def test_every_group_of_commands_is_tried() -> None:
    assert {words[0] for words in COMMANDS} == set(GROUPS)
    assert len(COMMANDS) > 50


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: "-".join(words).partition("-a\x1b")[0])
def test_a_hostile_argument_of_any_command_is_shown(printed: Any, words: tuple[str, ...]) -> None:
    with ScriptedServer([{"text": "Hello.", "repeat": True}]) as model:
        printed(*words, model=model)
