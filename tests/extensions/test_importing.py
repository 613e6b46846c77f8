"""Each version of a folder has its own modules; whatever it does at import is reported."""

import asyncio
import json
import sys
import threading
from pathlib import Path

import pytest

from dovetail import Dovetail
from dovetail.errors import ConfigError
from dovetail.extensions import ExtensionLoader, ExtensionSnapshot
from dovetail.extensions.importing import list_packages
from extension_folders import LIMIT, Folders, ask
from leap import end_late
from patience import PATIENCE

TOOL = """
def f(): return 'ok'
TOOL = dict(label='x', name='ask_one', description='d', parameters={}, execute=f)
"""


def note(place: Path) -> str:
    """A statement that adds a letter to a file."""
    return f"with open({str(place)!r}, 'a') as file: file.write('x')\n"


async def load_beside_a_good_one(folders: Folders, source: str, **modules: str) -> ExtensionSnapshot:
    """Load a folder `one` with this source, and a good one."""
    folders.write("one", source, **modules)
    folders.write_tool("two", "ask_two")
    snapshot = await ExtensionLoader(folders.root).reload()
    assert "two" in snapshot.loaded_extensions
    return snapshot


@pytest.mark.parametrize(
    ("source", "complaint", "line"),
    [
        ("x = 1\ndef f(:\n    pass\n", "SyntaxError", 2),
        ("  x = 1\n\tx = 2\n", "IndentationError", 1),
        ("x = 1\nraise ValueError('no luck')\n", "ValueError: no luck", 2),
        ("def f():\n    return 1 / 0\nf()\n", "ZeroDivisionError", 2),
        ("import sys\nsys.exit(3)\n", "calls sys.exit(3) at import", 2),
        ("exit()\n", "calls sys.exit(None) at import", 1),
        ("class Odd(BaseException): pass\nraise Odd('odd')\n", "Odd: odd", 2),
        ("raise KeyboardInterrupt\n", "KeyboardInterrupt", 1),
        ("import no_such_package\n", "Is 'no_such_package' installed where this runs?", 1),
        ("def f(): f()\nf()\n", "RecursionError", 1),
        ("x = '\x00'\n", "null bytes", None),
    ],
)
async def test_a_failing_import_is_reported_with_its_line(
    folders: Folders, source: str, complaint: str, line: int | None
) -> None:
    snapshot = await load_beside_a_good_one(folders, source)
    [failure] = snapshot.failed_extensions
    assert complaint in failure.error
    assert failure.line == line
    assert failure.file == str(folders.root / "one" / "extension.py")


async def test_a_syntax_error_in_a_helper_names_the_helper(folders: Folders) -> None:
    snapshot = await load_beside_a_good_one(
        folders, "from . import helper\n" + TOOL, helper="x = 1\n\ny = (\n"
    )
    [failure] = snapshot.failed_extensions
    assert (failure.file, failure.line) == (str(folders.root / "one" / "helper.py"), 3)


async def test_a_file_that_is_not_utf8_is_a_syntax_error(folders: Folders) -> None:
    folder = folders.write_tool("one", "ask_one")
    (folder / "extension.py").write_bytes(b"x = '\xff'\n")
    [failure] = (await ExtensionLoader(folders.root).reload()).failed_extensions
    assert "SyntaxError" in failure.error


