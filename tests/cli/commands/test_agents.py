"""`dovetail agents` shows, checks and runs agents."""

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from dovetail.cli.commands.run import read_inputs
from dovetail.errors import ConfigError
from dovetail.testing import ScriptedServer

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"goal": {"type": "string"}, "depth": {"type": "integer"}},
    "required": ["goal"],
}


def test_list_shows_shipped_agents_and_broken_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "bad.md").write_text("nothing")
    monkeypatch.chdir(tmp_path)
    assert run("agents", "list") == 0
    shown = capsys.readouterr()
    assert "summarizer" in shown.out
    assert (shown.out + shown.err).count("Missing front matter") == 1


def test_check_fails_for_a_broken_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = tmp_path / "good.md"
    good.write_text("---\ndescription: d\n---\nHello.")
    assert run("agents", "check", str(good)) == 0
    (tmp_path / "bad.md").write_text("---\nname: x\n---\n")
    assert run("agents", "check", str(good), str(tmp_path / "bad.md")) == 1
    assert "no description" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("front", "body", "said"),
    [
        ("query: ${unknown}", "Do.", "Unknown placeholder ${unknown}"),
        ("name: x", "In ${HOME}.", "Unknown placeholder ${HOME}"),
        ("max_turns: 2.5", "Do.", "must be a whole number, got 2.5"),
        ("name: my.dotted", "Do.", "Invalid agent name 'my.dotted'"),
        ("name: x", "", "Missing system prompt"),
        ("model: antropic:claude-x", "Do.", "Unknown provider 'antropic' in the model name"),
    ],
)
def test_check_finds_what_would_fail_at_every_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], front: str, body: str, said: str
) -> None:
    (tmp_path / "a.md").write_text(f"---\ndescription: d\n{front}\n---\n{body}")
    assert run("agents", "check", str(tmp_path / "a.md")) == 1
    assert said in capsys.readouterr().out


def test_check_notices_a_misspelt_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text(
        "---\ndescription: d\ntools: [read_fil, read_file, summarizer, ask_user, mcp_*]\n---\nDo."
    )
    assert run("agents", "check", "a.md") == 0
    sound, notice = capsys.readouterr().out.splitlines()
    assert sound == "ok     a.md: agent 'a'"
    assert notice == "notice a.md:3: Unknown tool 'read_fil'. Did you mean 'read_file'?"


def test_check_notices_that_a_called_agent_lacks_its_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("agents", "new", "scout") == 0
    (tmp_path / "a.md").write_text("---\ndescription: d\ntools: [scout, read_file]\n---\nDo.")
    (tmp_path / "b.md").write_text(
        "---\ndescription: d\ntools: [scout, list_files, search_files, read_*]\n---\nDo."
    )
    (tmp_path / "c.md").write_text("---\ndescription: It has all tools.\n---\nDo.")
    capsys.readouterr()
    assert run("agents", "check", "a.md", "b.md", "c.md") == 0
    assert capsys.readouterr().out.splitlines()[3:] == [
        "notice a.md:3: Agent 'scout' cannot use list_files, search_files when it is called from here: "
        "an agent has no tool that its caller does not have."
    ]


