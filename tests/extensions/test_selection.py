"""Tool names are unique; whoever has one keeps it."""

from pathlib import Path

import pytest

from dovetail import Dovetail
from dovetail.agents.definition import AgentDefinition
from dovetail.extensions import ExtensionLoader
from dovetail.tools import Tool, make_tool
from extension_folders import Folders, ask


def name_tools(*names: str) -> str:
    """An extension with tools of these names."""
    entries = ", ".join(
        f"dict(label='x', name={name!r}, description='d', parameters={{}}, execute=f)" for name in names
    )
    return f"def f(): return __file__\nTOOLS = [{entries}]\n"


async def test_the_second_folder_with_a_name_fails_whole(folders: Folders) -> None:
    folders.write("alpha", name_tools("add"))
    folders.write("beta", name_tools("multiply", "add"))
    snapshot = await ExtensionLoader(folders.root).reload()
    assert [tool.name for tool in snapshot.tools] == ["add"]
    [failure] = snapshot.failed_extensions
    assert failure.extension == "beta"
    assert failure.error.startswith("Tool name 'add' already belongs to extension 'alpha'")
    assert (failure.file, failure.line) == (str(folders.root / "beta" / "extension.py"), 2)


async def test_names_of_a_folder_that_fails_are_free(folders: Folders) -> None:
    folders.write("alpha", name_tools("first", "bad name"))
    folders.write("beta", name_tools("first"))
    snapshot = await ExtensionLoader(folders.root).reload()
    assert snapshot.loaded_extensions == ("beta",)


async def test_a_failure_that_a_reload_has_not_changed_is_marked(folders: Folders) -> None:
    folders.write("old", "TOOL = (\n")
    loader = ExtensionLoader(folders.root)
    assert [each.unchanged for each in (await loader.reload()).failed_extensions] == [False]
    folders.write("new", "import nothing_of_that_name\n")
    failed = (await loader.reload()).failed_extensions
    assert {each.extension: each.unchanged for each in failed} == {"old": True, "new": False}
    folders.write("old", "\nTOOL = (\n")
    failed = (await loader.reload()).failed_extensions
    assert {each.extension: each.unchanged for each in failed} == {"old": False, "new": True}


async def test_names_differ_by_case(folders: Folders) -> None:
    folders.write("alpha", name_tools("add"))
    folders.write("beta", name_tools("Add"))
    assert len((await ExtensionLoader(folders.root).reload()).tools) == 2


async def test_a_name_of_another_tool_of_the_app_is_refused_with_its_owner(folders: Folders) -> None:
    folders.write("alpha", name_tools("load_skill"))
    loader = ExtensionLoader(folders.root, reserved=lambda: {"load_skill": "the built-in tool load_skill"})
    [failure] = (await loader.reload()).failed_extensions
    assert "belongs to the built-in tool load_skill" in failure.error


