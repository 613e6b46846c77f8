"""The command line finds its groups lazily and turns errors into messages."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import typer

from command_line import run
from dovetail.cli import main as frame
from dovetail.errors import ConfigError, DovetailError
from dovetail.version import __version__
from patience import PATIENCE


@pytest.fixture
def add_command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Registers a group `probe` whose one command is the given function."""

    def add(function: Callable[[], None]) -> None:
        module = ModuleType("dovetail.cli.commands.probe")
        app = typer.Typer()
        app.command("probe")(function)
        module.__dict__["app"] = app
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(frame.GROUPS, "probe", "Tries things.")

    return add


def test_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"dovetail {__version__}\n"


def test_help_lists_every_group_and_imports_none() -> None:
    code = (
        "import json, sys\n"
        "from dovetail.cli.main import main, GROUPS\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(json.dumps([name for name in GROUPS if f'dovetail.cli.commands.{name}' in sys.modules]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert all(name in done.stdout for name in frame.GROUPS)
    assert json.loads(done.stdout.splitlines()[-1]) == []


@pytest.mark.parametrize("name", sorted(frame.GROUPS))
def test_each_group_shows_its_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(name, "--help") == 0
    assert f"dovetail {name}" in capsys.readouterr().out


def test_flags_are_shown_without_the_type_of_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("runs", "run", "serve"):
        assert run(name, *(["list"] if name == "runs" else []), "--help") == 0
        shown = capsys.readouterr().out
        assert "bool" not in shown
        assert "<path>" in shown


def test_unknown_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("model") == 2
    assert "'models'" in capsys.readouterr().err


def test_own_error_is_one_message_with_its_hint(
    add_command: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise ConfigError("no model 'x'", hint="Choose another.")

    add_command(fail)
    assert run("probe") == 1
    assert capsys.readouterr().err == "Error: no model 'x'\nChoose another.\n"


def test_errors_are_also_json_if_that_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("agents", "show", "nobody", "--json") == 1
    said = capsys.readouterr()
    assert said.err.startswith("Error: Unknown agent 'nobody'")
    error = json.loads(said.out)["error"]
    assert error["type"] == "config_error"
    assert error["message"].startswith("Unknown agent 'nobody'")


def test_own_error_is_found_inside_a_group_of_errors(
    add_command: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise ExceptionGroup("tasks", [ValueError("other"), ExceptionGroup("inner", [DovetailError("ours")])])

    add_command(fail)
    assert run("probe") == 1
    assert capsys.readouterr().err == "Error: ours\n"


def test_unforeseen_error_shows_no_stack_trace(
    add_command: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise ValueError("odd")

    add_command(fail)
    assert run("probe") == 1
    error = capsys.readouterr().err
    assert "ValueError: odd" in error
    assert "Traceback" not in error


def test_debug_shows_the_stack_trace(
    add_command: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise ConfigError("odd")

    add_command(fail)
    assert run("--debug", "probe") == 1
    assert "Traceback" in capsys.readouterr().err


def test_interrupt_leaves_with_130(add_command: Callable[[Callable[[], None]], None]) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    add_command(interrupt)
    assert run("probe") == 130


def test_python_m_is_the_same_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dovetail", "--version"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout == f"dovetail {__version__}\n"


def test_missing_package_is_named_with_the_way_to_get_it(
    add_command: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise ModuleNotFoundError("No module named 'fastapi'", name="fastapi")

    add_command(fail)
    assert run("probe") == 1
    told = capsys.readouterr().err
    assert "Error: Package 'fastapi' is not installed.\n" in told
    command = told.splitlines()[-1]
    assert " install 'alembic>=1.16' " in command
    assert "'mcp<3,>=2.3'" in command
    assert "dovetail-agents" not in command  # the package is not on an index


def test_extra_that_is_missing_names_the_package_and_not_our_module(tmp_path: Path) -> None:
    (tmp_path / "needy.py").write_text("import no_such_package_at_all\n")
    code = "from dovetail.lazy import lazy\nlazy('needy', extra='server').anything"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert "no_such_package_at_all is needed here and not installed: " in done.stderr
    assert " install 'alembic>=1.16' " in done.stderr


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database, as a first chat leaves it."""
    folder = tmp_path_factory.mktemp("workspace")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run("schedules", "list") == 0
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("agents", "list"),
        ("agents", "show", "master"),
        ("ext", "list"),
        ("models", "list", "local"),
        ("policy", "list"),
        ("runs", "list", "--all"),
        ("schedules", "list"),
        ("settings", "policy"),
        ("skills", "list"),
        ("store", "info"),
        ("tools", "list"),
        ("tools", "show", "ask_user"),
        ("usage",),
    ],
    ids=" ".join,
)
def test_each_list_prints_json(
    words: tuple[str, ...],
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(workspace)
    assert run(*words, "--json") == 0
    assert json.loads(capsys.readouterr().out)
