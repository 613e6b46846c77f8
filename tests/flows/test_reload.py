"""Extension folders are edited while chats are under way."""

import asyncio
import gc
import itertools
import os
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail.app import Dovetail
from dovetail.cli.process import describe_reload, follow_changes
from dovetail.events.call import ModelRequest
from dovetail.events.delta import ToolCallDelta
from dovetail.extensions import ExtensionSnapshot
from dovetail.extensions.importing import list_packages
from dovetail.testing import Gate
from extension_folders import ONE_TOOL, Folders, SlowFolder, ask
from patience import PATIENCE
from postgres import make_database
from serving import Serving, serve, serve_app, text_of

TOOL = """
def ask_version() -> str:
    from .number import VERSION
    return f"{version} {{VERSION}}"

TOOL = dict(label="v", name="ask_version", description="d", parameters={{}}, execute=ask_version, kind="read")
"""
STAGES = 5
EDITS = 4


def write_version(workspace: Path, version: int) -> None:
    """An extension whose tool returns its version, and that of a helper which it imports at the call."""
    folder = workspace / "extensions" / "versioned"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "number.py").write_text(f"VERSION = {version}\n")
    (folder / "extension.py").write_text(TOOL.format(version=version))


def find_outputs(chunks: list[dict[str, Any]]) -> list[str]:
    return [chunk["output"] for chunk in chunks if chunk["type"] == "tool-output-available"]


async def reload(server: Serving, **headers: str) -> dict[str, Any]:
    response = await server.client.post("/api/v1/extensions/reload", headers=headers)
    assert response.status_code == 200, response.text
    return response.json()


class Model:
    """Asks for the version once per stage, then is done; a slow chat waits at each stage's gate."""

    def __init__(self) -> None:
        self.gates = [Gate(str(stage)) for stage in range(STAGES)]

    def reply(self, request: ModelRequest) -> Any:
        calls = sum(message["role"] == "tool" for message in request.messages)
        is_slow = any(message.get("content") == "slow" for message in request.messages)
        if calls == (STAGES if is_slow else 1):
            return "Done."
        call = ToolCallDelta(0, f"c{calls}", "ask_version", "{}")
        return [self.gates[calls], call] if is_slow else [call]


async def test_50_chats_continue_while_a_folder_is_edited_20_times(tmp_path: Path) -> None:
    write_version(tmp_path, 0)
    model = Model()
    async with serve(tmp_path, [model.reply] * (50 * (STAGES + 1) + 2 * STAGES)) as server:
        server.client.timeout = httpx.Timeout(PATIENCE)
        chats = [asyncio.create_task(server.chat("slow", f"slow{number}")) for number in range(50)]
        while len(server.model.requests) < 50:
            await asyncio.wait(chats, timeout=0.01)
        for stage, gate in enumerate(model.gates):
            for edit in range(EDITS):
                write_version(tmp_path, stage * EDITS + edit + 1)
                assert (await reload(server))["failed_extensions"] == []
            newest = stage * EDITS + EDITS
            assert find_outputs(await server.chat("quick", f"quick{stage}")) == [f"{newest} {newest}"]
            gate.open()
        answers = await asyncio.wait_for(asyncio.gather(*chats), PATIENCE)
        assert [text_of(chunks) for chunks in answers] == ["Done."] * 50
        assert [find_outputs(chunks) for chunks in answers] == [["0 0"] * STAGES] * 50
        gc.collect()
        # The newest, and the first while its last runs are stored.
        assert len(list_packages("versioned")) <= 2


async def test_a_reload_needs_the_token_where_one_is_set(tmp_path: Path) -> None:
    async with serve(tmp_path, settings={"server.admin_token": "right"}) as server:
        for headers in ({}, {"x-admin-token": "wrong"}, {"x-admin-token": ""}):
            response = await server.client.post("/api/v1/extensions/reload", headers=headers)
            assert response.status_code == 403
            assert "x-admin-token" in response.json()["error"]["message"]
        assert (await server.get("/api/v1/extensions"))["version"] == 1
        assert (await reload(server, **{"x-admin-token": "right"}))["version"] == 2


async def test_the_report_says_what_is_kept_and_where_it_is_broken(tmp_path: Path) -> None:
    write_version(tmp_path, 0)
    async with serve(tmp_path) as server:
        (tmp_path / "extensions" / "versioned" / "extension.py").write_text("TOOL = (\n")
        report = await reload(server)
        assert await server.get("/api/v1/extensions") == {**report, "watching": False}
    [failure] = report["failed_extensions"]
    assert (failure["extension"], failure["kept"], failure["line"]) == ("versioned", True, 1)
    assert "ask_version" in report["tools"]
    assert {"version", "loaded_extensions", "kept", "removed", "unchanged"} <= report.keys()


