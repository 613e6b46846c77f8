"""Versions live as long as they are used, share their state, and give everything back."""

import asyncio
import gc
import logging
import resource
import sys
from pathlib import Path

import pytest

from dovetail import Dovetail
from dovetail.extensions import ExtensionLoader
from dovetail.extensions.importing import list_packages
from dovetail.tools.tool import ToolContext
from extension_folders import LIMIT, Folders, ask
from leap import end_late
from patience import PATIENCE

COUNTING = """
import logging
logging.getLogger(__name__).debug("version {version}")
_life = {{}}

def note(context, text):
    with (context.workspace / "log.txt").open("a") as file:
        file.write(text + "\\n")

def setup(context):
    _life["context"] = context
    context.state["setups"] = context.state.get("setups", 0) + 1
    note(context, "setup {version}")

def teardown():
    note(_life["context"], f"teardown {version} {{_life['context'].is_last}}")

def count():
    return "{version} " + str(_life["context"].state["setups"])

TOOL = dict(label="x", name="count", description="d", parameters={{}}, execute=count)
"""


async def settle() -> None:
    """Let unreferenced versions end: their teardowns are the only other tasks."""
    gc.collect()
    await asyncio.sleep(0)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.wait_for(asyncio.gather(*others), PATIENCE)
    gc.collect()


def read_log(folder: Path) -> list[str]:
    return (folder / "log.txt").read_text().splitlines()


async def test_state_survives_and_teardown_waits_for_the_last_user(folders: Folders, tmp_path: Path) -> None:
    folders.write("one", COUNTING.format(version=1))
    loader = ExtensionLoader(folders.root, workspace=tmp_path)
    old = (await loader.reload()).tools
    folders.write("one", COUNTING.format(version=2))
    new = (await loader.reload()).tools
    assert [await ask(old, "count"), await ask(new, "count")] == ["1 2", "2 2"]
    assert read_log(tmp_path) == ["setup 1", "setup 2"]
    old = ()
    await settle()
    assert read_log(tmp_path) == ["setup 1", "setup 2", "teardown 1 False"]
    await loader.close()
    assert read_log(tmp_path)[-1] == "teardown 2 True"
    assert new


async def test_a_running_call_keeps_its_version(folders: Folders) -> None:
    source = """
    import asyncio
    async def wait(context: "ToolContext"):
        context.update("started")
        await context.cancelled.wait()
        from .late import ANSWER
        return ANSWER
    from dovetail.tools.tool import ToolContext
    TOOL = dict(label="x", name="wait", description="d", parameters={}, execute=wait)
    """
    folders.write("one", source, late="ANSWER = 'old'\n")
    loader = ExtensionLoader(folders.root)
    started, cancelled = asyncio.Event(), asyncio.Event()
    tool = (await loader.reload()).tools[0]
    task = asyncio.create_task(
        tool.execute({}, ToolContext(call_id="1", cancelled=cancelled, update=lambda _: started.set()))
    )
    del tool
    await started.wait()
    folders.write_tool("one", "other")
    await loader.reload()
    gc.collect()
    cancelled.set()
    assert await task == "old"


async def test_a_failing_setup_keeps_the_last_good_version(folders: Folders, tmp_path: Path) -> None:
    folders.write("one", COUNTING.format(version=1))
    loader = ExtensionLoader(folders.root, workspace=tmp_path)
    await loader.reload()
    folders.write(
        "one", COUNTING.format(version=2).replace('_life["context"] = context', "raise OSError('full')")
    )
    snapshot = await loader.reload()
    assert snapshot.kept == ("one",)
    [failure] = snapshot.failed_extensions
    line = (folders.root / "one" / "extension.py").read_text().split("raise OSError")[0].count("\n") + 1
    assert (failure.error, failure.line) == ("setup() failed: OSError: full", line)
    assert await ask(snapshot.tools, "count") == "1 1"
    await settle()
    assert read_log(tmp_path) == ["setup 1"]


