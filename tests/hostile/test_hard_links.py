"""A rule that denies a path against every other name that the file behind it can have."""

import os
from pathlib import Path
from typing import Any

import pytest

from serving import Serving, serve

SECRET = "the safe is behind the oak"
RULE = """[[rule]]
tool = "*_file"
action = "{action}"
arguments = {{ path = "{pattern}" }}
reason = "not these"
"""
NAMES = ("hard.txt", "docs/notes.txt", "linked/hard.txt", "./docs/../hard.txt")


def make_links(folder: Path) -> Path:
    for name in ("secrets", "docs"):
        (folder / name).mkdir()
    (folder / "secrets" / "key.txt").write_text(SECRET)
    os.link(folder / "secrets" / "key.txt", folder / "hard.txt")
    os.link(folder / "secrets" / "key.txt", folder / "docs" / "notes.txt")
    (folder / "linked").symlink_to(".")
    (folder / "plain.txt").write_text("plain")
    os.link(folder / "plain.txt", folder / "docs" / "plain.txt")
    return folder


async def call(server: Serving, tool: str, path: str) -> str:
    arguments = {"path": path} | ({"content": "stolen"} if tool == "write_file" else {})
    response = await server.client.post(f"/api/v1/tools/{tool}/call", json={"arguments": arguments})
    return response.text


@pytest.mark.parametrize("mode", ["default", "auto", "yolo"])
@pytest.mark.parametrize("relative", [True, False])
async def test_no_other_name_of_a_denied_file_is_read_or_written(
    tmp_path: Path, mode: str, relative: bool
) -> None:
    pattern = "secrets/.*" if relative else f"{tmp_path}/secrets/.*"
    make_links(tmp_path)
    (tmp_path / "policy.toml").write_text(RULE.format(action="deny", pattern=pattern))
    settings: dict[str, Any] = {"policy": {"mode": mode, "max_mode": mode}}
    async with serve(tmp_path, settings=settings) as server:
        for name in (*NAMES, *(str(tmp_path / each) for each in NAMES)):
            for tool in ("read_file", "write_file"):
                assert "policy_violation" in await call(server, tool, name)
        assert "plain" in await call(server, "read_file", "docs/plain.txt")
    assert (tmp_path / "secrets" / "key.txt").read_text() == SECRET


async def test_another_name_of_a_file_that_needs_approval_needs_it_too(tmp_path: Path) -> None:
    make_links(tmp_path)
    (tmp_path / "policy.toml").write_text(RULE.format(action="ask", pattern="secrets/.*"))
    async with serve(tmp_path) as server:
        assert SECRET not in await call(server, "read_file", "hard.txt")
        (tmp_path / "secrets" / "key.txt").unlink()
        assert SECRET in await call(server, "read_file", "hard.txt")