class NotedReloads(Dovetail):
    """An app that signals each reload."""

    reloads: asyncio.Queue[ExtensionSnapshot]

    async def reload(self) -> ExtensionSnapshot:
        snapshot = await super().reload()
        self.reloads.put_nowait(snapshot)
        return snapshot


async def edit_until_watched(app: NotedReloads, workspace: Path) -> tuple[ExtensionSnapshot, int]:
    """Edit a folder until a watcher reloads it; return what is loaded then, and the newest version."""
    await app.reloads.get()
    following = asyncio.ensure_future(app.reloads.get())
    async with asyncio.timeout(PATIENCE):
        for version in itertools.count(1):  # nobody says when a watcher has begun to watch
            write_version(workspace, version)
            if (await asyncio.wait({following}, timeout=0.3))[0]:
                return following.result(), version
    raise AssertionError


async def test_an_edit_is_taken_by_itself_while_the_app_watches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_version(tmp_path, 0)
    app = NotedReloads(workspace=tmp_path)
    app.reloads = asyncio.Queue()
    async with app, follow_changes(app):
        snapshot, _ = await edit_until_watched(app, tmp_path)
        assert "versioned" not in snapshot.unchanged
        assert app.is_watching
    assert not app.is_watching
    assert "Reloaded: versioned\n" in capsys.readouterr().err


async def test_an_edit_is_taken_while_a_slow_folder_of_an_earlier_one_is_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_version(tmp_path, 0)
    slow = SlowFolder(Folders(tmp_path / "extensions"), tmp_path / "gate")
    app = NotedReloads({"extensions.import_limit": PATIENCE}, workspace=tmp_path)
    app.reloads = asyncio.Queue()
    async with app, asyncio.timeout(PATIENCE), follow_changes(app):
        _, newest = await edit_until_watched(app, tmp_path)
        slow.edit(ONE_TOOL.format(name="ask_slow", answer="yes"))
        await slow.begun()
        write_version(tmp_path, newest + 1)
        while await ask(app.extensions.snapshot.tools, "ask_version") != f"{newest + 1} {newest + 1}":
            await app.reloads.get()
        assert app.extensions.snapshot.loading == ("slow",)
        slow.let_through()
        while "slow" not in (await app.reloads.get()).loaded_extensions:
            pass
        assert await ask(app.tools.get_all_tools(), "ask_slow") == "yes"
    assert "Reloaded: versioned, slow (still loading)\n" in capsys.readouterr().err


@pytest.mark.slow
async def test_processes_import_a_slow_folder_at_the_same_time(tmp_path: Path) -> None:
    settings = {"store.url": await make_database(), "extensions.import_limit": PATIENCE}
    slow = SlowFolder(Folders(tmp_path / "extensions"), tmp_path / "gate")
    async with (
        asyncio.timeout(PATIENCE),
        Dovetail(settings, workspace=tmp_path) as one,
        Dovetail(settings, workspace=tmp_path) as other,
    ):
        await one.open_chat()
        await other.open_chat()
        slow.edit(ONE_TOOL.format(name="ask_slow", answer="yes"))
        reloading = asyncio.create_task(one.reload())
        await slow.begun()
        while [each.name for each in threading.enumerate()].count("import-slow") < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        slow.let_through(2)
        await reloading
        while other.tools.get_tool("ask_slow") is None:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.01)


async def test_a_watched_reload_names_what_changed_and_what_failed(tmp_path: Path) -> None:
    write_version(tmp_path, 0)
    async with Dovetail(workspace=tmp_path) as app:
        (tmp_path / "extensions" / "versioned" / "extension.py").write_text("TOOL = (")
        (tmp_path / "agents").mkdir()
        (tmp_path / "agents" / "desk.md").write_text("---\ndescription: Takes orders.\n---\nBe brief.\n")
        assert describe_reload(app, await app.reload()) == "Reloaded: desk, versioned (failed)"
        (tmp_path / "agents" / "desk.md").write_text("---\ndescription: [\n---\n")
        assert describe_reload(app, await app.reload()) == "Reloaded: desk.md (failed)"


