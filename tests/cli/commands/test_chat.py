"""`dovetail chat` in the terminal."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import command_line
from dovetail.events.delta import ToolCallDelta
from dovetail.testing import Gate, ScriptedServer
from pseudo_terminal import Terminal


def run(monkeypatch: pytest.MonkeyPatch, model: ScriptedServer, *arguments: str) -> int:
    monkeypatch.setenv("DOVETAIL_MODEL", "openai:scripted")
    monkeypatch.setenv("DOVETAIL_BASE_URL", model.url)
    return command_line.run("chat", *arguments)


def test_one_message_prints_its_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer([{"text": "Hello [there], friend.", "cut": 3}]) as model:
        assert run(monkeypatch, model, "--workspace", str(tmp_path), "Say", "hello") == 0
        assert model.requests[0].body["messages"][-1]["content"] == "Say hello"
    assert "Hello [there], friend." in capsys.readouterr().out


def test_empty_input_is_an_error_that_says_how_to_pass_a_message(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dovetail", "chat", "--workspace", str(tmp_path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "No message: standard input is empty." in done.stderr


def test_a_session_continues(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer(["One.", "Two."]) as model:
        options = ("--workspace", str(tmp_path), "--session", "mine")
        assert run(monkeypatch, model, *options, "First") == 0
        assert run(monkeypatch, model, *options, "Second") == 0
        contents = [message["content"] for message in model.requests[1].body["messages"][2:]]
    assert contents == ["First", "One.", "Second"]


def test_a_failing_model_is_one_message_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer([{"status": 401, "text": "bad key"}], key="right") as model:
        monkeypatch.setenv("DOVETAIL_API_KEY", "wrong")
        assert run(monkeypatch, model, "--workspace", str(tmp_path), "Hi") == 1
    printed = capsys.readouterr().out
    assert printed.startswith("Error: ")
    assert "Traceback" not in printed


def write(path: str) -> list[ToolCallDelta]:
    return [ToolCallDelta(0, "c1", "write_file", json.dumps({"path": path, "content": "oak"}))]


def sit_down(folder: Path, model: ScriptedServer, *options: str) -> Terminal:
    environment = {"DOVETAIL_MODEL": "openai:scripted", "DOVETAIL_BASE_URL": model.url}
    return Terminal("chat", *options, folder=folder, environment=environment)


@pytest.mark.timeout(60)
def test_an_approval_is_asked_for_at_the_terminal_and_can_be_remembered(tmp_path: Path) -> None:
    replies = [write("a.txt"), "One.", write("b.txt"), "Two.", write("b.txt"), "Three."]
    with ScriptedServer(replies) as model, sit_down(tmp_path, model) as terminal:
        terminal.read_until("> ")
        terminal.type("first\n")
        asked = terminal.read_until("(n and a reason): ")
        assert "master asks: may it call write_file" in asked
        assert "a new file: a.txt" in asked
        assert "  +oak" in asked
        terminal.type("n\n")
        assert "declined" in terminal.read_until("> ")
        terminal.type("second\n")
        terminal.read_until("(n and a reason): ")
        terminal.type("a\n")
        assert "→ created b.txt" in terminal.read_until("Two.")
        terminal.read_until("> ")
        terminal.type("third\n")
        assert "[N]o" not in terminal.read_until("Three.")
        terminal.read_until("> ")
        terminal.type("\x04")
        assert terminal.wait() == 0
    assert [path.name for path in sorted(tmp_path.glob("*.txt"))] == ["b.txt"]


@pytest.mark.timeout(60)
def test_ctrl_c_stops_an_answer_that_waits_for_a_person_and_at_the_prompt_ends_the_chat(
    tmp_path: Path,
) -> None:
    with ScriptedServer([write("a.txt"), "Never."]) as model, sit_down(tmp_path, model) as terminal:
        terminal.read_until("> ")
        terminal.type("first\n")
        terminal.read_until("(n and a reason): ")
        terminal.type("\x03")
        assert "(cancelled)" in terminal.read_until("> ")
        terminal.type("\x03")
        assert terminal.wait() == 0


@pytest.mark.timeout(60)
def test_lines_typed_during_an_answer_are_read_in_its_next_turn_or_answered_after_it(tmp_path: Path) -> None:
    gate = Gate()
    replies = [{"steps": ["10 ft", gate, "."]}, "3 m.", "300 cm.", "Bye."]
    with ScriptedServer(replies) as model, sit_down(tmp_path, model) as terminal:
        terminal.read_until("> ")
        terminal.type("how long?\n")
        terminal.read_until("10 ft")
        terminal.type("use metres\n")
        terminal.read_until("↳ use metres (read in the next turn)")
        terminal.type("/queue in cm?\n")
        terminal.read_until("↳ in cm? (answered after this one)")
        gate.open()
        terminal.read_until("> use metres")
        terminal.read_until("3 m.")
        terminal.read_until("> in cm?")
        terminal.read_until("300 cm.")
        terminal.read_until("> ")
        terminal.type("bye\n")
        terminal.read_until("Bye.")
        contents = [message["content"].strip() for message in model.requests[-1].body["messages"][2:]]
    assert contents == ["how long?", "10 ft.", "use metres", "3 m.", "in cm?", "300 cm.", "bye"]


START = {
    "when": "start it",
    "tool_calls": [{"name": "scribe", "arguments": '{"query": "write it", "background": true}'}],
}
WRITE = {
    "when": "write it",
    "tool_calls": [{"name": "write_file", "arguments": '{"path": "a.txt", "content": "oak"}'}],
}


def hire_scribe(folder: Path) -> None:
    (folder / "agents").mkdir()
    text = "---\ndescription: Writes.\ntools: [write_file]\n---\nYou write.\n"
    (folder / "agents" / "scribe.md").write_text(text)


@pytest.mark.timeout(60)
def test_what_works_in_the_background_is_shown_listed_and_answered(tmp_path: Path) -> None:
    hire_scribe(tmp_path)
    replies = [START, WRITE, {"when": "works in the background", "text": "It has begun."}, "Written."]
    with ScriptedServer(replies) as model, sit_down(tmp_path, model) as terminal:
        terminal.read_until("> ")
        terminal.type("/tasks\n")
        terminal.read_until("No background tasks.")
        terminal.read_until("> ")
        terminal.type("start it\n")
        terminal.read_until("scribe works in the background as ses_")
        terminal.read_until("scribe asks in the background: /tasks answers.")
        terminal.type("/tasks\n")
        listed = terminal.read_until("(n and a reason): ")
        assert "scribe, waiting, began" in listed
        assert "scribe asks: may it call write_file" in listed
        terminal.type("y\n")
        terminal.read_until("scribe is done in the background.")
        terminal.type("\x04")
        assert terminal.wait() == 0
    assert (tmp_path / "a.txt").read_text() == "oak"


@pytest.mark.timeout(60)
def test_task_that_a_terminal_left_continues_in_the_next_one(tmp_path: Path) -> None:
    hire_scribe(tmp_path)
    replies = [START, WRITE, {"when": "works in the background", "text": "It has begun."}, "Written."]
    with ScriptedServer(replies) as model:
        with sit_down(tmp_path, model, "--session", "mine") as terminal:
            terminal.read_until("> ")
            terminal.type("start it\n")
            terminal.read_until("scribe asks in the background: /tasks answers.")
            terminal.type("\x04")
            terminal.read_until("Not ended yet: ses_")
            assert terminal.wait() == 0
        with sit_down(tmp_path, model, "--session", "mine") as terminal:
            terminal.read_until("> ")
            terminal.type("/tasks\n")
            terminal.read_until("(n and a reason): ")
            terminal.type("y\n")
            terminal.read_until("scribe is done in the background.")
            terminal.type("\x04")
            assert terminal.wait() == 0
    assert (tmp_path / "a.txt").read_text() == "oak"


def test_without_a_terminal_a_call_that_asks_is_declined(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer([write("a.txt"), "So be it."]) as model:
        assert run(monkeypatch, model, "--workspace", str(tmp_path), "Write") == 0
        told = model.requests[1].body["messages"][-1]["content"]
    assert "The terminal is not interactive." in told
    assert "So be it." in capsys.readouterr().out
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("words", [[], [b"caf\xe9"]], ids=["input", "argument"])
async def test_a_message_that_is_not_utf_8_is_answered(tmp_path: Path, words: list[bytes]) -> None:
    with ScriptedServer(["Hello \ud83d."]) as model:
        environment = {
            **os.environ,
            "DOVETAIL_MODEL": "openai:scripted",
            "DOVETAIL_BASE_URL": model.url,
            "WORKSPACE_ROOT": str(tmp_path),
        }
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "dovetail", "chat", *words),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=environment,
        )
        out, err = await process.communicate(b"" if words else b"caf\xe9\n")
        assert process.returncode == 0, (out, err)
        assert model.requests[0].body["messages"][-1]["content"] == "caf\ufffd"
    assert "Hello \ufffd." in out.decode()