async def test_an_excluded_tool_holds_no_name(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXTENSION_EXCLUDED_TOOLS", "load_skill")
    folders.write("alpha", name_tools("load_skill", "other"))
    loader = ExtensionLoader(folders.root, reserved=lambda: {"load_skill": "built in"})
    assert [tool.name for tool in (await loader.reload()).tools] == ["other"]


async def test_a_wrong_edit_cannot_take_a_tool_from_another_folder(folders: Folders) -> None:
    folders.write("alpha", name_tools("one"))
    folders.write("beta", name_tools("two"))
    loader = ExtensionLoader(folders.root)
    await loader.reload()
    folders.write("alpha", name_tools("one", "two"))
    snapshot = await loader.reload()
    assert (snapshot.loaded_extensions, snapshot.kept) == (("beta",), ("alpha",))
    assert "beta" in await ask(snapshot.tools, "two")


async def test_a_name_that_was_given_up_can_be_taken_in_the_same_reload(folders: Folders) -> None:
    folders.write("alpha", name_tools("one"))
    folders.write("beta", name_tools("two"))
    loader = ExtensionLoader(folders.root)
    await loader.reload()
    folders.write("alpha", name_tools("two"))
    folders.write("beta", name_tools("one"))
    snapshot = await loader.reload()
    assert snapshot.failed_extensions == ()
    assert "alpha" in await ask(snapshot.tools, "two")


SKILL = "---\nname: tidy\ndescription: How to tidy up\n---\nTidy up.\n"
AGENT = "---\nname: {name}\ndescription: Looks around\n---\nLook around.\n"


def write_skill(workspace: Path) -> None:
    file = workspace / "skills" / "tidy" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(SKILL)


def write_agent(folder: Path, name: str) -> Path:
    file = folder / "agents" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(AGENT.format(name=name))
    return file


def find_origins(app: Dovetail, name: str) -> list[str]:
    return [tool.origin for tool in app.tools.snapshot() if tool.name == name]


@pytest.mark.parametrize("has_skill", [True, False])
@pytest.mark.parametrize("name", ["load_skill", "sub-agent", "complete_task", "read_artifact", "open-url"])
async def test_names_of_built_in_tools_fail_the_folder_and_never_the_start(
    folders: Folders, tmp_path: Path, name: str, has_skill: bool
) -> None:
    folders.write("alpha", name_tools(name))
    folders.write("beta", name_tools("fine"))
    if has_skill:
        write_skill(tmp_path)
    async with Dovetail({"subagents": {"shape": "dispatcher"}}, workspace=tmp_path) as app:
        [failure] = app.extensions.snapshot.failed_extensions
        assert (failure.extension, "beta" in app.extensions.snapshot.loaded_extensions) == ("alpha", True)
        assert failure.error.startswith(f"Tool name {name!r} already belongs to ")
        assert all(not origin.startswith("extension") for origin in find_origins(app, name))
        assert find_origins(app, "load_skill") == (["skills"] if has_skill else [])
        assert find_origins(app, "sub-agent") == ["agent"]


async def test_an_agent_keeps_its_name_whatever_comes_first(folders: Folders, tmp_path: Path) -> None:
    folders.write("alpha", name_tools("scout"))
    folders.write("beta", name_tools("fine"))

    async def check(app: Dovetail) -> None:
        [failure] = app.extensions.snapshot.failed_extensions
        assert failure.extension == "alpha"
        assert "'scout' already belongs to agent 'scout' (" in failure.error
        assert find_origins(app, "scout") == ["agent"]

    async with Dovetail(workspace=tmp_path) as app:
        assert find_origins(app, "scout") == ["extension:alpha"]
        agent = write_agent(tmp_path, "scout")  # the agent comes while the extension serves
        await app.reload()
        await check(app)
    async with Dovetail(workspace=tmp_path) as app:  # and is there at a restart
        await check(app)
        agent.unlink()
        await app.reload()
        assert find_origins(app, "scout") == ["extension:alpha"]


async def test_an_agent_from_code_keeps_its_name(folders: Folders, tmp_path: Path) -> None:
    folders.write("alpha", name_tools("scout"))
    app = Dovetail(workspace=tmp_path)
    app.agents.register_agent(AgentDefinition(name="scout", description="Looks around"))
    async with app:
        assert "belongs to agent 'scout' (code)" in app.extensions.snapshot.failed_extensions[0].error
        assert find_origins(app, "scout") == ["agent"]


@pytest.mark.parametrize(("first", "second"), [("alpha", "beta"), ("beta", "alpha")])
async def test_an_agent_of_another_folder_keeps_its_name(
    folders: Folders, tmp_path: Path, first: str, second: str
) -> None:
    write_agent(folders.write(first, name_tools("fine")), "scout")
    folders.write(second, name_tools("scout"))
    async with Dovetail(workspace=tmp_path) as app:
        [failure] = app.extensions.snapshot.failed_extensions
        assert failure.extension == second
        assert f"belongs to agent 'scout' of extension {first!r}" in failure.error
        assert find_origins(app, "scout") == ["agent"]


async def test_a_folder_may_not_call_its_tool_like_its_own_agent(folders: Folders, tmp_path: Path) -> None:
    write_agent(folders.write("alpha", name_tools("scout")), "scout")
    async with Dovetail(workspace=tmp_path) as app:
        assert [failure.extension for failure in app.extensions.snapshot.failed_extensions] == ["alpha"]


async def test_an_agent_that_is_not_a_tool_leaves_its_name_free(folders: Folders, tmp_path: Path) -> None:
    folders.write("alpha", name_tools("scout"))
    file = write_agent(tmp_path, "scout")
    file.write_text(file.read_text().replace("name: scout", "name: scout\ntool: false"))
    async with Dovetail(workspace=tmp_path) as app:
        assert find_origins(app, "scout") == ["extension:alpha"]


async def test_a_tool_of_an_mcp_server_steps_aside_whatever_comes_first(
    folders: Folders, tmp_path: Path
) -> None:
    def make(name: str) -> Tool:
        return make_tool(
            lambda: "mcp", name=name, origin="mcp:files", source=name, steps_aside=True, description="d"
        )

    async with Dovetail(workspace=tmp_path) as app:
        app.tools.publish("mcp:files", [make("read"), make("scout"), make("other")])
        folders.write("alpha", name_tools("read"))
        write_agent(tmp_path, "scout")
        snapshot = await app.reload()
        assert snapshot.failed_extensions == ()
        names = {
            name: find_origins(app, name) for name in ("read", "scout", "files_read", "files_scout", "other")
        }
        assert names == {
            "read": ["extension:alpha"],
            "scout": ["agent"],
            "files_read": ["mcp:files"],
            "files_scout": ["mcp:files"],
            "other": ["mcp:files"],
        }


@pytest.mark.parametrize("name", ["größe", "a.b", "x" * 65, "two words", ""])
async def test_a_name_that_providers_refuse_fails_the_folder(folders: Folders, name: str) -> None:
    folders.write("alpha", name_tools(name))
    folders.write("beta", name_tools("x" * 64))
    snapshot = await ExtensionLoader(folders.root).reload()
    assert snapshot.loaded_extensions == ("beta",)
    assert "name must be" in snapshot.failed_extensions[0].error


async def test_an_agent_that_the_settings_switch_off_leaves_its_name_free(
    folders: Folders, tmp_path: Path
) -> None:
    folders.write("alpha", name_tools("scout"))
    write_agent(tmp_path, "scout")
    async with Dovetail({"agents": {"scout": {"enabled": False}}}, workspace=tmp_path) as app:
        assert find_origins(app, "scout") == ["extension:alpha"]