@pytest.mark.parametrize(
    ("setup", "reason", "line"),
    [
        ("def setup(context):\n    import sys; sys.exit(1)", "SystemExit: 1", 2),
        ("async def setup(context):\n    import sys; sys.exit(1)", "SystemExit: 1", 2),
        ("async def setup(context):\n    raise KeyboardInterrupt('no')", "KeyboardInterrupt: no", 2),
        ("async def setup(context):\n    raise BaseException('no')", "BaseException: no", 2),
        ("def setup(context):\n    raise BaseException('no')", "BaseException: no", 2),
        ("import asyncio\nasync def setup(context):\n    raise asyncio.CancelledError", "CancelledError", 3),
        (
            "import time\ndef setup(context):\n    open(BEGUN, 'w').close()\n    time.sleep(3600)",
            "timed out after 60 s",
            None,
        ),
        ("def setup():\n    pass", "setup() takes 0 positional arguments but 1 was given", None),
    ],
)
async def test_a_setup_that_leaves_or_hangs_is_a_failure(
    folders: Folders, setup: str, reason: str, line: int | None, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    folders.write_tool("two", "ask_two")
    loader = ExtensionLoader(folders.root, time_limit=LIMIT)
    await loader.reload()
    folders.write("one", f"{setup}\n".replace("BEGUN", repr(str(begun))))
    with (folders.root / "one" / "extension.py").open("a") as file:
        file.write("TOOL = dict(label='x', name='a', description='d', parameters={}, execute=lambda: 1)\n")
    snapshot = await end_late(loader.reload(), begun)
    assert snapshot.loaded_extensions == ("two",)
    [failure] = snapshot.failed_extensions
    assert failure.error.startswith("setup() failed: ")
    assert reason in failure.error
    assert failure.line == line


async def test_an_async_setup_and_a_failing_teardown(
    folders: Folders, caplog: pytest.LogCaptureFixture
) -> None:
    source = """
    async def setup(context):
        context.state["ready"] = True
    async def teardown():
        raise ValueError("stuck")
    TOOL = dict(label="x", name="a", description="d", parameters={}, execute=lambda: 1)
    """
    folders.write("stuck", source)
    loader = ExtensionLoader(folders.root)
    await loader.reload()
    with caplog.at_level(logging.ERROR, "dovetail.extensions"):
        await loader.close()
    assert "teardown() of extension 'stuck' failed" in caplog.text
    assert list_packages("stuck") == []


async def test_a_tool_that_leaves_does_not_take_the_loop_along(folders: Folders) -> None:
    folders.write(
        "one",
        """
        import sys
        async def leave(): sys.exit(2)
        TOOL = dict(label="x", name="leave", description="d", parameters={}, execute=leave)
        """,
    )
    tools = (await ExtensionLoader(folders.root).reload()).tools
    assert "sys.exit(2)" in await ask(tools, "leave")


def read_memory() -> int:
    """The memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


async def test_500_reloads_leave_nothing_behind(folders: Folders, tmp_path: Path) -> None:
    loader = ExtensionLoader(folders.root, workspace=tmp_path)
    ballast = "BALLAST = list(range(10_007))\n"  # a length that no other list of the process has

    async def reload(version: int) -> None:
        source = "from .helper import BALLAST\n" + COUNTING.format(version=version)
        folders.write("many", source, helper=ballast)
        snapshot = await loader.reload()
        assert await ask(snapshot.tools, "count") == f"{version} {version}"

    async def measure() -> int:
        await settle()
        assert len(list_packages("many")) == 1
        return len(sys.modules) + len(logging.root.manager.loggerDict)

    for version in range(1, 251):
        await reload(version)
    before, memory = await measure(), read_memory()
    for version in range(251, 501):
        await reload(version)
    assert await measure() - before < 100  # a version has three; threads of other tests may import a few
    assert read_memory() - memory < 30_000_000  # one version is about 0.4 MB
    assert sum(type(each) is list and len(each) == 10_007 for each in gc.get_objects()) == 1
    assert len(read_log(tmp_path)) == 999


WAITING = """
import os, time
def setup(context):
    {first}
    while not os.path.exists({awaited!r}): time.sleep(0.01)
TOOL = dict(label='x', name={name!r}, description='d', parameters={{}}, execute=lambda: 1)
"""


async def test_a_slow_setup_does_not_hold_up_the_others(folders: Folders, tmp_path: Path) -> None:
    gate = str(tmp_path / "gate")
    folders.write("one", WAITING.format(first="pass", awaited=gate, name="a"))  # waits for the second one
    folders.write("two", WAITING.format(first=f"open({gate!r}, 'w').close()", awaited=gate, name="b"))
    snapshot = await ExtensionLoader(folders.root, time_limit=PATIENCE).reload()
    assert snapshot.loaded_extensions == ("one", "two")


async def test_a_setup_that_took_too_long_is_not_tried_again_until_a_file_changes(
    folders: Folders, tmp_path: Path
) -> None:
    count, never = tmp_path / "count", str(tmp_path / "never")
    first = f"with open({str(count)!r}, 'a') as file: file.write('x')"
    folders.write("one", WAITING.format(first=first, awaited=never, name="a"))
    loader = ExtensionLoader(folders.root, time_limit=LIMIT)
    for _ in range(3):
        assert "timed out after 60 s" in (await end_late(loader.reload(), count)).failed_extensions[0].error
    assert count.read_text() == "x"
    folders.write("one", WAITING.format(first="return", awaited=never, name="a"))
    assert (await loader.reload()).loaded_extensions == ("one",)


async def test_setup_gets_the_settings_of_its_folder(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICKETS_TOKEN", "t-1")
    (tmp_path / "dovetail.toml").write_text(
        '[extensions.tickets]\nurl = "https://tickets"\ntoken = "${TICKETS_TOKEN}"\n'
        '[extensions.broken]\ntoken = "${NOT_SET_ANYWHERE}"\n'
    )
    source = """
    seen = {}
    def setup(context): seen.update(context.settings)
    def show(): return str(sorted(seen.items()))
    TOOL = dict(label='x', name=NAME, description='d', parameters={}, execute=show)
    """
    for name in ("tickets", "plain", "broken"):
        folders.write(name, source.replace("NAME", repr(name)))
    async with Dovetail(workspace=tmp_path) as app:
        tools = list(app.tools.snapshot())
        assert await ask(tools, "tickets") == "[('token', 't-1'), ('url', 'https://tickets')]"
        assert await ask(tools, "plain") == "[]"
        [failure] = app.extensions.snapshot.failed_extensions
        assert (failure.extension, "NOT_SET_ANYWHERE" in failure.error) == ("broken", True)
