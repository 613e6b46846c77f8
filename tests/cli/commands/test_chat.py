"""`dovetail chat` with one message: in pipes, in scripts and for programs."""

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import command_line
from dovetail.cli.chat.plain import Form, PlainAnswer
from dovetail.events.delta import ProgressDelta, ToolCallDelta, Usage
from dovetail.sessions.request import ChatRequest
from dovetail.testing import Gate, Reply, ScriptedServer
from patience import PATIENCE
from serving import serve

A_WOOD = {"type": "text", "text": "A wood?"}


def run(monkeypatch: pytest.MonkeyPatch, model: ScriptedServer, *arguments: str) -> int:
    monkeypatch.setenv("DOVETAIL_MODEL", "openai:scripted")
    monkeypatch.setenv("DOVETAIL_BASE_URL", model.url)
    return command_line.run("chat", *arguments)


def environment(model: ScriptedServer, folder: Path) -> Mapping[str, str]:
    variables = {"DOVETAIL_MODEL": "openai:scripted", "DOVETAIL_BASE_URL": model.url}
    return {**os.environ, **variables, "WORKSPACE_ROOT": str(folder)}


def write(path: str) -> list[ToolCallDelta]:
    return [ToolCallDelta(0, "c1", "write_file", json.dumps({"path": path, "content": "oak"}))]


def test_one_message_prints_its_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer([{"text": "Hello [there], friend.", "cut": 3}]) as model:
        assert run(monkeypatch, model, "--workspace", str(tmp_path), "Say", "hello") == 0
        assert model.requests[0].body["messages"][-1]["content"] == "Say hello"
    assert capsys.readouterr().out == "Hello [there], friend.\n"


def test_empty_input_is_an_error_that_says_how_to_pass_a_message(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dovetail", "chat", "--workspace", str(tmp_path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "No message: standard input is empty." in done.stderr


@pytest.mark.parametrize("form", [(), ("-p",), ("--json",), ("--jsonl",)])
def test_an_unknown_theme_is_wrong_usage_in_every_form(
    capsys: pytest.CaptureFixture[str], form: tuple[str, ...]
) -> None:
    assert command_line.run("chat", *form, "Hi", "--theme", "neon") == 2
    printed = capsys.readouterr()
    shown = " ".join(re.sub(r"[│╭╮╰╯─]", " ", printed.err).split())
    assert "Invalid value for '--theme'" in shown
    assert "'neon' is not one of 'auto', 'dark', 'light', 'plain'." in shown
    assert printed.out == ""


def test_a_session_continues_by_its_id_or_as_the_last_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer(["One.", "Two.", "Three."]) as model:
        place = ("--workspace", str(tmp_path))
        assert run(monkeypatch, model, *place, "--continue", "First") == 1
        assert "No session to continue." in capsys.readouterr().err
        assert run(monkeypatch, model, *place, "--session", "mine", "First") == 0
        assert run(monkeypatch, model, *place, "--session", "mine", "Second") == 0
        assert run(monkeypatch, model, *place, "--continue", "Third") == 0
        contents = [message["content"] for message in model.requests[2].body["messages"][2:]]
    assert contents == ["First", "One.", "Second", "Two.", "Third"]


def test_the_session_of_a_script_is_continued_by_scripts_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer(["One.", "Two.", "Three.", "Four.", "Five.", "Six."]) as model:
        place = ("--workspace", str(tmp_path))
        assert run(monkeypatch, model, *place, "-p", "By a script") == 0
        assert run(monkeypatch, model, *place, "--continue", "Hi") == 1
        assert "No session to continue." in capsys.readouterr().err
        assert run(monkeypatch, model, *place, "By a person") == 0
        assert run(monkeypatch, model, *place, "-p", "By another script") == 0
        assert run(monkeypatch, model, *place, "--continue", "Again") == 0
        assert run(monkeypatch, model, *place, "-p", "--session", "mine", "By name") == 0
        assert run(monkeypatch, model, *place, "--json", "--continue", "Once more") == 0
        asked = [
            [m["content"] for m in each.body["messages"] if m["role"] == "user"] for each in model.requests
        ]
    assert asked[3] == ["By a person", "Again"]
    assert asked[5] == ["By name", "Once more"]


def test_a_failing_model_is_one_message_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer([{"status": 401, "text": "bad key"}], key="right") as model:
        monkeypatch.setenv("DOVETAIL_API_KEY", "wrong")
        assert run(monkeypatch, model, "--workspace", str(tmp_path), "Hi") == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("Error: ")
    assert "Traceback" not in printed.err


def test_calls_are_shown_on_the_error_stream_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("oak \x1b[31m")
    call = [ToolCallDelta(0, "c1", "read_file", '{"path": "a.txt"}')]
    with ScriptedServer([call, "It says oak."]) as model:
        assert run(monkeypatch, model, "--workspace", str(tmp_path), "Read") == 0
    printed = capsys.readouterr()
    assert printed.out == "It says oak.\n"
    assert "• read_file a.txt\n✓ read_file → oak \\x1b[31m\n" in printed.err


def test_without_a_terminal_a_call_that_asks_is_named_and_no_user_is_said_to_have_declined_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer([write("a.txt"), "So be it."]) as model:
        assert run(monkeypatch, model, "--workspace", str(tmp_path), "-p", "Write") == 3
        reported = model.requests[1].body["messages"][-1]["content"]
    assert "'write_file' requires approval, but no approver is available" in reported
    assert "No person can be asked: the terminal is not interactive." in reported
    assert "declined" not in reported
    printed = capsys.readouterr()
    assert printed.out == "So be it.\n"
    assert (
        "This call needed approval, and no one was there to give it: write_file path: a.txt, content: oak\n"
        'Use --mode yolo, or add to policy.toml:\n[[rule]]\ntool = "write_file"\naction = "allow"\n'
    ) in printed.err
    assert not (tmp_path / "a.txt").exists()


def test_json_is_one_object_with_the_answer_and_its_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer([Reply(text="Hello.", usage=Usage(7, 2))]) as model:
        place = ("--workspace", str(tmp_path), "--session", "mine")
        assert run(monkeypatch, model, *place, "--json", "Hi") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["response"], result["reason"], result["session_id"]) == ("Hello.", "goal", "mine")
    assert (result["usage"]["input_tokens"], result["unanswered"], result["error"]) == (7, 0, None)