@pytest.mark.parametrize(
    "source",
    ["while True: pass\n", "import threading\nthreading.Event().wait(3600)\n"],
    ids=["busy", "waiting"],
)
async def test_a_hanging_import_ends_at_its_limit(
    folders: Folders, source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders.write_tool("two", "ask_two")
    loader = ExtensionLoader(folders.root, time_limit=LIMIT)
    await loader.reload()
    folders.write("one", note(tmp_path / "begun") + source + TOOL)
    snapshot = await end_late(loader.reload(), tmp_path / "begun")
    sys.stdout.write("heard\n")
    assert capsys.readouterr().out == "heard\n"
    assert snapshot.loaded_extensions == ("two",)
    assert "timed out after 60 s" in snapshot.failed_extensions[0].error
    folders.write("one", TOOL)
    assert (await loader.reload()).failed_extensions == ()


async def test_a_busy_import_stops_burning_the_processor(folders: Folders) -> None:
    folders.write("spinner", "while True: pass\n")
    await ExtensionLoader(folders.root, time_limit=0.1).reload()
    for thread in threading.enumerate():
        if thread.name == "import-spinner":
            thread.join(PATIENCE)
            assert not thread.is_alive()


async def test_a_hanging_import_is_not_started_twice(folders: Folders) -> None:
    folders.write("sleeper", "import threading\nthreading.Event().wait(3600)\n")
    before = [thread.name for thread in threading.enumerate()].count("import-sleeper")
    loader = ExtensionLoader(folders.root, time_limit=0.1)
    await loader.reload()
    snapshot = await loader.reload()
    assert "timed out after 0.1 s" in snapshot.failed_extensions[0].error
    assert [thread.name for thread in threading.enumerate()].count("import-sleeper") == before + 1


async def test_prints_at_import_are_kept_off_the_output(
    folders: Folders, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = await load_beside_a_good_one(folders, "print('hello there')\n" + TOOL)
    assert capsys.readouterr().out == ""
    assert snapshot.notices[0].text == "prints at import: 'hello there'"
    assert await ask(snapshot.tools, "ask_one") == "ok"


async def test_a_replaced_standard_module_fails_and_is_put_back(folders: Folders) -> None:
    source = "import sys, types\nsys.modules['json'] = types.ModuleType('json')\n"
    snapshot = await load_beside_a_good_one(folders, source + TOOL)
    [failure] = snapshot.failed_extensions
    assert "replaces the standard module json" in failure.error
    assert failure.file == str(folders.root / "one" / "extension.py")
    assert sys.modules["json"] is json


async def test_a_made_up_standard_module_fails_and_goes(folders: Folders) -> None:
    sys.modules.pop("mailcap", None)
    source = "import sys, types\nsys.modules['mailcap'] = types.ModuleType('mailcap')\n"
    snapshot = await load_beside_a_good_one(folders, source + TOOL)
    assert "mailcap" in snapshot.failed_extensions[0].error
    assert "mailcap" not in sys.modules


async def test_a_helper_named_like_a_standard_module_shadows_nothing(folders: Folders) -> None:
    source = "import json\nfrom . import json as own\n" + TOOL.replace("'ok'", "json.dumps([own.X])")
    snapshot = await load_beside_a_good_one(folders, source, json="X = 7\n")
    assert await ask(snapshot.tools, "ask_one") == "[7]"
    assert "json.py has the name of a standard module" in snapshot.notices[0].text


async def test_a_folder_named_like_a_standard_module_is_fine(folders: Folders) -> None:
    folders.write("json", TOOL)
    assert (await ExtensionLoader(folders.root).reload()).loaded_extensions == ("json",)
    assert sys.modules["json"] is json


async def test_a_changed_sys_path_is_put_back_and_its_modules_reload(folders: Folders) -> None:
    source = "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\nimport my_helper\n"
    source += TOOL.replace("'ok'", "my_helper.ANSWER")
    before = list(sys.path)
    snapshot = await load_beside_a_good_one(folders, source, my_helper="ANSWER = 'first'\n")
    assert sys.path == before
    assert "my_helper" not in sys.modules
    assert "sys.path" in snapshot.notices[0].text
    assert await ask(snapshot.tools, "ask_one") == "first"


async def test_a_changed_working_directory_is_put_back(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    snapshot = await load_beside_a_good_one(folders, "import os\nos.chdir('/')\n" + TOOL)
    assert Path.cwd() == tmp_path
    assert "changes the working directory to /, which was undone" in snapshot.notices[0].text
    assert await ask(snapshot.tools, "ask_one") == "ok"


async def test_a_working_directory_that_is_gone_hurts_no_import(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader = ExtensionLoader(folders.root, workspace=tmp_path)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    folders.write("one", TOOL)
    assert (await loader.reload()).loaded_extensions == ("one",)


async def test_an_absolute_import_of_a_helper_gets_good_advice(folders: Folders) -> None:
    snapshot = await load_beside_a_good_one(folders, "import helper\n" + TOOL, helper="")
    assert "write `from .helper import" in snapshot.failed_extensions[0].error


async def test_a_failed_import_leaves_nothing_behind(folders: Folders) -> None:
    folders.write("unlucky", "from . import helper\nraise ValueError\n", helper="")
    await ExtensionLoader(folders.root).reload()
    assert list_packages("unlucky") == []
    assert not [name for name in sys.modules if "unlucky" in name]


@pytest.mark.parametrize(
    "source", ["while True: pass\n", "import time\ntime.sleep(3600)\n"], ids=["busy", "waiting"]
)
async def test_an_import_that_took_too_long_is_not_tried_again_until_a_file_changes(
    folders: Folders, source: str, tmp_path: Path
) -> None:
    count = note(tmp_path / "count")
    folders.write("one", count + source)
    loader = ExtensionLoader(folders.root, time_limit=LIMIT)
    for _ in range(3):
        snapshot = await end_late(loader.reload(), tmp_path / "count")
        assert "timed out after 60 s" in snapshot.failed_extensions[0].error
    assert (tmp_path / "count").read_text() == "x"
    folders.write("one", count + TOOL)
    assert (await loader.reload()).failed_extensions == ()


async def test_an_import_that_ends_late_is_taken_by_the_next_reload(folders: Folders, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    begun = tmp_path / "begun"
    wait = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.05)\n"
    folders.write("tardy", note(begun) + wait + TOOL)
    loader = ExtensionLoader(folders.root, time_limit=LIMIT)
    assert (await end_late(loader.reload(), begun)).loaded_extensions == ()
    gate.touch()
    [thread] = [thread for thread in threading.enumerate() if thread.name == "import-tardy"]
    await asyncio.to_thread(thread.join, PATIENCE)
    snapshot = await loader.reload()
    assert (snapshot.loaded_extensions, snapshot.failed_extensions) == (("tardy",), ())
    assert await ask(snapshot.tools, "ask_one") == "ok"
    await loader.close()
    assert list_packages("tardy") == []


async def test_an_abandoned_import_that_ends_late_leaves_the_next_version_alone(
    folders: Folders, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    wait = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.05)\n"
    folders.write("tardy", note(tmp_path / "begun") + wait + TOOL)
    loader = ExtensionLoader(folders.root, time_limit=LIMIT)
    assert (await end_late(loader.reload(), tmp_path / "begun")).loaded_extensions == ()
    [thread] = [thread for thread in threading.enumerate() if thread.name == "import-tardy"]
    folders.write("tardy", TOOL)
    snapshot = await loader.reload()
    assert snapshot.loaded_extensions == ("tardy",)
    gate.touch()
    await asyncio.to_thread(thread.join, PATIENCE)
    [package] = list_packages("tardy")
    assert f"{package}.extension" in sys.modules
    await loader.close()


async def test_slow_imports_run_side_by_side_and_leave_the_process_as_it_was(
    folders: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of three folders waits for the next one to begin: one after the other they would never end."""
    before = list(sys.path), sys.stdout
    for number in range(3):
        mark, awaited = tmp_path / f"m{number}", tmp_path / f"m{min(number + 1, 2)}"
        source = f"import sys, os, time\nprint('hello {number}')\nsys.path.append('/nowhere/{number}')\n"
        source += f"open({str(mark)!r}, 'w').close()\n"
        source += f"while not os.path.exists({str(awaited)!r}): time.sleep(0.01)\n"
        folders.write(f"slow{number}", source + TOOL.replace("ask_one", f"ask_{number}"))
    snapshot = await ExtensionLoader(folders.root, time_limit=PATIENCE).reload()
    assert snapshot.failed_extensions == ()
    assert (list(sys.path), sys.stdout) == before
    assert capsys.readouterr().out == ""
    texts = [notice.text for notice in snapshot.notices]
    assert [text for text in texts if "hello" in text] == [f"prints at import: 'hello {n}'" for n in range(3)]


@pytest.mark.parametrize("value", ["0", "soon", "nan", "-1"])
def test_an_import_limit_that_is_not_a_time_is_rejected(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("EXTENSION_IMPORT_LIMIT", value)
    with pytest.raises(ConfigError, match="EXTENSION_IMPORT_LIMIT"):
        ExtensionLoader("nowhere")


async def test_the_import_limit_is_a_setting(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EXTENSION_IMPORT_LIMIT")
    folders.write("one", "import threading\nthreading.Event().wait(3600)\n")
    (tmp_path / "dovetail.toml").write_text("[extensions]\nimport_limit = 0.2\n")
    async with Dovetail(workspace=tmp_path) as app:
        assert "timed out after 0.2 s" in app.extensions.snapshot.failed_extensions[0].error


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("def __getattr__(name): raise RuntimeError('not today')\n", "RuntimeError: not today"),
        ("def __getattr__(name): raise SystemExit(3)\n", "calls sys.exit(3)"),
        (TOOL + "class Odd(dict):\n    def get(self, *_): raise KeyError('odd')\nTOOL = Odd(TOOL)\n", "odd"),
        (TOOL + "p = {'type': 'object'}\np['properties'] = {'v': p}\nTOOL['parameters'] = p\n", "themselves"),
        (
            TOOL + "TOOL['parameters'] = {'type': 'object', 'properties': {1: {}}}\n",
            "name must be a non-empty string",
        ),
        (TOOL + "class Odd:\n    def __repr__(self): raise OSError\nTOOL['label'] = Odd()\n", "OSError"),
    ],
)
async def test_whatever_a_folder_exports_fails_it_alone(
    folders: Folders, source: str, complaint: str
) -> None:
    snapshot = await load_beside_a_good_one(folders, source)
    [failure] = snapshot.failed_extensions
    assert failure.extension == "one"
    assert complaint in failure.error


async def test_an_error_without_a_readable_text_is_reported_by_its_type(folders: Folders) -> None:
    source = "class Odd(Exception):\n    def __str__(self): raise OSError\nraise Odd\n"
    [failure] = (await load_beside_a_good_one(folders, source)).failed_extensions
    assert (failure.error, failure.line) == ("Odd: its text cannot be read", 3)


async def test_a_missing_module_of_the_folder_is_named_as_one(folders: Folders) -> None:
    [failure] = (await load_beside_a_good_one(folders, "from .prices import look_up\n")).failed_extensions
    assert "No module named 'one.prices'" in failure.error
    assert "The folder has no prices.py." in failure.error


async def test_files_of_the_folder_can_be_read_as_resources(folders: Folders) -> None:
    read = "import importlib.resources as r\nX = r.files(__package__).joinpath('prices.txt').read_text()\n"
    folders.write("one", read + TOOL.replace("'ok'", "X"))
    (folders.root / "one" / "prices.txt").write_text("3 francs")
    snapshot = await ExtensionLoader(folders.root).reload()
    assert await ask(snapshot.tools, "ask_one") == "3 francs"


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


async def test_data_next_to_the_file_is_found_and_its_change_is_a_change(folders: Folders) -> None:
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
