"""Every rule of `docs/specification.md` is held by tests that exist, and references lead to rules."""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTS = ROOT / "tests"
PAGE = (ROOT / "docs/specification.md").read_text(encoding="utf-8")

LETTERS = "AFPSC"
FOLDERS = ("src", "docs", "tests", "extensions", "agents", "examples", "benchmarks", "web/src")
ROW = re.compile(r"^\| ([A-Z])(\d+) \| (.*?) \|(?: (.*?))? \|$")
HELD = re.compile(r"`([^`:#]+)(?:::|#)([^`]+)`")
MENTION = re.compile(r"\brules? ([A-Z]\d+(?:(?:, | and | or | to )[A-Z]\d+)*)")
DIFFERENCE = re.compile(r"^- \*\*([A-Z]\d+)\*\*: ", re.MULTILINE)
NUMBERED = re.compile(r"\bdocuments? 00\d", re.IGNORECASE)
CASE = re.compile(r"^(\w+)\[(.+)\]$")


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of the page."""

    letter: str
    number: int
    text: str
    held_by: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """The number that people write."""
        return f"{self.letter}{self.number}"


def read_rules(page: str) -> list[Rule]:
    """The rows of the page that begin with the number of a rule, in their order."""
    rules: list[Rule] = []
    for line in page.splitlines():
        if match := ROW.match(line):
            letter, number, text, held = match.groups()
            rules.append(Rule(letter, int(number), text, tuple(HELD.findall(held or ""))))
    return rules


def find_problems(page: str) -> list[str]:
    """What is wrong with the page."""
    rules = read_rules(page)
    return [
        *_find_wrong_order(rules),
        *(f"{rule.name} has no test" for rule in rules if not rule.held_by),
        *_find_missing_tests(rules),
        *_find_missing_mentions(page, {rule.name for rule in rules}, "the page"),
        *_find_wrong_differences(page, rules),
    ]


def _find_wrong_order(rules: list[Rule]) -> Iterator[str]:
    for rule in rules:
        if rule.letter not in LETTERS:
            yield f"{rule.name} has an unknown letter"
    places = [(LETTERS.find(rule.letter), rule.number) for rule in rules]
    for before, after, rule in zip(places, places[1:], rules[1:], strict=False):
        if after <= before:
            yield f"{rule.name} is out of order or repeated"


def _find_missing_tests(rules: list[Rule]) -> Iterator[str]:
    for rule in rules:
        for path, test in rule.held_by:
            if not _exists(path, test):
                yield f"{rule.name} names {path}: {test}, which does not exist"


def _exists(path: str, test: str) -> bool:
    file = (TESTS / path).resolve()
    if not file.is_file() or ROOT not in file.parents:
        return False
    if file.suffix == ".json":
        return set(test.split(",")) <= _read_case_ids(file)
    if file.suffix == ".ts":
        return f'test("{test}"' in file.read_text(encoding="utf-8")
    match = CASE.match(test)
    if match is None:
        return test in _read_tests(file)
    name, case = match.groups()
    is_case = case in file.read_text(encoding="utf-8") or (file.parent / f"{case}.py").is_file()
    return is_case and name in _read_tests(file)


@cache
def _read_tests(file: Path) -> frozenset[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return frozenset(function.name for function in functions if function.name.startswith("test_"))


@cache
def _read_case_ids(file: Path) -> frozenset[str]:
    return frozenset(case["id"] for case in json.loads(file.read_text(encoding="utf-8"))["cases"])


def _find_missing_mentions(text: str, known: set[str], place: str) -> Iterator[str]:
    for mention in MENTION.findall(text):
        for name in re.findall(r"[A-Z]\d+", mention):
            if name not in known:
                yield f"{place} refers to rule {name}, which does not exist"


def _find_wrong_differences(page: str, rules: list[Rule]) -> Iterator[str]:
    marked = [rule.name for rule in rules if "Differs:" in rule.text]
    listed = DIFFERENCE.findall(page)
    for name in sorted({*marked} ^ {*listed}):
        yield f"{name} differs, but is not both marked in its row and listed at the end of its chapter"


def _read_files(*folders: str) -> Iterator[tuple[str, str]]:
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in {".py", ".md", ".ts", ".tsx"} and "node_modules" not in file.parts:
                yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")


def test_every_rule_is_held_by_a_test_that_exists() -> None:
    assert find_problems(PAGE) == []


def test_every_chapter_has_rules() -> None:
    assert {rule.letter for rule in read_rules(PAGE)} == set(LETTERS)


def test_every_row_of_the_page_is_read() -> None:
    rows = [line for line in PAGE.splitlines() if re.match(r"^\|\s*[A-Z]\d+", line)]
    assert len(read_rules(PAGE)) == len(rows)


def test_references_in_the_code_lead_to_rules() -> None:
    known = {rule.name for rule in read_rules(PAGE)}
    files = [(place, text) for place, text in _read_files(*FOLDERS) if place != SELF]
    assert [problem for place, text in files for problem in _find_missing_mentions(text, known, place)] == []


def test_rules_are_referred_to_by_their_numbers_alone() -> None:
    files = [(place, text) for place, text in _read_files(*FOLDERS) if place != SELF]
    assert [place for place, text in files if NUMBERED.search(text)] == []


SELF = "tests/test_specification.py"
GOOD = "| P1 | One. | `test_specification.py::test_right_page_passes` |"


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("| P1 | One. | |", "P1 has no test"),
        ("| P1 | One. |  |", "P1 has no test"),
        ("| P1 | One. | by hand |", "P1 has no test"),
        ("| P1 | One. | `test_no.py::test_x` |", "P1 names test_no.py: test_x, which does not exist"),
        (
            "| P1 | One. | `test_specification.py::find_problems` |",
            "P1 names test_specification.py: find_problems, which does not exist",
        ),
        (
            "| P1 | One. | `golden/prompt_cases.json#P001,P0` |",
            "P1 names golden/prompt_cases.json: P001,P0, which does not exist",
        ),
        (
            "| P1 | One. | `programs/test_programs.py::test_program_prints_what_it_says[xyz]` |",
            "P1 names programs/test_programs.py: test_program_prints_what_it_says[xyz], which does not exist",
        ),
        (f"{GOOD}\n{GOOD}", "P1 is out of order or repeated"),
        (f"{GOOD.replace('P1', 'P2')}\n{GOOD}", "P1 is out of order or repeated"),
        (f"{GOOD}\n{GOOD.replace('P1', 'A1')}", "A1 is out of order or repeated"),
        (GOOD.replace("P1", "X1"), "X1 has an unknown letter"),
        (GOOD.replace("One.", "As rule P9 says."), "the page refers to rule P9, which does not exist"),
        (
            GOOD.replace("One.", "One. Differs: a reason."),
            "P1 differs, but is not both marked in its row and listed at the end of its chapter",
        ),
        (
            f"{GOOD}\n\n- **P1**: A reason.",
            "P1 differs, but is not both marked in its row and listed at the end of its chapter",
        ),
    ],
)
def test_wrong_page_is_caught(page: str, problem: str) -> None:
    assert find_problems(page) == [problem]


def test_right_page_passes() -> None:
    assert find_problems(GOOD) == []
    case = GOOD.replace("test_right_page_passes", "test_wrong_page_is_caught[by hand]")
    assert find_problems(case) == []


def test_mentions_of_several_rules_are_all_read() -> None:
    assert list(_find_missing_mentions("(rules P1, P2 and A3)", {"P1"}, "here")) == [
        "here refers to rule P2, which does not exist",
        "here refers to rule A3, which does not exist",
    ]