def test_json_of_a_failure_names_the_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer([{"status": 401, "text": "bad key"}], key="right") as model:
        monkeypatch.setenv("DOVETAIL_API_KEY", "wrong")
        assert run(monkeypatch, model, "--workspace", str(tmp_path), "--json", "Hi") == 1
    result = json.loads(capsys.readouterr().out)
    assert result["reason"] == "error"
    assert result["error"]["message"]


def test_json_lines_are_the_events_and_then_the_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer(["Hello."]) as model:
        assert run(monkeypatch, model, "--workspace", str(tmp_path), "--jsonl", "Hi") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    types = [line["type"] for line in lines]
    assert types[0] == "run-start"
    assert types[-2:] == ["run-end", "result"]
    assert [line["delta"] for line in lines if line["type"] == "text-delta"] == ["Hello."]
    assert lines[-1]["response"] == "Hello."


def test_two_forms_at_once_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.run("chat", "--json", "--jsonl", "Hi") == 2
    assert "Use either --json or --jsonl." in capsys.readouterr().err


def test_what_is_piped_in_goes_with_the_message(tmp_path: Path) -> None:
    with ScriptedServer(["Fine."]) as model:
        done = subprocess.run(
            [sys.executable, "-m", "dovetail", "chat", "-p", "Review this"],
            input="- oak\n+ elm\n",
            env=environment(model, tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
        sent = model.requests[0].body["messages"][-1]["content"]
    assert (done.returncode, done.stdout) == (0, "Fine.\n")
    assert sent == 'Review this\n\n<file name="stdin">\n- oak\n+ elm\n\n</file>'


def test_ctrl_c_stops_the_answer_with_exit_code_130(tmp_path: Path) -> None:
    gate = Gate()
    with ScriptedServer([{"steps": ["Once", gate]}]) as model:
        with subprocess.Popen(
            [sys.executable, "-m", "dovetail", "chat", "-p", "Tell me"],
            env=environment(model, tmp_path),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert gate.reached.wait(PATIENCE)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate()
        gate.open()
    assert process.returncode == 130
    assert errors == "Stopped.\n"


@pytest.mark.slow
@pytest.mark.parametrize("words", [[], [b"caf\xe9"]], ids=["input", "argument"])
async def test_a_message_that_is_not_utf_8_is_answered(tmp_path: Path, words: list[bytes]) -> None:
    with ScriptedServer(["Hello \ud83d."]) as model:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "dovetail", "chat", *words),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=environment(model, tmp_path),
        )
        out, err = await process.communicate(b"" if words else b"caf\xe9\n")
        assert process.returncode == 0, (out, err)
        assert model.requests[0].body["messages"][-1]["content"] == "caf\ufffd"
    assert "Hello \ufffd." in out.decode()


@pytest.mark.parametrize("form", ["text", "answer"])
async def test_how_far_the_model_is_stands_on_the_last_line_of_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, form: Form
) -> None:
    read = Gate("read")
    screen, inner = pty.openpty()
    with os.fdopen(screen, "rb", buffering=0) as shown, os.fdopen(inner, "w") as terminal:
        async with serve(tmp_path, [[ProgressDelta("read", 36, 90), read, "Oak."]]) as server:
            monkeypatch.setattr(sys, "stderr", terminal)
            started = await server.app.chat.send(ChatRequest(session_id="s", parts=[A_WOOD]))
            answer = asyncio.create_task(PlainAnswer(server.app, form).follow(started))
            assert await asyncio.to_thread(shown.read, 100) == b"\r\x1b[KReading the question: 40 %"
            read.open()
            assert await answer == 0
            assert await asyncio.to_thread(shown.read, 100) == b"\r\x1b[K"
    assert capsys.readouterr().out == "Oak.\n"


def test_an_answer_that_is_not_whole_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer([{"text": "Oak is", "finish_reason": "length"}]) as model:
        assert run(monkeypatch, model, "--workspace", str(tmp_path), "-p", "A wood?") == 0
    printed = capsys.readouterr()
    assert printed.out == "Oak is\n"
    assert "The answer is incomplete: it reached its longest length." in printed.err
