"""The composition root joins folders, files and registries."""

from pathlib import Path

import pytest

from dovetail.app import Dovetail
from dovetail.errors import ConfigError
from dovetail.tools import make_tool

EXTENSION = """
def greet(name: str) -> str:
    return f"Hello {name}"

TOOL = {
    "label": "greeting",
    "name": "greet",
    "description": "Greets somebody",
    "parameters": {"name": {"type": "string", "required": True}},
    "execute": greet,
}
"""
AGENT = "---\nname: master\ndescription: Ours.\n---\nYou are ours.\n"


async def test_workspace_folders_become_tools_and_agents(tmp_path: Path) -> None:
    folder = tmp_path / "extensions" / "greeting"
    folder.mkdir(parents=True)
    (folder / "extension.py").write_text(EXTENSION)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "master.md").write_text(AGENT)
    async with Dovetail(workspace=tmp_path) as app:
        names = [tool.name for tool in app.get_tool_registry().get_all_tools()]
        assert {"greet", "get_weather", "calculate"} <= set(names)
        assert app.get_agent_registry().get_definition("master").description == "Ours."
        assert app.agents.get_definition("summarizer").name == "summarizer"


async def test_agents_of_extension_folders_come_between_the_workspace_and_what_ships(tmp_path: Path) -> None:
    folder = tmp_path / "extensions" / "greeting"
    (folder / "agents").mkdir(parents=True)
    (folder / "extension.py").write_text(EXTENSION)
    for name in ("master", "summarizer", "_draft"):
        text = AGENT.replace("master", name).replace("Ours", "Theirs")
        (folder / "agents" / f"{name}.md").write_text(text)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "master.md").write_text(AGENT)
    async with Dovetail(workspace=tmp_path) as app:
        found = {each.name: each.description for each in app.agents.get_all_definitions()}
        assert (found["master"], found["summarizer"]) == ("Ours.", "Theirs.")
        assert "codebase_investigator" in found
        assert "_draft" not in found


async def test_reload_swaps_tools_and_leaves_an_older_snapshot_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "extensions" / "greeting"
    folder.mkdir(parents=True)
    (folder / "extension.py").write_text(EXTENSION)
    async with Dovetail(workspace=tmp_path) as app:
        before = app.tools.snapshot()
        (folder / "extension.py").write_text(EXTENSION.replace('"greet"', '"welcome"'))
        report = await app.reload()
        after = app.tools.snapshot()
        assert "greeting" in report.loaded_extensions
        assert ("greet" in before, "welcome" in before) == (True, False)
        assert ("greet" in after, "welcome" in after) == (False, True)
        assert after.generation > before.generation


async def test_an_app_that_cannot_start_releases_its_resources(tmp_path: Path) -> None:
    folder = tmp_path / "extensions" / "greeting"
    folder.mkdir(parents=True)
    hooks = """
from pathlib import Path

def setup(context):
    global note
    note = Path(context.workspace, "torn-down")

def teardown():
    note.touch()
"""
    (folder / "extension.py").write_text(EXTENSION + hooks)
    with pytest.raises(ConfigError, match=r"mcp\.servers must map server names"):
        async with Dovetail({"mcp": {"servers": ["wrong"]}}, workspace=tmp_path):
            pass
    assert (tmp_path / "torn-down").exists()


def test_making_an_app_reads_nothing(tmp_path: Path) -> None:
    app = Dovetail({"model.name": "openai:x"}, workspace=tmp_path / "missing")
    assert app.settings.get("model.name") == "openai:x"
    assert app.agents.get_all_definitions() == ()


async def test_an_agent_with_the_name_of_an_extension_tool_wins_and_the_folder_fails_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "calculate.md").write_text("---\ndescription: Ours.\n---\nYou are ours.\n")
    async with Dovetail(workspace=tmp_path) as app:
        tool = app.tools.get_tool("calculate")
        assert tool is not None
        assert tool.origin == "agent"
        assert app.agents.get_definition("calculate").description == "Ours."
        assert app.tools.get_tool("summarizer") is not None
        assert [each.extension for each in app.extensions.snapshot.failed_extensions] == ["calculator"]


async def test_an_agent_with_the_name_of_another_tool_affects_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "measure.md").write_text("---\ndescription: Ours.\n---\nYou are ours.\n")
    app = Dovetail(workspace=tmp_path)
    app.tools.register_tool(make_tool(lambda: "2 m", name="measure"))
    async with app:
        assert [tool.origin for tool in app.tools.get_all_tools() if tool.name == "measure"] == ["code"]
        assert app.agents.get_definition("measure").description == "Ours."
        assert app.tools.get_tool("summarizer") is not None
    assert "Agent 'measure' is not offered as a tool: its name is taken by code" in caplog.text


async def test_a_tool_whose_folder_failed_is_reported_with_the_folder(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "extensions" / "shop").mkdir(parents=True)
    (tmp_path / "extensions" / "shop" / "extension.py").write_text("import no_such_package\n")
    (tmp_path / "agents").mkdir()
    text = "---\ndescription: Buys.\ntools: [find_price]\n---\nBuy.\n"
    (tmp_path / "agents" / "buyer.md").write_text(text)
    async with Dovetail(workspace=tmp_path):
        pass
    assert "Unknown tool 'find_price'." in caplog.text
    assert "It may be in an extension folder that failed to load: shop." in caplog.text


async def test_a_rule_for_a_tool_that_is_not_there_is_logged_with_the_near_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "policy.toml").write_text('[[rule]]\ntool = "read_artefact"\naction = "deny"\n')
    async with Dovetail(workspace=tmp_path):
        pass
    assert "policy.toml:1: Unknown tool 'read_artefact'. Did you mean 'read_artifact'?" in caplog.text
