"""Every Python block in the README and in docs/ runs and prints what the page says; links lead to files.

Blocks of one page share their names, from top to bottom. A comment before a block sets it up:

    <!-- replies: ["Hello.", {"tool_calls": [...]}] -->     what the model says, in `ScriptedServer`'s form
    <!-- skip: reason -->                                   not run (it needs something a test must not use)

A plain block directly after a Python block is its output.
"""

import contextlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from dovetail import app
from dovetail.agent import runtime
from dovetail.agents.file import load_definition
from dovetail.cli import main
from dovetail.settings import open_settings
from dovetail.settings.model import ModelSettings
from dovetail.settings.section import keys_of
from dovetail.testing import ScriptedServer

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("README*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("extensions/README.md")])

_BLOCK = re.compile(
    r"^(?P<comment><!--(?:(?!-->).)*-->\n+)?^```python\n(?P<code>.*?)^```\n(?:\n*^```(?:text)?\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)")
_MODULE = re.compile(r"`(?!extensions/)((?:[a-z_]+/)+[a-z_]+\.py)\b")
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_REPLIES = re.compile(r"replies:\s*(\[.*\])\s*-->", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One Python block of a page."""

    line: int
    code: str
    output: str | None
    replies: list[Any]
    skipped: bool


def find_blocks(text: str) -> Iterator[Block]:
    for match in _BLOCK.finditer(text):
        comment = match["comment"] or ""
        replies = _REPLIES.search(comment)
        yield Block(
            line=text[: match.start("code")].count("\n") + 1,
            code=match["code"],
            output=match["output"],
            replies=json.loads(replies[1]) if replies else [],
            skipped="skip:" in comment,
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_blocks_run_and_print_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOVETAIL_MODEL", "openai:scripted")
    monkeypatch.setenv("DOVETAIL_API_KEY", "none")
    monkeypatch.setattr(runtime, "_default", None)  # the page's agents take their model from this environment
    monkeypatch.setattr(app, "_default", None)
    names: dict[str, Any] = {"__name__": "page"}
    with ScriptedServer() as server:
        monkeypatch.setenv("DOVETAIL_BASE_URL", server.url)
        for block in find_blocks(page.read_text(encoding="utf-8")):
            if not block.skipped:
                server.script.add(*block.replies)
                run_block(block, page, names)


def run_block(block: Block, page: Path, names: dict[str, Any]) -> None:
    printed = io.StringIO()
    # Padding puts the block at its own line, so that a traceback points into the page.
    code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    if block.output is not None:
        assert printed.getvalue().strip() == block.output.strip(), f"{page.name}:{block.line}"


_SETTINGS = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["models.md", "model-recipes.md"])
def test_settings_on_the_pages_about_models_are_valid(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOUSE_KEY", "secret")
    for block in _SETTINGS.findall((ROOT / "docs" / name).read_text(encoding="utf-8")):
        (tmp_path / "dovetail.toml").write_text(block)
        settings = open_settings(None, tmp_path)
        assert settings.section(ModelSettings).given or settings.get("limits"), block


LINKED = sorted(
    {*PAGES, *ROOT.glob("*.md"), *ROOT.glob("examples/**/README.md"), *ROOT.glob("templates/projects/*/*.md")}
)


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_and_modules_that_a_page_names_exist(page: Path) -> None:
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    assert [link for link in _LINK.findall(text) if not (page.parent / link).exists()] == []
    if "reference" in page.parts:  # docstrings name modules from where they are
        return
    roots = (ROOT, ROOT / "src" / "dovetail", ROOT / "tests")
    assert [name for name in _MODULE.findall(text) if not any((root / name).exists() for root in roots)] == []


PAGE_OF = {
    "agent": "agents",
    "prompts": "prompt",
    "requesters": "models",
    "response": "streaming",
}
"""The pages of folders that are described under another name; all others have a page of their own name."""
FORMER = {"bus", "messages"}


def test_every_folder_of_the_source_has_a_page() -> None:
    folders = {path.parent.name for path in (ROOT / "src/dovetail").glob("*/__init__.py")} - FORMER
    pages = {folder: ROOT / "docs" / f"{PAGE_OF.get(folder, folder)}.md" for folder in sorted(folders)}
    assert [folder for folder, page in pages.items() if not page.exists()] == []


_LIST_AFTER_TEXT = re.compile(
    r"^(?! *(?:[-*>|]|\d+\.) )(?! {2,})\S[^\n]*\n(?:[-*]|\d+\.) [^\n]*", re.MULTILINE
)
_CODE_IN_LIST = re.compile(r"^ {1,3}```[^\n]*", re.MULTILINE)


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_lists_look_the_same_on_the_forge_and_on_the_site(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert _CODE_IN_LIST.findall(text) == [], "code in a list needs four spaces"
    assert _LIST_AFTER_TEXT.findall(_FENCED.sub("", text)) == [], "a list needs an empty line before it"


_COMMANDS = re.compile(r"^ *```(?:bash|console|sh)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_PROGRAM = re.compile(r"(?:^|[|&;(] *|\$ )((?:\w+=\S+ )*)(dovetail|make) ([^|&;#>\n]+)", re.MULTILINE)


def find_commands(page: Path) -> Iterator[tuple[str, list[str]]]:
    """The calls of `dovetail` and `make` in the shell blocks of a page, as program and words."""
    for block in _COMMANDS.findall(page.read_text(encoding="utf-8").replace("\\\n", " ")):
        for _, program, words in _PROGRAM.findall(block):
            yield program, words.split()


def find_mistake(words: list[str]) -> str | None:
    """Return what `dovetail` would not know: a command or an option."""
    group = next((word for word in words if not word.startswith("-")), None)
    if group is None:
        return None
    command: Any = typer.main.get_command(main.build_app(group)).commands.get(group)
    rest = words[words.index(group) + 1 :]
    if command is not None and hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        command, rest = command.commands.get(rest[0]), rest[1:]
    if command is None or group not in main.GROUPS:
        return " ".join(words)
    known = {"--help", *(name for param in command.params for name in [*param.opts, *param.secondary_opts])}
    options = (word.split("=")[0] for word in rest if re.match(r"--?[a-z]", word))
    return next((option for option in options if option not in known), None)


def test_commands_on_the_pages_exist_and_have_their_options() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    called = [(page, *found) for page in LINKED for found in find_commands(page)]
    missing = [
        f"{page}: make {words[0]}"
        for page, program, words in called
        if program == "make"
        if words[0] not in targets
    ]
    wrong = [
        f"{page}: {find_mistake(words)}"
        for page, program, words in called
        if program == "dovetail"
        if find_mistake(words)
    ]
    assert missing + wrong == []
    assert len(called) > 50


def test_a_command_that_does_not_exist_is_caught() -> None:
    assert find_mistake(["serv", "--port", "1"]) == "serv --port 1"
    assert find_mistake(["models", "fetch"]) == "models fetch"
    assert find_mistake(["serve", "--prot", "1"]) == "--prot"
    assert find_mistake(["models", "pull", "good"]) is None


def test_a_page_with_wrong_output_is_caught() -> None:
    [block] = find_blocks('<!-- replies: ["x"] -->\n```python\nprint(1)\n```\n\n```\n2\n```\n')
    assert (block.code, block.output, block.replies, block.line) == ("print(1)\n", "2\n", ["x"], 3)


@pytest.mark.parametrize("name", ["team.md", "team.zh.md"])
def test_the_agent_of_the_tour_runs_by_itself_with_the_lines_that_follow(name: str, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "tour" / name).read_text(encoding="utf-8")
    agent = re.search(r"^```markdown\n---\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = re.search(r"^```yaml\n(schedule:.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert agent is not None
    assert lines is not None
    (tmp_path / "buyer.md").write_text(f"---\n{lines[1]}{agent[1]}", encoding="utf-8")
    [schedule] = load_definition(tmp_path / "buyer.md").schedules
    assert schedule.message


def test_table_of_the_model_settings_has_every_key_once() -> None:
    page = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    table = page.partition("| Setting | Default |")[2].partition("\n\n")[0]
    keys = [key for row in table.splitlines()[2:] for key in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(keys) == sorted(keys_of(ModelSettings).keys() - {"name"})
