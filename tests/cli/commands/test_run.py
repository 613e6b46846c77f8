"""`dovetail run`: an agent on a task, for people and for scripts."""

import json
from pathlib import Path

import pytest

from command_line import run
from dovetail.cli.commands.run import read_inputs
from dovetail.events.delta import ToolCallDelta
from dovetail.testing import ScriptedServer

ONE = {"properties": {"query": {"type": "string"}}, "required": ["query"]}


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "scribe.md").write_text(
        "---\ndescription: Writes.\ntools: [write_file]\n---\nYou write.\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOVETAIL_MODEL", "openai:x")
    return tmp_path


def test_an_agent_runs_on_a_task_of_several_words(
    agents: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(["Done."]) as model:
        monkeypatch.setenv("DOVETAIL_BASE_URL", model.url)
        assert run("run", "scribe", "write", "a=b", "-p") == 0
        assert "write a=b" in json.dumps(model.requests[0].body["messages"])
    assert capsys.readouterr().out == "Done.\n"


def test_json_has_the_result_and_how_often_no_person_could_be_asked(
    agents: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write = [ToolCallDelta(0, "c1", "write_file", '{"path": "a.txt", "content": "oak"}')]
    with ScriptedServer([write, "Not done."]) as model:
        monkeypatch.setenv("DOVETAIL_BASE_URL", model.url)
        assert run("run", "scribe", "write", "--json") == 3
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert (result["agent"], result["response"], result["unanswered"]) == ("scribe", "Not done.", 1)
    assert "no one was there to give it" in printed.err
    assert not (agents / "a.txt").exists()


def test_json_lines_are_the_events_and_then_the_result(
    agents: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(["Done."]) as model:
        monkeypatch.setenv("DOVETAIL_BASE_URL", model.url)
        assert run("run", "scribe", "write", "--jsonl") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["type"] for line in (lines[0], *lines[-2:])] == ["run-start", "run-end", "result"]
    assert [line["number"] for line in lines[:-1]] == list(range(1, len(lines)))


def test_what_is_piped_in_is_the_task_or_follows_it() -> None:
    assert read_inputs([], ONE, "- oak") == {"query": "- oak"}
    both = read_inputs(["Review", "this"], ONE, "- oak")
    assert both == {"query": 'Review this\n\n<file name="stdin">\n- oak\n</file>'}


def test_an_unknown_agent_names_the_nearest(
    agents: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    assert run("run", "scrib", "x") == 1
    assert "scribe" in capsys.readouterr().err
