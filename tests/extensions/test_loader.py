"""Folders are found, loaded, reloaded and reported; a broken one does not affect the others."""

import asyncio
import logging
import os
import shutil
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from dovetail import Dovetail
from dovetail.events.call import Kind
from dovetail.extensions import ExtensionLoader, ExtensionSnapshot, to_langchain
from dovetail.extensions.importing import list_packages
from dovetail.policy.rule import PolicyCall
from extension_folders import ONE_TOOL, Folders, SlowFolder, ask, call_tool
from patience import PATIENCE

WEATHER = """
def get_weather(city: str, unit: str = "c") -> str:
    return f"{city} in {unit}"

TOOL = {
    "label": "weather",
    "name": "get_weather",
    "description": "Query current weather by city",
    "parameters": {
        "city": {"type": "string", "description": "City name", "required": True},
        "unit": {"type": "string", "description": "c or f", "default": "c"},
    },
    "execute": get_weather,
}
"""


async def test_a_dropped_in_folder_becomes_a_tool(folders: Folders) -> None:
    folders.write("weather", WEATHER)
    loader = ExtensionLoader(folders.root)
    assert loader.snapshot.version == 0
    snapshot = await loader.reload()
    assert snapshot is loader.snapshot
    assert (snapshot.version, snapshot.loaded_extensions, snapshot.failed_extensions) == (1, ("weather",), ())
    [tool] = snapshot.tools
    assert (tool.name, tool.tags, tool.origin, tool.kind) == (
        "get_weather",
        ("weather",),
        "extension:weather",
        Kind.Other,
    )
    outcome = await call_tool(snapshot.tools, "get_weather", city="Kyoto")
    assert (outcome.status, outcome.result.llm_content) == ("ok", "Kyoto in c")


async def test_several_tools_sync_and_async_and_a_kind(folders: Folders) -> None:
    folders.write(
        "math",
        """
        import functools

        async def add(a: float, b: float) -> str:
            return str(a + b)

        def double(a: float) -> str:
            return str(2 * a)

        class Negate:
            async def __call__(self, a: float) -> str:
                return str(-a)

        A = {"a": {"type": "number", "required": True}}
        AB = {**A, "b": {"type": "number", "required": True}}
        TOOLS = [
            {"label": "m", "name": "add", "description": "+", "parameters": AB, "execute": add,
             "kind": "Think"},
            {"label": "m", "name": "double", "description": "*2", "parameters": A, "execute": double},
            {"label": "m", "name": "negate", "description": "-", "parameters": A, "execute": Negate()},
            {"label": "m", "name": "add_one", "description": "+1", "parameters": A,
             "execute": functools.partial(add, b=1)},
        ]
        """,
    )
    tools = (await ExtensionLoader(folders.root).reload()).tools
    assert [tool.kind for tool in tools] == [Kind.Think, Kind.Other, Kind.Other, Kind.Other]
    contents = [await ask(tools, "add", a=1, b=2)]
    contents += [await ask(tools, name, a=2) for name in ("double", "negate", "add_one")]
    assert contents == ["3.0", "4.0", "-2.0", "3.0"]


async def test_a_broken_edit_keeps_the_last_good_version(folders: Folders) -> None:
    folders.write_tool("one", "ask_one", "old")
    folders.write_tool("two", "ask_two")
    loader = ExtensionLoader(folders.root)
    await loader.reload()
    folders.write("one", "def broken(:\n")
    snapshot = await loader.reload()
    assert (snapshot.version, snapshot.loaded_extensions, snapshot.kept) == (2, ("two",), ("one",))
    [failure] = snapshot.failed_extensions
    assert (failure.extension, failure.kept, failure.line) == ("one", True, 1)
    assert failure.file == str(folders.root / "one" / "extension.py")
    assert "SyntaxError" in failure.error
    assert await ask(snapshot.tools, "ask_one") == "old"
    folders.write_tool("one", "ask_one", "new")
    snapshot = await loader.reload()
    assert (snapshot.kept, snapshot.failed_extensions) == ((), ())
    assert await ask(snapshot.tools, "ask_one") == "new"