def test_check_resolves_every_name_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dovetail.toml").write_text(
        "[mcp.servers.notes]\nurl = 'http://127.0.0.1:1/'\nenabled = false\n"
    )
    write = (tmp_path / "a.md").write_text
    front = [
        "---",
        "description: d",
        "mcp_servers: [notes]",
        "model: inherit",
        "tools: {write: false, bahs: false}",
    ]
    write("\n".join([*front, "skills:", "  - mising", "---", "Do."]))
    assert run("agents", "check", "a.md") == 0
    assert capsys.readouterr().out.splitlines() == [
        "ok     a.md: agent 'a'",
        "notice a.md:6: these keys have no effect here: skills",
        "notice a.md:5: Unknown tool 'bahs'.",
        "notice a.md:7: Unknown skill 'mising'. None are available.",
    ]
    write("---\ndescription: d\nmcp_servers: [note]\n---\nDo.")
    assert run("agents", "check", "a.md") == 1
    assert "broken a.md:3: Unknown MCP server 'note'. Did you mean 'notes'?" in capsys.readouterr().out
    write("---\ndescription: d\ntools: {Read: true}\nmodel: gtp-5\n---\nDo.")
    assert run("agents", "check", "a.md") == 0
    printed = capsys.readouterr().out
    assert "notice a.md:3: `tools` switches none off" in printed
    assert "notice a.md:3: Unknown tool 'Read'. It is called 'read_file' here." in printed
    assert "notice a.md:4: " in printed


def test_check_notes_a_type_that_is_not_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.md").write_text("---\ndescription: d\ninputs: {text: {type: strng}}\n---\nDo.")
    assert run("agents", "check", str(tmp_path / "a.md")) == 0
    assert "input 'text' has the unknown type 'strng', treated as string" in capsys.readouterr().out


def test_check_prints_json_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text("---\ndescription: d\n---\nDo.")
    bad.write_text("---\ndescription: d\n---\n")
    assert run("agents", "check", good, bad, "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["agents"] == {str(good): "good"}
    assert [(each["path"], each["kind"]) for each in report["problems"]] == [(str(bad), "broken")]
    assert "Missing system prompt" in report["problems"][0]["text"]


def test_unknown_mode_of_a_run_names_the_modes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("agents", "run", "summarizer", "x", "--mode", "fast") == 1
    assert "Unknown mode 'fast'. Expected one of: plan, default, auto, yolo." in capsys.readouterr().err


def test_list_shows_agents_that_the_settings_switch_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dovetail.toml").write_text("[agents.summarizer]\nenabled = false\n")
    monkeypatch.chdir(tmp_path)
    assert run("agents", "list") == 0
    assert "summarizer (disabled)" in capsys.readouterr().out


def test_unknown_agent_names_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("agents", "show", "summariser") == 1
    assert "summarizer" in capsys.readouterr().err


def test_trust_acknowledges_the_files_of_the_folder_until_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOVETAIL_DATA", str(tmp_path / "data"))
    assert run("agents", "trust") == 0
    assert "No agent files in" in capsys.readouterr().out
    (tmp_path / "agents").mkdir()
    file = tmp_path / "agents" / "scout.md"
    for text in ("Look.", "Look twice."):
        file.write_text(f"---\ndescription: d\n---\n{text}")
        assert run("agents", "trust") == 0
        printed = capsys.readouterr().out
        assert "trusted  agents/scout.md" in printed
        assert "A running server uses them from the next chat on." in printed
        assert run("agents", "trust") == 0
        assert "unchanged  agents/scout.md" in capsys.readouterr().out


def test_words_become_typed_inputs() -> None:
    assert read_inputs(["goal=a=b", "depth=3"], SCHEMA) == {"goal": "a=b", "depth": 3}
    assert read_inputs(["just text"], {"properties": {"query": {"type": "string"}}}) == {"query": "just text"}


@pytest.mark.parametrize(
    ("words", "complaint"), [(["gaol=x"], "Unknown input 'gaol=x'"), (["depth=1"], "Missing input 'goal'")]
)
def test_wrong_words_say_what_to_give(words: list[str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as caught:
        read_inputs(words, SCHEMA)
    assert "goal=… depth=…" in str(caught.value)


AGENTS = {
    "boss": "---\ndescription: Has others work.\ntools: [scribe, frobnicate]\n---\nYou lead.\n",
    "scribe": "---\ndescription: Writes.\ntools: []\noutput: {name: note}\n---\nYou write.\n",
}


def make_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str = "") -> None:
    (tmp_path / "agents").mkdir()
    for name, text in AGENTS.items():
        (tmp_path / "agents" / f"{name}.md").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOVETAIL_MODEL", "openai:x")
    monkeypatch.setenv("DOVETAIL_API_KEY", "none")
    monkeypatch.setenv("DOVETAIL_BASE_URL", url)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"call_id": f"call-{name}", "name": name, "arguments": arguments}]}


