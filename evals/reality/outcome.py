"""What one run left behind, and the checks that decide whether it is right.

A check returns what is wrong, or None. Checks read calls from the audit log of the run, never from its text.
"""

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a tool, from the audit log."""

    tool: str
    arguments: Mapping[str, Any]
    status: str
    time: float = 0.0


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The answer to a question, or what a program printed."""

    text: str = ""
    calls: Sequence[Call] = ()
    folder: Path = field(default_factory=Path)
    seconds: float = 0.0
    problem: str = ""
    """The reason for a missing answer: a crash, a time limit, a question that was not expected."""


_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
_LETTER = "[A-Za-z\u00c0-\u024f]"
_WORD, _DIGIT = re.compile(_LETTER), re.compile("[0-9]")
Check: TypeAlias = Callable[[Outcome], str | None]


def find_fault(outcome: Outcome, checks: Sequence[Check]) -> str | None:
    """Return the first thing that is wrong."""
    if outcome.problem:
        return outcome.problem
    return next((fault for check in checks if (fault := check(outcome)) is not None), None)


def says(*patterns: str) -> Check:
    """The text matches each pattern, in any case; numbers and words are whole ones."""

    def check(outcome: Outcome) -> str | None:
        text = normalize(outcome.text)
        missing = [each for each in patterns if not matches(each, text)]
        return f"does not say {missing[0]}: {shorten(outcome.text)}" if missing else None

    return check


def says_none_of(*patterns: str) -> Check:
    """The text matches none of the patterns."""

    def check(outcome: Outcome) -> str | None:
        texts = normalize(outcome.text), outcome.text
        found = [each for each in patterns if any(matches(each, text) for text in texts)]
        return f"says {found[0]}: {shorten(outcome.text)}" if found else None

    return check


def calls(tool: str, status: str = "ok", **arguments: Any) -> Check:
    """The tool was called with these arguments and this outcome; a pattern must match a whole text."""

    def check(outcome: Outcome) -> str | None:
        for call in outcome.calls:
            if call.tool == tool and call.status == status and _match(call.arguments, arguments):
                return None
        made = ", ".join(map(describe_call, outcome.calls)) or "no call"
        return f"no {status} call {tool}({arguments or ''}): {made}; {shorten(outcome.text)}"

    return check


def only_calls(tool: str, most: int = 1, **arguments: Any) -> Check:
    """The tool succeeded at most so often, and only with these arguments: nothing is paid twice."""

    def check(outcome: Outcome) -> str | None:
        made = [call for call in outcome.calls if call.tool == tool and call.status == "ok"]
        if len(made) <= most and all(_match(call.arguments, arguments) for call in made):
            return None
        return f"calls more than {tool}({arguments or ''}): {', '.join(map(describe_call, made))}"

    return check


def describe_call(call: Call) -> str:
    """Return a call as text, with its status unless that is ok."""
    arguments = shorten(json.dumps(call.arguments, ensure_ascii=False), 100)
    return f"{call.tool}({arguments})" + ("" if call.status == "ok" else f" {call.status}")


def never_calls(*tools: str) -> Check:
    """None of the tools was called; without names, no tool at all."""

    def check(outcome: Outcome) -> str | None:
        found = [call.tool for call in outcome.calls if not tools or call.tool in tools]
        return f"calls {', '.join(found)}; {shorten(outcome.text)}" if found else None

    return check


def writes(path: str, *patterns: str, lines: int = 1) -> Check:
    """The file exists, has at least that many different lines, and matches each pattern."""

    def check(outcome: Outcome) -> str | None:
        file = outcome.folder / path
        if not file.is_file():
            return f"no file {path}; {shorten(outcome.text)}"
        text = file.read_text(encoding="utf-8")
        if len({line.strip() for line in text.splitlines() if line.strip()}) < lines:
            return f"{path} has fewer than {lines} different lines: {shorten(text)}"
        missing = [each for each in patterns if not matches(each, text)]
        return f"{path} does not contain {missing[0]}: {shorten(text)}" if missing else None

    return check


def is_data(holds: Callable[[Any], bool]) -> Check:
    """The text, or its first line that is one, is a Python or JSON value for which this holds."""

    def check(outcome: Outcome) -> str | None:
        for text in [outcome.text, *outcome.text.splitlines()]:
            value = read_value(text)
            if isinstance(value, (dict, list)):
                return None if holds(value) else f"wrong data: {shorten(text)}"
        return f"no data: {shorten(outcome.text)}"

    return check


def read_value(text: str) -> Any:
    """Return the JSON or Python value that a text is, or None."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text.strip())
        except (ValueError, SyntaxError):
            continue
    return None


def is_text(words: int = 3, most: int = 400) -> Check:
    """The text has neither too few nor too many words, and does not repeat a line or a sentence."""

    def check(outcome: Outcome) -> str | None:
        text = outcome.text.strip()
        found = len(re.findall(r"[一-鿿]|\w+", text))
        if not words <= found <= most:
            return f"{found} words instead of {words} to {most}: {shorten(text)}"
        pieces = [piece.strip() for piece in re.split(r"[\n.!?。！？]+", text) if len(piece.strip()) > 8]
        repeated = [piece for piece in set(pieces) if pieces.count(piece) > 3]
        return f"repeats itself: {shorten(repeated[0])}" if repeated else None

    return check


def either(*checks: Check) -> Check:
    """One of the checks holds."""

    def check(outcome: Outcome) -> str | None:
        faults = [each(outcome) for each in checks]
        return None if None in faults else faults[0]

    return check


def matches(pattern: str, text: str) -> bool:
    """Whether a text matches a pattern, in any case, with whole numbers and words.

    An alternative with a digit at its edge is never part of a longer number, one with a Latin letter there
    never part of a longer word: `ten` is not in "often". `deliver\\w*` is the beginning of a word, and
    `chisels?` has a plural. Chinese has no spaces between words, so it needs no boundary.
    """
    return re.search("|".join(map(_bound, _split(pattern))), text, re.IGNORECASE) is not None


def normalize(text: str) -> str:
    """Return a text without emphasis, with numbers written the same way: 6,223 and 6223."""
    plain = re.sub(r"[*`$\\]", "", text)
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", plain)


def shorten(text: str, most: int = 160) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}…"


def _split(pattern: str) -> list[list[str]]:
    """Return the alternatives of a pattern outside its groups, each as its tokens."""
    alternatives, depth = [list[str]()], 0
    for token in _TOKEN.findall(pattern):
        depth += (token == "(") - (token == ")")
        if token == "|" and depth == 0:
            alternatives.append([])
        else:
            alternatives[-1].append(token)
    return alternatives


def _bound(tokens: Sequence[str]) -> str:
    """Return an alternative with the boundaries of a number or a word where it begins and ends with one."""
    ends = [token for token in tokens[-2:] if token != "?"]
    first, last = (tokens[0], ends[-1]) if ends else ("", "")
    before = (
        r"(?<![\d.])" if _DIGIT.fullmatch(first) else rf"(?<!{_LETTER})" if _WORD.fullmatch(first) else ""
    )
    after = r"(?!\.?\d)" if _DIGIT.fullmatch(last) else rf"(?!{_LETTER})" if _WORD.fullmatch(last) else ""
    return f"{before}(?:{''.join(tokens)}){after}"


def _match(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(name in found and _same(found[name], value) for name, value in wanted.items())


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, str) and isinstance(found, str):
        return re.fullmatch(wanted, found.strip(), re.IGNORECASE) is not None
    if isinstance(wanted, (int, float)) and isinstance(found, (int, float)):
        return abs(found - wanted) < 1e-6
    return found == wanted