async def test_going_back_to_the_version_in_service_imports_nothing(folders: Folders) -> None:
    folders.write_tool("one", "ask_one")
    loader = ExtensionLoader(folders.root)
    before = (await loader.reload()).tools
    folders.write("one", "broken(")
    await loader.reload()
    folders.write_tool("one", "ask_one")
    snapshot = await loader.reload()
    assert snapshot.unchanged == ("one",)
    assert snapshot.tools[0] is before[0]


async def test_a_removed_folder_is_gone_and_said_so(folders: Folders) -> None:
    folder = folders.write_tool("one", "ask_one")
    folders.write_tool("two", "ask_two")
    loader = ExtensionLoader(folders.root)
    await loader.reload()
    (folder / "extension.py").unlink()
    snapshot = await loader.reload()
    assert (snapshot.removed, [tool.name for tool in snapshot.tools]) == (("one",), ["ask_two"])


async def test_two_saves_of_the_same_length_in_one_moment_are_distinguished(folders: Folders) -> None:
    loader = ExtensionLoader(folders.root)
    for answer in ("aaa", "bbb", "ccc"):
        folders.write_tool("one", "ask", answer)
        snapshot = await loader.reload()
        assert await ask(snapshot.tools, "ask") == answer


async def test_of_200_folders_one_change_imports_one(folders: Folders) -> None:
    for number in range(200):
        folders.write_tool(f"folder_{number:03}", f"tool_{number}")
    loader = ExtensionLoader(folders.root, time_limit=30)
    first = await loader.reload()
    folders.write_tool("folder_077", "tool_77", "changed")
    second = await loader.reload()
    assert len(second.tools) == 200
    assert len(second.unchanged) == 199
    changed = [new.name for old, new in zip(first.tools, second.tools, strict=True) if new is not old]
    assert changed == ["tool_77"]


async def test_a_missing_root_is_an_empty_one(tmp_path: Path) -> None:
    snapshot = await ExtensionLoader(tmp_path / "nowhere").reload()
    assert snapshot.to_dict() == {
        "version": 1,
        "loaded_extensions": [],
        "failed_extensions": [],
        "tools": [],
        "kept": [],
        "loading": [],
        "removed": [],
        "unchanged": [],
        "excluded": [],
        "notices": [],
    }


async def test_a_folder_of_an_earlier_root_hides_its_namesake(folders: Folders, tmp_path: Path) -> None:
    folders.write_tool("one", "ask_one", "ours")
    shipped = tmp_path / "shipped"
    folders.root.rename(shipped)
    folders.root.mkdir()
    folders.write_tool("one", "ask_one", "theirs")
    snapshot = await ExtensionLoader(folders.root, shipped).reload()
    assert await ask(snapshot.tools, "ask_one") == "theirs"
    [notice] = snapshot.notices
    assert notice.text == f"{shipped / 'one'} is not loaded: {folders.root / 'one'} has the same name."


async def test_a_copy_of_a_folder_of_an_earlier_root_is_not_worth_a_notice(
    folders: Folders, tmp_path: Path
) -> None:
    folders.write_tool("one", "ask_one", "ours")
    shutil.copytree(folders.root, tmp_path / "shipped")
    snapshot = await ExtensionLoader(folders.root, tmp_path / "shipped").reload()
    assert list(snapshot.loaded_extensions) == ["one"]
    assert not snapshot.notices