def test_show_lists_what_an_agent_may_use_and_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_workspace(tmp_path, monkeypatch)
    assert run("agents", "show", "boss") == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "may use scribe" in lines
    assert "missing frobnicate" in lines


def test_run_shows_turns_tools_and_children_and_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written = call("complete_task", note="oak")
    with ScriptedServer([call("scribe", query="note it"), written, "It is noted."]) as server:
        make_workspace(tmp_path, monkeypatch, server.url)
        assert run("agents", "run", "boss", "see to it") == 0
    shown = capsys.readouterr().out
    for line in ("boss openai:x", "→ scribe", "  scribe openai:x", "  → complete_task", "It is noted."):
        assert f"{line}" in shown


def test_run_prints_data_and_fails_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer([call("complete_task", note="oak"), *["No."] * 5, "Really not."]) as server:
        make_workspace(tmp_path, monkeypatch, server.url)
        assert run("agents", "run", "scribe", "query=write", "--plain") == 0
        assert capsys.readouterr().out == "oak\n"
        assert run("agents", "run", "scribe", "query=write", "--plain") == 1
    assert "Ended by no-completion" in capsys.readouterr().err


@pytest.mark.usefixtures("one_day")
def test_runs_in_several_processes_share_the_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dovetail.toml").write_text("[limits.day]\ncalls = 1\n")
    with ScriptedServer(["Done."] * 3) as server:
        make_workspace(tmp_path, monkeypatch, server.url)
        assert run("agents", "run", "boss", "see to it") == 0
        assert run("agents", "run", "boss", "see to it") == 1
        assert run("tools", "call", "boss", "query=see to it", "--yes") == 1
        assert len(server.requests) == 1
    assert "of all runs for today is reached" in capsys.readouterr().err


def test_run_checks_the_inputs_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_workspace(tmp_path, monkeypatch)
    inputs = "inputs: {depth: {type: integer, required: true}}"
    (tmp_path / "agents" / "diver.md").write_text(f"---\ndescription: Dives.\n{inputs}\n---\nDive.\n")
    assert run("agents", "run", "diver", "depth=deep") == 1
    assert "`depth` must be integer" in capsys.readouterr().err


def test_a_new_agent_says_where_the_assistant_lists_its_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("agents", "new", "scout") == 0
    assert "lists its tools" not in capsys.readouterr().out
    (tmp_path / "agents" / "master.md").write_text("---\ndescription: d\ntools: [scout]\n---\nHi.\n")
    assert run("agents", "new", "guide") == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("agents/master.md lists its tools: add `guide` and what it uses to `tools:`")


def test_a_new_agent_is_sound_and_its_name_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("agents", "new", "scout") == 0
    assert "dovetail agents check agents/scout.md" in capsys.readouterr().out
    assert run("agents", "check", "agents/scout.md") == 0
    assert "ok     agents/scout.md: agent 'scout'" in capsys.readouterr().out
    for name, complaint in (
        ("scout", "Tool 'scout' already exists in agent"),
        ("calculate", "Tool 'calculate' already exists in extension:calculator"),
        ("master", "Agent 'master' already exists."),
        ("two words", "Invalid name 'two words'."),
    ):
        assert run("agents", "new", name) == 1
        assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("command", ["policy check", "policy list", "skills list", "ext check"])
def test_a_broken_agent_file_is_not_the_subject_of_other_commands(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("WORKSPACE_ROOT", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "broken.md").write_text("---\nmesage: no\n---\n")
    run(*command.split())
    assert not [message for message in caplog.messages if "broken.md" in message]
