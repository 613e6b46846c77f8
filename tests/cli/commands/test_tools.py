"""`dovetail tools` lists, shows, calls and explains."""

from functools import partial
from pathlib import Path

import pytest

import command_line
from dovetail.cli.commands.tools import read_arguments
from dovetail.errors import ConfigError
from dovetail.tools import make_tool

run = partial(command_line.run, "tools")

EXTENSION = """
def cut(plank: str, pieces: int = 2) -> str:
    return f"{plank} in {pieces}"

TOOL = {
    "label": "shed",
    "name": "cut",
    "description": "Cut a plank",
    "parameters": {"plank": {"type": "string", "required": True}, "pieces": {"type": "integer"}},
    "execute": cut,
    "kind": "execute",
}
"""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "extensions" / "shed"
    folder.mkdir(parents=True)
    (folder / "extension.py").write_text(EXTENSION)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORKSPACE_ROOT", raising=False)
    return tmp_path


@pytest.mark.usefixtures("workspace")
def test_list_and_show_describe_a_tool(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list") == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.split()[:1] == ["cut"]]
    assert line.split() == ["cut", "execute", "extension:shed", "Cut", "a", "plank"]
    assert run("show", "Cut") == 0
    shown = capsys.readouterr().out
    assert '"plank"' in shown
    assert "extension:shed" in shown


@pytest.mark.usefixtures("workspace")
def test_call_runs_through_policy_and_prints_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("call", "cut", "plank=oak=old", "pieces=3") == 1
    said = capsys.readouterr().err
    assert "denied 'cut' requires approval, but no approver is available" in said
    assert "Approve it with --yes" in said
    assert run("call", "cut", "plank=oak=old", "pieces=3", "--yes") == 0
    assert capsys.readouterr().out == "oak=old in 3\n"
    assert run("call", "cut", '{"plank": "7"}', "--mode", "yolo") == 0
    assert capsys.readouterr().out == "7 in 2\n"
    assert run("call", "cut", "--yes") == 1
    assert "`plank` is missing (string)" in capsys.readouterr().err
    assert run("call", "cut", '{"plank": "7", "PIECES": 3}', "--yes") == 0
    assert "read as pieces" in capsys.readouterr().err
    assert run("call", "cutt") == 1
    assert "Unknown tool 'cutt'. Did you mean 'cut'?" in capsys.readouterr().err


def test_explain_names_the_rule_of_the_policy_file(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = (
        '[[rule]]\nname = "pine is cheap"\ntool = "cut"\narguments = { plank = "pine.*" }\naction = "allow"\n'
    )
    (workspace / "policy.toml").write_text(rule)
    assert run("explain", "cut", "plank=pine board") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("allow: rule 'pine is cheap'")
    assert run("explain", "cut", "plank=oak") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("ask: it may change something outside\n")
    assert "argument 'plank' does not match 'pine.*'" in shown
    assert run("call", "cut", "plank=pine board") == 0


@pytest.mark.usefixtures("workspace")
def test_unknown_mode_names_the_modes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("call", "cut", "plank=oak", "--mode", "fast") == 1
    assert "Unknown mode 'fast'. Expected one of: plan, default, auto, yolo" in capsys.readouterr().err


def test_words_become_arguments_as_the_schema_asks() -> None:
    def order(text: str, count: int, tags: list[str], anything: object) -> None: ...

    tool = make_tool(order)
    words = ["text=42", "count=42", 'tags=["a"]', "anything=x"]
    assert read_arguments(words, tool) == {"text": "42", "count": 42, "tags": ["a"], "anything": "x"}
    with pytest.raises(ConfigError, match="Invalid argument 'oak' of 'order'"):
        read_arguments(["oak"], tool)
