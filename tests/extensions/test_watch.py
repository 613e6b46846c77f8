"""Changes below watched folders are reported once it is quiet."""

import asyncio
import itertools
from pathlib import Path

from dovetail.extensions import ExtensionLoader
from dovetail.extensions.watch import Changes, watch
from extension_folders import Folders, ask
from patience import PATIENCE


async def test_an_edit_leads_to_a_reload(folders: Folders) -> None:
    folders.write_tool("one", "ask", "old")
    loader = ExtensionLoader(folders.root)
    await loader.reload()
    stop = asyncio.Event()
    changes = watch(loader.roots, stop=stop)
    following = asyncio.ensure_future(anext(changes))
    async with asyncio.timeout(PATIENCE):
        for number in itertools.count():  # nobody says when a watcher has begun to watch
            folders.write_tool("one", "ask", f"new {number}")
            if (await asyncio.wait({following}, timeout=0.3))[0]:
                break
    assert folders.root / "one" / "extension.py" in following.result()
    assert (await ask((await loader.reload()).tools, "ask")).startswith("new")
    stop.set()
    assert [change async for change in changes] == []


async def test_a_folder_that_comes_into_being_is_watched(tmp_path: Path) -> None:
    late = tmp_path / "extensions"
    changes = watch([late])
    following = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(0)
    late.mkdir()
    assert await asyncio.wait_for(following, PATIENCE) == {late}
    await changes.aclose()


async def test_a_set_stop_ends_the_iteration(tmp_path: Path) -> None:
    stop = asyncio.Event()
    stop.set()
    assert [change async for change in watch([tmp_path, tmp_path / "nowhere"], stop=stop)] == []


async def test_a_single_file_is_watched_as_it_comes_changes_and_goes(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    changes = watch([file])
    for act in (lambda: file.write_text("a"), lambda: file.write_text("bb"), file.unlink):
        following = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)
        act()
        assert await asyncio.wait_for(following, PATIENCE) == {file}
    await changes.aclose()


def test_a_look_finds_what_has_changed_since_the_last_one(tmp_path: Path) -> None:
    changes = Changes([tmp_path / "extensions", tmp_path / "policy.toml"])
    assert not changes.look()
    (tmp_path / "extensions" / "one").mkdir(parents=True)
    (tmp_path / "extensions" / "one" / "extension.py").write_text("TOOLS = []\n")
    assert changes.look()
    (tmp_path / "extensions" / "one" / "orders.db").write_text("written while running")
    assert not changes.look()
    (tmp_path / "policy.toml").touch()
    assert changes.look()
    (tmp_path / "extensions" / "one" / "extension.py").unlink()
    assert changes.look()
    assert not changes.look()
