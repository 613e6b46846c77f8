"""Only our own styles reach the terminal, however content is nested, wrapped, printed or logged."""

import io
import logging
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Group
from rich.live import Live
from rich.markdown import Markdown
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from dovetail.cli import output
from dovetail.cli.commands import serve, worker
from dovetail.cli.output import Console, Guard, dump_json, guard_streams, guarded, open_styled, print_styled
from dovetail.cli.process import KEEP
from dovetail.data import known_secrets
from dovetail.data.known_secrets import protect

HOSTILE = "\x1b[2J\x1b]0;x\x07\x9b8m\u202e"
MARKS = ("\x1b[2J", "\x1b]", "\x1b\\", "\x07", "\x9b", "\u202e")
SHOWN = r"\x1b[2J\x1b]0;x\x07\x9b8m\u202e"


def tabulate(text: str) -> Table:
    table = Table(title=text)
    table.add_column(text)
    table.add_row(Text(text), escape(text))
    return table


def grow(text: str) -> Tree:
    tree = Tree(Text(text))
    tree.add(escape(text))
    return tree


@pytest.mark.parametrize(
    "build",
    [
        escape,
        Text,
        tabulate,
        grow,
        lambda text: Group(Text(text), escape(text)),
        lambda text: Markdown(f"# {text}\n\n- {text} `{text}`\n\n```\n{text}\n```\n&#x202e;&#27;"),
        lambda text: Syntax(text, "python"),
        lambda text: Text.from_markup("[link=https://a.example/\x1b]8;;\x07]a[/link]"),
    ],
)
def test_a_console_shows_the_controls_of_any_content(build: Callable[[str], Any]) -> None:
    out = io.StringIO()
    Console(file=out, width=200, force_terminal=True, color_system=None).print(build(HOSTILE))
    assert [mark for mark in MARKS if mark in out.getvalue()] == []


def test_styles_stay_where_they_were() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard")
    console.print(Text.assemble("\x1b", ("red\x9b", "red"), "\u202e."))
    assert out.getvalue() == "\\x1b\x1b[31mred\\x9b\x1b[0m\\u202e.\n"


def test_escapes_take_room_and_nothing_is_cut_off() -> None:
    out = io.StringIO()
    Console(file=out, width=20).print(Text("\x1b" * 10 + " rm"))
    assert out.getvalue().replace("\n", "") == "\\x1b" * 10 + " rm"


def test_words_between_colons_stay_words() -> None:
    out = io.StringIO()
    Console(file=out).print("touch :skull:")
    assert out.getvalue() == "touch :skull:\n"


def test_what_others_print_and_log_passes_the_guard(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr
    with guarded():
        sys.stdout.write(f"a{HOSTILE}\n")
        sys.stdout.writelines([HOSTILE])
        handler = logging.StreamHandler()
        handler.emit(logging.LogRecord("x", logging.INFO, "", 0, HOSTILE, None, None))
        print_styled("ours", "red")
        open_styled(sys.stderr).write("raw\n")
    printed = capsys.readouterr()
    assert printed.out == f"a{SHOWN}\n{SHOWN}ours\n"
    assert printed.err == f"{SHOWN}\nraw\n"
    assert (sys.stdout, sys.stderr) == before


def test_what_a_tool_prints_shows_no_known_secret(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_secrets, "_known", ())
    protect(["S-of-a-provider"])
    with guarded():
        sys.stdout.write("out S-of-a-provider\n")
        sys.stderr.write("err S-of-a-provider\n")
    assert tuple(capsys.readouterr()) == ("out ***\n", "err ***\n")


def test_a_live_view_does_not_take_printed_sequences_for_styles(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", Guard(out))
    console = Console(force_terminal=True, color_system="standard")
    with Live("tree", console=console, auto_refresh=False):
        guard_streams()
        sys.stdout.write("\x1b[8mhidden\x1b[31m\n")
    assert r"\x1b[8mhidden\x1b[31m" in out.getvalue()


def test_json_of_hostile_data_is_clean_and_the_same_data() -> None:
    assert dump_json({"a": "\x9b\u202e"}) == r'{"a": "\u009b\u202e"}'


def test_no_command_writes_past_the_border() -> None:
    past = re.compile(
        r"rich\.console import .*\bConsole\b(?! as)|typer\.(secho|style)|std(out|err)\.write|ensure_ascii"
    )
    home = Path(output.__file__)
    sources = [path for path in home.parent.rglob("*.py") if path != home]
    assert [path.name for path in sources if past.search(path.read_text())] == []


def print_hostile() -> None:
    sys.stdout.write(f"{HOSTILE}\n")
    logging.getLogger("dovetail.x").error("y", exc_info=ValueError(HOSTILE))


def test_a_process_of_several_that_serve_has_the_border_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def leave() -> None:
        print_hostile()
        signal.raise_signal(signal.SIGTERM)

    options = serve.ServeOptions(
        host="127.0.0.1", port=0, insecure=False, workspace=tmp_path, watch=False, trust=False
    )
    serve.run_worker(options, 1, leave)
    printed = capsys.readouterr()
    assert printed.out == f"{SHOWN}\n"
    assert f"ValueError: {SHOWN}" in printed.err


def test_a_process_of_several_that_work_has_the_border_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def leave() -> None:
        print_hostile()
        raise KeyboardInterrupt

    options = worker.WorkerOptions(
        engine=KEEP, workspace=tmp_path, watch=False, trust=False, drain_seconds=0, metrics=("", None)
    )
    with pytest.raises(KeyboardInterrupt):
        worker.run_worker(options, 1, leave)
    printed = capsys.readouterr()
    assert printed.out == f"{SHOWN}\n"
    assert f"ValueError: {SHOWN}" in printed.err
