"""Texts that people read say things the way engineers say them: none of the phrases below stands in them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "dovetail"

PHRASES = {
    r"is no (?!longer|more\b|different)": "is not a",
    r"there (?:is|are):": "expected one of",
    r"there is not\b": "unknown, missing",
    r"go(?:es|ing)? on\b": "continues, is in progress",
    r"went on\b": "continued",
    r"told\b": "reported, logged, sent",
    r"tells\b": "reports, logs, shows",
    r"(?:some|no)body\b": "name the subject: the user, no listener",
    r"gives\b": "returns, provides",
    r"anew\b": "again",
    r"beside\b": "next to, in addition to",
    r"meanwhile\b": "while ...",
    r"mend(?:s|ed)?\b": "fix",
    r"lies? (?:at|in)\b": "is at, is in",
    r"could not be had\b": "is not available",
    r"so many\b": "too many, that many",
    r"for ever\b": "forever, without limit",
    r"be it\b": "whether",
    r"documents? 00\d": "a rule of docs/specification.md",
}
"""What is not written, as a pattern, and what says it better."""

OUTSIDE = ("benchmarks", "evals", "examples", "extensions", "scripts", "templates")
"""Folders next to the source whose Python code people read or models call."""

PAGES = ("*.md", "docs/**/*.md", "agents/*.md", "extensions/*.md", "templates/**/*.md", "examples/**/*.md")

REFUSED = re.compile("|".join(rf"\b(?:{phrase})" for phrase in PHRASES), re.IGNORECASE)

CODE = re.compile(r"`[^`]*`")


def find_refused(path: Path) -> Iterator[str]:
    """Each refused phrase in the strings and docstrings of a module, with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for match in REFUSED.finditer(node.value):
                line = node.lineno + node.value[: match.start()].count("\n")
                yield f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}:{line}: {match[0]!r}"


def test_no_text_of_the_source_has_a_refused_phrase() -> None:
    assert [found for path in sorted(SOURCE.rglob("*.py")) for found in find_refused(path)] == []


def test_no_text_outside_the_source_has_a_refused_phrase() -> None:
    modules = [
        ROOT / "hatch_build.py",
        *(path for folder in OUTSIDE for path in (ROOT / folder).rglob("*.py")),
    ]
    assert [found for path in sorted(modules) for found in find_refused(path)] == []


def find_refused_on_page(path: Path) -> Iterator[str]:
    """Each refused phrase in the prose of a page, with its line; code is left out."""
    is_code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code and (match := REFUSED.search(CODE.sub("", line))):
            yield f"{path.name}:{number}: {match[0]!r}"


def test_no_page_of_the_documentation_has_a_refused_phrase() -> None:
    pages = [page for pattern in PAGES for page in ROOT.glob(pattern)]
    assert [found for page in sorted(pages) for found in find_refused_on_page(page)] == []


def test_no_test_name_has_a_refused_phrase() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("tests/**/*.py")))
    names = re.findall(r"def (test_\w+)", tests)
    assert [name for name in names if REFUSED.search(name.replace("_", " "))] == []


@pytest.mark.parametrize(
    "text",
    ["'x' is no action; there are: allow", "run %s goes on", "nobody can be asked", "the file lies at x"],
)
def test_refused_phrase_is_found(tmp_path: Path, text: str) -> None:
    module = tmp_path / "module.py"
    module.write_text(f"MESSAGE = {text!r}\n", encoding="utf-8")
    assert list(find_refused(module))
