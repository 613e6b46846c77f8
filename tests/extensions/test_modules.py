"""A folder may hold further modules; each version has its own."""

from pathlib import Path

from dovetail.extensions import ExtensionLoader
from extension_folders import Folders, ask

ENTRY = """
from .helper import ANSWER
from .deep.inner import DEPTH

def now():
    return f"{ANSWER} {DEPTH}"

def late():
    from .lazy import LATE
    return LATE

def where():
    import json
    from pathlib import Path
    return json.loads((Path(__file__).parent / "data.json").read_text())["place"]

TOOLS = [
    dict(label="x", name=f.__name__, description="d", parameters={}, execute=f) for f in (now, late, where)
]
"""


def write_package(folders: Folders, answer: str) -> Path:
    """A folder with helpers, a sub-package without `__init__.py` and a data file."""
    folder = folders.write("one", ENTRY, helper=f"ANSWER = {answer!r}\n", lazy=f"LATE = {answer!r}\n")
    (folder / "deep").mkdir(exist_ok=True)
    (folder / "deep" / "inner.py").write_text("from ..helper import ANSWER\nDEPTH = len(ANSWER)\n")
    (folder / "data.json").write_text('{"place": "here"}')
    return folder


async def test_helpers_are_imported_relatively_and_reloaded(folders: Folders) -> None:
    write_package(folders, "old")
    loader = ExtensionLoader(folders.root)
    assert await ask((await loader.reload()).tools, "now") == "old 3"
    (folders.root / "one" / "helper.py").write_text("ANSWER = 'newer'\n")
    assert await ask((await loader.reload()).tools, "now") == "newer 5"


async def test_a_late_import_belongs_to_its_own_version(folders: Folders) -> None:
    folder = write_package(folders, "old")
    loader = ExtensionLoader(folders.root)
    old = await loader.reload()
    write_package(folders, "new")
    new = await loader.reload()
    (folder / "lazy.py").unlink()
    assert await ask(old.tools, "late") == "old"
    assert await ask(new.tools, "late") == "new"


async def test_data_beside_the_file_is_found_and_its_change_is_a_change(folders: Folders) -> None:
    folder = write_package(folders, "x")
    loader = ExtensionLoader(folders.root)
    assert await ask((await loader.reload()).tools, "where") == "here"
    (folder / "data.json").write_text('{"place": "there"}')
    snapshot = await loader.reload()
    assert snapshot.unchanged == ()
    assert await ask(snapshot.tools, "where") == "there"


async def test_a_package_with_an_init_file_and_dataclasses_works(folders: Folders) -> None:
    source = """
    from dataclasses import dataclass
    from . import NAME

    @dataclass
    class Point:
        x: "int"

    def show():
        return f"{NAME} {Point(3)}"

    TOOL = dict(label="x", name="show", description="d", parameters={}, execute=show)
    """
    folders.write("one", source, __init__="NAME = 'package'\n")
    snapshot = await ExtensionLoader(folders.root).reload()
    assert await ask(snapshot.tools, "show") == "package Point(x=3)"


async def test_a_folder_may_have_any_name(folders: Folders) -> None:
    folders.write_tool("my-tools 2.0 工具", "ask_one")
    assert (await ExtensionLoader(folders.root).reload()).loaded_extensions == ("my-tools 2.0 工具",)
