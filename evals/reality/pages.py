"""What the pages, templates, examples and the web page put before a reader."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests"))

from recipe_pages import Step, find_steps  # noqa: E402
from test_docs import Block  # noqa: E402
from test_docs import find_blocks as find_blocks_of  # noqa: E402

PROGRAM_PAGES = ["README.md", "README.zh.md", "docs/index.md", "docs/index.zh.md"]
"""Pages whose programs a newcomer runs, in addition to the tours and how-tos."""
_ASKED = re.compile(
    r"(?:input|run|run_stream|send|ask|start|execute)\(\s*f?\"([^\"]+)\""
    r"|\"(?:query|text|message|content)\": \"([^\"]+)\""
)
_EMPHASIZED = re.compile(
    r"(?<!\*)\*\"?([A-Z/][^*\"\n|]* [^*\"\n|]* [^*\"\n|]*?)\"?\*(?!\*)|(?<=[问说])“([^”]+)”"
)
_DOCSTRING = re.compile(r'""".*?"""', re.DOTALL)
_SENT = re.compile(r'"message": "([^"]+)"')
SUGGESTION = re.compile(r'^ {4}\["([\w-]*)", "([^"]+)", "([^"]+)"\],$', re.MULTILINE)
_TOLD = re.compile(r'dovetail (?:chat(?: -\w+)*|run [\w{}]+(?: -p)?) (?:\w+=)?"([^"$]+)"')


def find_blocks(page: Path) -> list[Block]:
    """Return the Python blocks of a page."""
    return list(find_blocks_of(page.read_text(encoding="utf-8")))


def list_program_pages() -> list[Path]:
    """Return the pages with programs that ask a model."""
    pages = [ROOT / name for name in PROGRAM_PAGES]
    pages += sorted([*ROOT.glob("docs/tour/*.md"), *ROOT.glob("docs/howto/*.md")])
    return [page for page in pages if any(block.replies and not block.skipped for block in find_blocks(page))]


def list_recipes() -> list[Path]:
    """Return the how-tos whose commands ask a model."""
    pages = sorted(ROOT.glob("docs/howto/*.md"))
    return [page for page in pages if any(step.replies for step in steps_of(page))]


def steps_of(page: Path) -> list[Step]:
    """Return what a reader of a how-to saves and types; Python without a title runs as a block."""
    return list(find_steps(page.read_text(encoding="utf-8")))


def questions_in(code: str) -> list[str]:
    """Return the texts that a program sends to a model."""
    return [first or second for first, second in _ASKED.findall(code)]


def find_shown() -> Iterator[tuple[str, str]]:
    """Yield each question with the place that shows it.

    A program is named by its first question, or by its page or file; a prompt of the library by its file.
    """
    for page in list_program_pages():
        for block in find_blocks(page):
            if block.replies and not block.skipped:
                yield name_of(page), name_block(block.code, page)
    for page in list_recipes():
        yield from ((name_of(page), name_step(step)) for step in steps_of(page) if step.replies)
    for path in sorted([*ROOT.glob("examples/*.py"), *ROOT.glob("templates/projects/*/*.py")]):
        if asks_a_model(path):
            yield name_of(path), path.name
    for path in sorted([*ROOT.glob("templates/projects/*/prompts/*"), *ROOT.glob("examples/*/prompts/*")]):
        yield name_of(path), path.name
    yield from _find_in_prose()
    yield from _find_printed()
    yield from _find_suggestions()


def name_block(code: str, page: Path) -> str:
    """Return the first question of a program, or the title of its page if none stands in it."""
    asked = questions_in(code)
    return asked[0] if asked else page.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")


def name_step(step: Step) -> str:
    """Return the command or message of a step."""
    found = _TOLD.search(step.code) or re.search(
        r'"message\\?": \\?"([^"$\\]+)|^ask "([^"]+)"', step.code, re.M
    )
    if found is None:
        return step.code.strip().splitlines()[0]
    return next(group for group in found.groups() if group)


def asks_a_model(path: Path) -> bool:
    """Whether a program of examples/ sends something to a model."""
    code = path.read_text(encoding="utf-8")
    return re.search(r"Agent\b|create_agent|open_chat|/chat", code) is not None and "__main__" in code


def _find_in_prose() -> Iterator[tuple[str, str]]:
    places = [
        *(ROOT / name for name in PROGRAM_PAGES),
        *ROOT.glob("docs/tour/*.md"),
        *ROOT.glob("templates/projects/*/README.md"),
        *ROOT.glob("examples/*/README.md"),
    ]
    for place in sorted(places):
        text = re.sub(r"^```.*?^```$", "", place.read_text(encoding="utf-8"), flags=re.M | re.S)
        text = re.sub(r"(?<=\w)\n(?=\w)", " ", text)
        yield from ((name_of(place), first or second) for first, second in _EMPHASIZED.findall(text))
        yield from ((name_of(place), told) for told in _TOLD.findall(place.read_text(encoding="utf-8")))
        yield from ((name_of(place), sent) for sent in _SENT.findall(place.read_text(encoding="utf-8")))


def _find_printed() -> Iterator[tuple[str, str]]:
    """Yield the questions in commands that a command prints as the next step."""
    for path in sorted((ROOT / "src" / "dovetail" / "cli").rglob("*.py")):
        told = _TOLD.findall(_DOCSTRING.sub("", path.read_text(encoding="utf-8")))
        yield from ((name_of(path), question) for question in told)


def _find_suggestions() -> Iterator[tuple[str, str]]:
    for language in ("en", "zh"):
        path = ROOT / "web" / "src" / "text" / language / "chat.ts"
        for _, _, question in SUGGESTION.findall(path.read_text(encoding="utf-8")):
            yield name_of(path), question


def name_of(path: Path) -> str:
    """Return a path from the root of the repository."""
    return path.relative_to(ROOT).as_posix()
