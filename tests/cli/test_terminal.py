"""`--json`: every command prints JSON on request, except for those that serve until they are stopped."""

import asyncio
import json
from collections.abc import Callable, Generator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

from command_line import run
from dovetail.cli.main import GROUPS
from dovetail.events.call import Kind
from dovetail.policy.policy import PolicyCall
from dovetail.policy.remembered import open_policy
from dovetail.testing import ScriptedServer
from dovetail.tools.makers.function import make_tool
from serving import serve

SERVERS = {"serve", "worker", "mcp"}
CLIENTS = {"ext reload", "runs cancel", "runs message"}
"""Commands that call a running server."""
DOWNLOADS = {"models pull"}

Ask = Callable[..., Any]


def list_commands() -> Generator[tuple[str, Any]]:
    """Yield every command of the command line with its full name."""
    for group in GROUPS:
        command: Any = typer.main.get_command(import_module(f"dovetail.cli.commands.{group}").app)
        for name, each in getattr(command, "commands", {"": command}).items():
            yield f"{group} {name}".strip(), each


@pytest.fixture
def seen() -> set[str]:
    """The commands that were run."""
    return set()


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], seen: set[str]) -> Ask:
    """Run a command with `--json`; return what it prints."""
    names = {name for name, _ in list_commands()}

    def ask(*words: object) -> Any:
        full = " ".join(map(str, words[:2]))
        name = full if full in names else str(words[0])
        seen.add(name)
        run(*words, "--json")
        printed = capsys.readouterr()
        assert printed.out, f"{name}: {printed.err}"
        return json.loads(printed.out)

    return ask


def test_every_command_takes_json_unless_it_is_a_server() -> None:
    without = {
        name for name, each in list_commands() if not any("--json" in param.opts for param in each.params)
    }
    assert without == SERVERS