async def test_an_excluded_folder_has_no_notices(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders.write_tool("one", "ask_one")
    monkeypatch.setenv("EXTENSION_EXCLUDED_EXTENSIONS", "One")
    shutil.copytree(folders.root, tmp_path / "shipped")
    snapshot = await ExtensionLoader(folders.root, tmp_path / "shipped").reload()
    assert (snapshot.excluded, snapshot.notices) == (("one",), ())


async def test_what_looks_like_an_extension_and_is_none_is_explained(folders: Folders) -> None:
    (folders.root / "weather.py").write_text("TOOL = {}")
    (folders.root / "README.md").write_text("hello")
    (folders.root / "empty").mkdir()
    (folders.root / ".hidden").mkdir()
    (folders.root / "misspelt").mkdir()
    (folders.root / "misspelt" / "extensions.py").write_text("TOOL = {}")
    snapshot = await ExtensionLoader(folders.root).reload()
    assert [notice.extension for notice in snapshot.notices] == ["misspelt", "weather"]
    assert "weather/extension.py" in snapshot.notices[1].text


async def test_an_unreadable_folder_is_a_failure_of_its_own(folders: Folders) -> None:
    folder = folders.write_tool("one", "ask_one")
    folders.write_tool("two", "ask_two")
    (folder / "data.txt").symlink_to("/proc/self/mem")  # exists and cannot be read
    snapshot = await ExtensionLoader(folders.root).reload()
    assert snapshot.loaded_extensions == ("two",)
    assert "cannot be read" in snapshot.failed_extensions[0].error


async def test_contributed_files_are_handed_over_as_paths(folders: Folders) -> None:
    folder = folders.write_tool("team", "ask_team")
    (folder / "agents").mkdir()
    (folder / "agents" / "helper.md").write_text("You help.")
    (folder / "skills" / "greet").mkdir(parents=True)
    (folder / "skills" / "greet" / "SKILL.md").write_text("Say hello.")
    (folder / "policy.toml").write_text("")
    snapshot = await ExtensionLoader(folders.root).reload()
    assert snapshot.agent_folders == (folder / "agents",)
    assert snapshot.skill_roots == (folder,)
    assert snapshot.policy_files == (folder / "policy.toml",)


async def test_a_failure_is_logged_once_until_it_changes(
    folders: Folders, caplog: pytest.LogCaptureFixture
) -> None:
    loader = ExtensionLoader(folders.root)
    folders.write("one", "raise ValueError('first')")
    with caplog.at_level(logging.ERROR, "dovetail.extensions"):
        await loader.reload()
        await loader.reload()
        assert [record.getMessage().count("first") for record in caplog.records] == [1]
        folders.write("one", "raise ValueError('second')")
        await loader.reload()
    assert "second" in caplog.records[-1].getMessage()
    assert len(caplog.records) == 2


async def test_an_environment_that_changes_between_reloads_is_read_again(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders.write_tool("one", "ask_one")
    folders.write_tool("two", "ask_two")
    loader = ExtensionLoader(folders.root)
    assert len((await loader.reload()).tools) == 2
    monkeypatch.setenv("EXTENSION_EXCLUDED_TOOLS", "Ask_One")
    snapshot = await loader.reload()
    assert [tool.name for tool in snapshot.tools] == ["ask_two"]
    assert snapshot.loaded_extensions == ("one", "two")
    monkeypatch.setenv("EXTENSION_EXCLUDED_EXTENSIONS", "TWO")
    snapshot = await loader.reload()
    assert (snapshot.tools, snapshot.excluded, snapshot.removed) == ((), ("two",), ("two",))


async def test_a_circular_import_is_reported_once_with_readable_names(
    folders: Folders, caplog: pytest.LogCaptureFixture
) -> None:
    folders.write("my_ext", "from .helper import X\n", helper="from .extension import TOOL\nX = 1\n")
    loader = ExtensionLoader(folders.root)
    errors = {(await loader.reload()).failed_extensions[0].error for _ in range(3)}
    assert len(errors) == 1
    assert "from partially initialized module 'my_ext.extension'" in errors.pop()
    assert len([record for record in caplog.records if "my_ext" in record.getMessage()]) == 1


async def test_a_folder_may_bring_only_agents_skills_or_rules(folders: Folders, tmp_path: Path) -> None:
    for path, text in {
        "team/agents/scout.md": "---\nname: scout\ndescription: Looks around\n---\nLook.\n",
        "manual/skills/tidy/SKILL.md": "---\nname: tidy\ndescription: How to tidy up\n---\nTidy.\n",
        "rules/policy.toml": '[[rule]]\ntool = "fetch_url"\naction = "deny"\n',
        "notes/readme.txt": "nothing to load",
    }.items():
        (folders.root / path).parent.mkdir(parents=True)
        (folders.root / path).write_text(text)
    async with Dovetail(workspace=tmp_path) as app:
        snapshot = app.extensions.snapshot
        assert {"team", "manual", "rules"} <= set(snapshot.loaded_extensions)
        assert "notes" not in snapshot.loaded_extensions
        assert [notice.extension for notice in snapshot.notices] == ["notes"]
        assert app.tools.get_tool("scout") is not None
        assert app.tools.get_tool("load_skill") is not None
        call = PolicyCall(tool="fetch_url", kind=Kind.Fetch, args={})
        assert app.runtime.policy.decide(call).action == "deny"
        (folders.root / "team" / "agents" / "scout.md").unlink()
        assert (await app.reload()).removed == ("team",)


async def test_a_file_whose_name_is_not_utf_8_is_data_like_any_other(folders: Folders) -> None:
    folder = folders.write_tool("one", "ask_one")
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("menu")
    assert (await ExtensionLoader(folders.root).reload()).loaded_extensions == ("one",)


async def test_modules_behind_a_link_are_reloaded_too(folders: Folders, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "__init__.py").write_text("ANSWER = 'first'")
    folders.write("one", WEATHER.replace('f"{city} in {unit}"', "ANSWER") + "from .shared import ANSWER\n")
    (folders.root / "one" / "shared").symlink_to(shared)
    (folders.root / "one" / "back").symlink_to(folders.root / "one")
    (folders.root / "one" / "above").symlink_to(tmp_path)
    loader = ExtensionLoader(folders.root)
    assert await ask((await loader.reload()).tools, "get_weather", city="Bern") == "first"
    (shared / "__init__.py").write_text("ANSWER = 'second'")
    assert await ask((await loader.reload()).tools, "get_weather", city="Bern") == "second"
    assert (await loader.reload()).unchanged == ("one",)


SOURCE = """
async def get_weather(city: str, unit: str = "c") -> str:
    return f"{city} in {unit}"

TOOL = {
    "label": "weather",
    "name": "get_weather",
    "description": "Query current weather by city",
    "parameters": {"city": {"type": "string", "required": True}, "unit": {"type": "string", "default": "c"}},
    "execute": get_weather,
}
"""


async def test_the_label_is_a_tag_and_a_call_goes_through(folders: Folders) -> None:
    folders.write("weather", SOURCE)
    [tool] = (await ExtensionLoader(folders.root).reload()).tools
    made = to_langchain(tool)
    assert (made.name, made.tags, made.description) == (
        "get_weather",
        ["weather"],
        "Query current weather by city",
    )
    assert await made.ainvoke({"city": "Rome"}) == "Rome in c"


@asynccontextmanager
async def reloading(
    loader: ExtensionLoader, slow: SlowFolder
) -> AsyncGenerator[asyncio.Task[ExtensionSnapshot]]:
    """A reload that waits for the slow folder."""
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        task = group.create_task(loader.reload())
        await slow.begun()
        yield task


@pytest.mark.parametrize("in_setup", [False, True], ids=["import", "setup"])
async def test_an_edit_is_taken_up_while_another_folder_is_slow(
    folders: Folders, tmp_path: Path, in_setup: bool
) -> None:
    folders.write_tool("slow", "ask_slow", "old")
    folders.write_tool("other", "ask_other", "old")
    loader = ExtensionLoader(folders.root, time_limit=PATIENCE)
    await loader.reload()
    slow = SlowFolder(folders, tmp_path / "gate", in_setup=in_setup)
    slow.edit(ONE_TOOL.format(name="ask_slow", answer="new"))
    async with reloading(loader, slow) as earlier:
        folders.write_tool("other", "ask_other", "new")
        snapshot = await loader.reload()
        assert not earlier.done()
        assert (snapshot.version, snapshot.loading, snapshot.failed_extensions) == (2, ("slow",), ())
        assert snapshot.loaded_extensions == ("other",)
        assert [await ask(snapshot.tools, name) for name in ("ask_slow", "ask_other")] == ["old", "new"]
        slow.let_through()
    snapshot = earlier.result()
    assert (snapshot.version, snapshot.loading, snapshot.unchanged) == (3, (), ("other",))
    assert snapshot.loaded_extensions == ("other", "slow")
    assert [await ask(snapshot.tools, name) for name in ("ask_slow", "ask_other")] == ["new", "new"]
    await loader.close()


async def test_a_slow_folder_is_imported_once_however_many_reloads_pass_it(
    folders: Folders, tmp_path: Path
) -> None:
    slow = SlowFolder(folders, tmp_path / "gate")
    slow.edit(ONE_TOOL.format(name="ask_slow", answer="new"))
    loader = ExtensionLoader(folders.root, time_limit=PATIENCE)
    before = [thread.name for thread in threading.enumerate()].count("import-slow")
    async with reloading(loader, slow) as earlier:
        for version in (1, 2):
            snapshot = await loader.reload()
            assert (snapshot.version, snapshot.loading, snapshot.tools) == (version, ("slow",), ())
        assert [thread.name for thread in threading.enumerate()].count("import-slow") == before + 1
        slow.let_through()
    assert (earlier.result().version, earlier.result().loaded_extensions) == (3, ("slow",))


async def test_a_newer_edit_takes_the_place_of_a_slow_import(folders: Folders, tmp_path: Path) -> None:
    slow = SlowFolder(folders, tmp_path / "gate")
    slow.edit(ONE_TOOL.format(name="ask_slow", answer="slow"))
    loader = ExtensionLoader(folders.root, time_limit=PATIENCE)
    async with reloading(loader, slow) as earlier:
        folders.write_tool("slow", "ask_slow", "quick")
        snapshot = await loader.reload()
        assert await ask(snapshot.tools, "ask_slow") == "quick"
        assert (await earlier).loading == ("slow",)
        slow.let_through()
    assert await ask((await loader.reload()).tools, "ask_slow") == "quick"


async def test_a_name_that_a_slow_folder_no_longer_has_is_free_when_it_is_loaded(
    folders: Folders, tmp_path: Path
) -> None:
    folders.write_tool("slow", "ask_other")
    loader = ExtensionLoader(folders.root, time_limit=PATIENCE)
    await loader.reload()
    slow = SlowFolder(folders, tmp_path / "gate")
    slow.edit(ONE_TOOL.format(name="ask_slow", answer="new"))
    async with reloading(loader, slow) as earlier:
        folders.write_tool("other", "ask_other")
        [failure] = (await loader.reload()).failed_extensions
        assert failure.error.startswith("Tool name 'ask_other' already belongs to extension 'slow'")
        slow.let_through()
    snapshot = earlier.result()
    assert (snapshot.loaded_extensions, snapshot.failed_extensions) == (("other", "slow"), ())


async def test_a_slow_folder_that_fails_keeps_its_last_good_version_and_harms_no_later_edit(
    folders: Folders, tmp_path: Path
) -> None:
    folders.write_tool("slow", "ask_slow", "old")
    loader = ExtensionLoader(folders.root, time_limit=PATIENCE)
    await loader.reload()
    slow = SlowFolder(folders, tmp_path / "gate")
    slow.edit("raise ValueError('bad')\n")
    async with reloading(loader, slow) as earlier:
        folders.write_tool("other", "ask_other", "new")
        await loader.reload()
        slow.let_through()
    snapshot = earlier.result()
    [failure] = snapshot.failed_extensions
    assert (failure.extension, failure.kept, failure.error) == ("slow", True, "ValueError: bad")
    assert [await ask(snapshot.tools, name) for name in ("ask_slow", "ask_other")] == ["old", "new"]


async def test_a_loader_that_closes_does_not_wait_for_a_slow_import(folders: Folders, tmp_path: Path) -> None:
    slow = SlowFolder(folders, tmp_path / "gate")
    slow.edit(ONE_TOOL.format(name="ask_slow", answer="new"))
    loader = ExtensionLoader(folders.root, time_limit=PATIENCE)
    before = set(list_packages("slow"))
    async with reloading(loader, slow) as earlier:
        await loader.close()
        assert (await earlier).loading == ("slow",)
        [thread] = [each for each in threading.enumerate() if each.name == "import-slow"]
        slow.let_through()
        await asyncio.to_thread(thread.join)
    assert set(list_packages("slow")) <= before


async def test_reloads_at_the_same_time_set_a_version_up_once(folders: Folders, tmp_path: Path) -> None:
    count = tmp_path / "count"
    setup = f"def setup(context):\n    with open({str(count)!r}, 'a') as file: file.write('x')\n"
    folders.write("one", setup + ONE_TOOL.format(name="ask_one", answer="yes"))
    loader = ExtensionLoader(folders.root, time_limit=PATIENCE)
    snapshots = await asyncio.gather(*(loader.reload() for _ in range(3)))
    assert [snapshot.loaded_extensions for snapshot in snapshots] == [("one",)] * 3
    assert count.read_text() == "x"
