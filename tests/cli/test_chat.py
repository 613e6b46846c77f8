"""`dovetail chat` in the terminal."""

from pathlib import Path

import pytest

from dovetail.cli.main import main
from dovetail.testing import ScriptedServer


def run(monkeypatch: pytest.MonkeyPatch, model: ScriptedServer, *arguments: str) -> int:
    monkeypatch.setenv("DOVETAIL_MODEL", "openai:scripted")
    monkeypatch.setenv("DOVETAIL_BASE_URL", model.url)
    with pytest.raises(SystemExit) as stopped:
        main(["chat", *arguments])
    return int(stopped.value.code or 0)


def test_one_message_prints_its_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedServer([{"text": "Hello [there], friend.", "cut": 3}]) as model:
        assert run(monkeypatch, model, "--workspace", str(tmp_path), "Say", "hello") == 0
        assert model.requests[0].body["messages"][-1]["content"] == "Say hello"
    assert "Hello [there], friend." in capsys.readouterr().out


def test_a_session_goes_on(
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