@pytest.mark.slow
async def test_a_reload_at_one_of_two_processes_reaches_the_other(tmp_path: Path) -> None:
    address = await make_database()
    write_version(tmp_path, 1)
    environment = {
        **os.environ,
        "DATABASE_URL": address,
        "DOVETAIL_MODEL": "openai:none",
        "DOVETAIL_API_KEY": "x",
    }
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(start_process(tmp_path, environment)) for _ in range(2)]
        one, other = clients
        write_version(tmp_path, 2)
        response = await one.post("/api/v1/extensions/reload")
        assert response.status_code == 200, response.text
        async with asyncio.timeout(PATIENCE):
            version = 0
            while version < 2:
                version = (await other.get("/api/v1/extensions")).json()["version"]
        for client in clients:
            called = await client.post("/api/v1/tools/ask_version/call", json={"arguments": {}})
            assert called.json()["result"]["llm_content"] == "2 2"


@asynccontextmanager
async def start_process(workspace: Path, environment: dict[str, str]) -> AsyncGenerator[httpx.AsyncClient]:
    """A server in a process of its own, and a client that talks to it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "dovetail", "serve", "--port", "0", "--workspace", str(workspace)),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            greeting = (await process.stdout.readline()).decode()
        assert greeting, "the server did not start"
        async with httpx.AsyncClient(base_url=greeting.split()[-1], timeout=PATIENCE) as client:
            yield client
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), PATIENCE)


async def test_the_report_names_broken_agents_skills_and_policies(tmp_path: Path) -> None:
    for path, text in {
        "agents/scout.md": "---\nname: scout\ndescription: Looks around\n---\nLook.\n",
        "policy.toml": '[[rule]]\ntool = "x"\naction = "deny"\n',
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    async with (
        serve_app(Dovetail(workspace=tmp_path)) as address,
        httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client,
    ):
        (tmp_path / "agents/scout.md").write_text("---\nname: [\n---\n")
        (tmp_path / "agents/guide.md").write_text("---\nname: guide\ndescription: Leads\n---\nLead.\n")
        (tmp_path / "policy.toml").write_text('[[rule]]\ntool = "x"\naction = "perhaps"\n')
        (tmp_path / "skills/tidy").mkdir(parents=True)
        (tmp_path / "skills/tidy/SKILL.md").write_text("---\nname: [\n---\n")
        report = (await client.post("/api/v1/extensions/reload")).json()
    assert report["agents"]["new"] == ["guide"]
    [agent] = report["agents"]["failed"]
    [skill] = report["skills"]["failed"]
    [policy] = report["policy"]["failed"]
    assert (agent["path"], agent["keeps_last_good"]) == (str(tmp_path / "agents/scout.md"), True)
    assert skill["path"] == str(tmp_path / "skills/tidy/SKILL.md")
    assert (policy["path"], policy["keeps_last_good"]) == (str(tmp_path / "policy.toml"), True)
    assert "perhaps" in policy["error"]


async def test_an_error_in_the_rules_of_a_folder_is_in_the_report_once(tmp_path: Path) -> None:
    write_version(tmp_path, 0)
    rules = tmp_path / "extensions" / "versioned" / "policy.toml"
    rules.write_text('[[rule]]\ntool = "x"\naction = "deny"\n')
    async with (
        serve_app(Dovetail(workspace=tmp_path)) as address,
        httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client,
    ):
        rules.write_text('[[rule]]\ntool = "x"\naction = "perhaps"\n')
        report = (await client.post("/api/v1/extensions/reload")).json()
        [problem] = (await client.get("/api/v1/policy")).json()["problems"]
    [failure] = report["failed_extensions"]
    assert (failure["file"], failure["line"], failure["kept"]) == (str(rules), 1, True)
    assert report["policy"]["failed"] == []
    assert (problem["path"], problem["keeps_last_good"]) == (str(rules), True)


async def test_replaced_version_ends_with_its_last_chat_and_not_with_the_garbage_collector(
    tmp_path: Path,
) -> None:
    write_version(tmp_path, 1)
    call = {"tool_calls": [{"call_id": "c1", "name": "ask_version", "arguments": {}}]}
    async with serve(tmp_path, [call, "Done."]) as server, asyncio.timeout(PATIENCE):
        gc.collect()
        gc.disable()
        try:
            assert find_outputs(await server.chat("Which version?")) == ["1 1"]
            write_version(tmp_path, 2)
            await reload(server)
            await server.get("/api/v1/extensions")  # what the reload has left behind has ended by now
            assert len(list_packages("versioned")) == 1
        finally:
            gc.enable()