def test_every_command_prints_nothing_but_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, seen: set[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOVETAIL_DATA", str(tmp_path / "data"))
    assert ask("init", ".")["template"] == "chat"
    _ask_about_sources(ask, tmp_path)
    with ScriptedServer([{"text": "Oak.", "repeat": True}]) as model:
        monkeypatch.setenv("DOVETAIL_MODEL", "openai:scripted")
        monkeypatch.setenv("DOVETAIL_BASE_URL", model.url)
        _ask_about_work(ask)
    _ask_about_rules(ask, tmp_path)
    assert ask("doctor")["checks"][0]["subject"] == "Python"
    assert {name for name, _ in list_commands()} - seen == SERVERS | CLIENTS | DOWNLOADS


def _ask_about_sources(ask: Ask, folder: Path) -> None:
    """Create, list, show and check the files of a workspace."""
    assert ask("ext", "new", "weigh")["name"] == "weigh"
    assert "weigh" in ask("ext", "list")["loaded_extensions"]
    assert ask("ext", "show", "weigh")["loaded_extensions"] == ["weigh"]
    assert ask("ext", "check", "weigh")["failed_extensions"] == []
    assert ask("agents", "new", "scout")["path"] == str(folder / "agents" / "scout.md")
    assert "scout" in [agent["name"] for agent in ask("agents", "list")["agents"]]
    assert ask("agents", "show", "scout")["name"] == "scout"
    assert ask("agents", "check", "agents/scout.md")["agents"] == {"agents/scout.md": "scout"}
    assert {"path": "agents/scout.md", "state": "trusted"} in ask("agents", "trust")["files"]
    assert ask("skills", "new", "plane")["name"] == "plane"
    assert "plane" in [skill["name"] for skill in ask("skills", "list")["skills"]]
    assert ask("skills", "show", "plane")["name"] == "plane"
    why = ask("skills", "why", "plane")
    assert (why["used"]["path"], why["hidden"]) == (str(folder / "skills" / "plane" / "SKILL.md"), [])
    assert ask("skills", "why", "plain")["used"] is None
    path = ask("prompt", "new", "sum_up")["path"]
    assert "sum_up" in [prompt["name"] for prompt in ask("prompt", "list")["prompts"]]
    assert ask("prompt", "check", path)["problems"] == []
    (folder / "hello.yaml").write_text("input: Hello, ${name}.\n")
    rendered = ask("prompt", "render", "hello.yaml", "--var", "name=Ann")
    assert "Hello, Ann." in rendered["text"]
    assert rendered["messages"][-1]["role"] == "user"


def _ask_about_work(ask: Ask) -> None:
    """Work with a model, and look at what is stored."""
    assert ask("models", "list")["active"] == "openai:scripted"
    assert ask("models", "check")["model"] == "openai:scripted"
    assert ask("models", "path")["model"] is None
    assert ask("chat", "Which wood?")["response"] == "Oak."
    assert ask("run", "scout", "Look.")["response"] == "Oak."
    assert ask("agents", "run", "scout", "Look.")["response"] == "Oak."
    schedule_id = ask("schedules", "add", "0 9 * * *", "What is new?")["id"]
    assert [each["id"] for each in ask("schedules", "list")["schedules"]] == [schedule_id]
    assert ask("schedules", "run", schedule_id)["response"] == "Oak."
    assert ask("schedules", "show", schedule_id)["ticks"][0]["state"] == "manual"
    assert ask("schedules", "pause", schedule_id)["enabled"] is False
    assert ask("schedules", "resume", schedule_id)["enabled"] is True
    assert ask("schedules", "remove", schedule_id) == {"id": schedule_id}
    run_id = ask("runs", "list", "--all")["runs"][0]["id"]
    assert ask("runs", "show", run_id)["run_id"] == run_id
    assert ask("usage")["total"]["runs"] >= 2
    assert ask("store", "info")["runs"] >= 2
    assert ask("store", "prune", "--older-than", "30d", "--dry-run")["runs"] == 0
    assert ask("store", "backup", "copy.db")["path"] == "copy.db"
    assert ask("store", "restore", "copy.db")["moved_to"]


def _ask_about_rules(ask: Ask, folder: Path) -> None:
    """Call tools, and look at what decides about calls."""
    assert "weigh" in [tool["name"] for tool in ask("tools", "list")["tools"]]
    assert ask("tools", "show", "read_file")["kind"] == "read"
    (folder / "note.txt").write_text("Oak.")
    outcome = ask("tools", "call", "read_file", "path=note.txt")
    assert (outcome["status"], outcome["error"]) == ("ok", None)
    assert ask("tools", "call", "read_file", "path=none.txt")["error"]["message"]
    decision = ask("tools", "explain", "run_shell_command", "command=ls")
    assert (decision["action"], decision["steps"][-1]["mismatch"]) == ("deny", None)
    assert ask("policy", "check")["problems"] == []
    assert ask("policy", "list")[0]["action"] in ("allow", "ask", "deny")
    call = PolicyCall(tool="carve", kind=Kind.Write, args={"wood": "oak"})
    open_policy(folder, list).remember(call, "always")
    [rule] = ask("policy", "remembered")["rules"]
    assert ask("policy", "forget", rule["id"])["undone_at"]
    assert ask("settings", "server")[0]["key"].startswith("server.")


async def test_commands_that_call_a_server_print_its_reply(tmp_path: Path, ask: Ask, seen: set[str]) -> None:
    async def wait() -> str:
        """Wait without end."""
        return await asyncio.Future()

    replies = [{"tool_calls": [{"call_id": "c", "name": "wait"}]}]
    async with serve(tmp_path, replies, [make_tool(wait)], {"policy": {"mode": "yolo"}}) as server:
        at = ("--url", server.address)
        body = {"message": "Wait", "session_id": "s"}
        first = await anext(server.stream("POST", "/api/v1/chat", json=body))
        run_id = first["messageMetadata"]["run_id"]
        assert (await asyncio.to_thread(ask, "runs", "message", run_id, "Hello", *at))["mode"]
        assert await asyncio.to_thread(ask, "runs", "cancel", run_id, *at) is not None
        assert "version" in await asyncio.to_thread(ask, "ext", "reload", *at)
    assert seen == CLIENTS
