"""Tool names are unique; whoever has one keeps it."""

import pytest

from dovetail.extensions import ExtensionLoader
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
    assert failure.error.startswith("tool name 'add' already belongs to extension 'alpha'")
    assert (failure.file, failure.line) == (str(folders.root / "beta" / "extension.py"), 2)


async def test_names_of_a_folder_that_fails_are_free(folders: Folders) -> None:
    folders.write("alpha", name_tools("first", "bad name"))
    folders.write("beta", name_tools("first"))
    snapshot = await ExtensionLoader(folders.root).reload()
    assert snapshot.loaded_extensions == ("beta",)


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
