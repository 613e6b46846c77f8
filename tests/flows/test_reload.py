"""Extension folders are edited while chats are under way."""

import asyncio
import gc
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail.app import Dovetail
from dovetail.cli.serve import follow_changes
from dovetail.extensions import ExtensionSnapshot
from dovetail.extensions.modules import list_packages
from dovetail.messages.delta import ToolCallDelta
from dovetail.messages.request import ModelRequest
from dovetail.testing import Gate
from serving import Serving, serve, text_of

TOOL = """
def ask_version() -> str:
    from .number import VERSION
    return f"{version} {{VERSION}}"

TOOL = dict(label="v", name="ask_version", description="d", parameters={{}}, execute=ask_version, kind="read")
"""
STAGES = 5
EDITS = 4


def write_version(workspace: Path, version: int) -> None:
    """An extension whose tool tells its version, and that of a helper which it imports at the call."""
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


@pytest.mark.timeout(60)
async def test_50_chats_go_on_while_a_folder_is_edited_20_times(tmp_path: Path) -> None:
    write_version(tmp_path, 0)
    model = Model()
    async with serve(tmp_path, [model.reply] * (50 * (STAGES + 1) + 2 * STAGES)) as server:
        server.client.timeout = httpx.Timeout(50)
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
        answers = await asyncio.wait_for(asyncio.gather(*chats), 40)
        assert [text_of(chunks) for chunks in answers] == ["Done."] * 50
        assert [find_outputs(chunks) for chunks in answers] == [["0 0"] * STAGES] * 50
        gc.collect()
        assert (
            len(list_packages("versioned")) <= 2
        )  # the newest, and the first while its last runs are stored


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
    """An app that tells when it has reloaded."""

    reloads: asyncio.Queue[ExtensionSnapshot]

    async def reload(self) -> ExtensionSnapshot:
        snapshot = await super().reload()
        self.reloads.put_nowait(snapshot)
        return snapshot


@pytest.mark.timeout(20)
async def test_an_edit_is_taken_by_itself_while_the_app_watches(tmp_path: Path) -> None:
    write_version(tmp_path, 0)
    app = NotedReloads(workspace=tmp_path)
    app.reloads = asyncio.Queue()
    async with app, follow_changes(app):
        await app.reloads.get()
        following = asyncio.ensure_future(app.reloads.get())
        for version in range(1, 50):  # nobody says when a watcher has begun to watch
            write_version(tmp_path, version)
            if (await asyncio.wait({following}, timeout=0.3))[0]:
                break
        assert "versioned" not in following.result().unchanged
        assert app.is_watching
    assert not app.is_watching
