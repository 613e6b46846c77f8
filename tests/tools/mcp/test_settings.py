"""MCP servers that the settings name: connected at the start, reported when they cannot be."""

import asyncio
import math
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from dovetail.app import Dovetail
from dovetail.errors import ConfigError
from dovetail.tools.mcp.settings import ConfiguredServers, read_entry
from dovetail.tools.registry import ToolRegistry

SERVER = Path(__file__).parent / "shed_server.py"


def make_app(folder: Path, servers: Any) -> Dovetail:
    return Dovetail({"mcp": {"servers": servers}}, workspace=folder)


@pytest.mark.slow
async def test_server_of_the_settings_file_brings_its_tools_and_a_broken_one_affects_no_other(
    tmp_path: Path,
) -> None:
    (tmp_path / "dovetail.toml").write_text(
        f"""
[mcp.servers.shed]
command = "{sys.executable}"
args = ["{SERVER}"]
allow = ["add"]
trusted = true

[mcp.servers.gone]
command = "no-such-program-here"
"""
    )
    async with Dovetail(workspace=tmp_path) as app:
        tool = app.tools.get_tool("add")
        assert tool is not None
        assert tool.origin == "mcp:shed"
        assert await app.runtime.manager.async_call_tool("add", {"a": 40}) == {"result": 42}
        assert list(app.mcp.problems) == ["gone"]
        assert "cannot be reached" in app.mcp.problems["gone"]
        generation = app.tools.snapshot().generation
        await app.reload()
        assert app.tools.snapshot().generation > generation
        assert app.tools.get_tool("add") is tool


async def test_entry_that_names_no_server_is_reported(tmp_path: Path) -> None:
    async with make_app(tmp_path, {"odd": {"color": "red"}, "secret": {"url": "${NO_SUCH_VARIABLE}"}}) as app:
        assert "Invalid MCP server: got " in app.mcp.problems["odd"]
        assert (
            "NO_SUCH_VARIABLE is not set, but the setting 'mcp.servers.secret' uses it"
            in app.mcp.problems["secret"]
        )


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ({"headers": {"authorization": "Bearer geheim"}}, "Invalid MCP server: got an entry with headers."),
        ({"command": "shed", "env": "KEY=geheim"}, "mcp.servers.shed.env must be a table, got str"),
        (
            {"url": "http://127.0.0.1", "headers": ["geheim"]},
            "mcp.servers.shed.headers must be a table, got list",
        ),
        ({"command": "shed", "args": 5}, "mcp.servers.shed.args must be a list of texts"),
        ({"command": "shed", "allow": "add"}, "mcp.servers.shed.allow must be a list of texts"),
        ("geheim", "Invalid MCP server: got a str."),
        (
            {"command": "shed", "trustd": True},
            "Unknown setting 'mcp.servers.shed.trustd'. Did you mean 'mcp.servers.shed.trusted'?",
        ),
    ],
)
async def test_a_wrong_entry_is_reported_without_its_secrets(
    tmp_path: Path, entry: object, complaint: str
) -> None:
    async with make_app(tmp_path, {"shed": entry}) as app:
        assert complaint in app.mcp.problems["shed"]
        assert "geheim" not in app.mcp.problems["shed"]


def test_a_server_does_not_show_its_secrets() -> None:
    entry = {"url": "http://ann:geheim@a/b", "env": {"KEY": "geheim"}, "headers": {"key": "geheim"}}
    assert "geheim" not in repr(read_entry("shed", entry))


async def test_a_reload_does_not_restart_a_connection_in_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dovetail.tools.mcp.settings.PATIENCE", 0.05)
    servers = ConfiguredServers(ToolRegistry())
    with socket.create_server(("127.0.0.1", 0)) as silent:
        entries = {"slow": {"url": f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"}}
        await servers.connect(entries)
        await servers.connect(entries)
        assert [task.get_name() for task in asyncio.all_tasks()].count("connect slow") == 1
        assert servers.problems == {"slow": "not connected yet"}
        await servers.close()


async def test_servers_without_names_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"mcp\.servers must map server names to commands or urls"):
        await ConfiguredServers(ToolRegistry()).connect(["http://127.0.0.1"])


def test_variables_of_the_environment_are_filled_in_at_any_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHED_KEY", "geheim")
    entry = {
        "url": "http://127.0.0.1/mcp",
        "headers": {"authorization": "Bearer ${SHED_KEY}"},
        "time_limit": 5,
    }
    server = read_entry("shed", entry)
    assert (server.headers, server.time_limit) == ({"authorization": "Bearer geheim"}, 5)


@pytest.mark.parametrize("limit", [math.nan, math.inf, 0, -5, True, "5"])
def test_a_time_limit_that_no_timer_can_take_is_refused(limit: object) -> None:
    with pytest.raises(ConfigError, match="time_limit must be a number of seconds above 0, got"):
        read_entry("shed", {"url": "http://127.0.0.1/mcp", "time_limit": limit})
