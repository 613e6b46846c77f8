"""Docstrings: what a function does, and what each of its parameters means.

Understands the sections of Google style (`Args:`), of NumPy style (`Parameters`, underlined) and the fields
of Sphinx (`:param name: text`).
"""

import inspect
import re
import textwrap
from dataclasses import dataclass
from itertools import zip_longest

_GOOGLE = re.compile(r"(args|arguments|parameters|params)\s*:\s*$", re.IGNORECASE)
_GOOGLE_OTHER = re.compile(
    r"(returns?|yields?|raises|examples?|notes?|warnings?|see also|attributes)\s*:\s*$", re.IGNORECASE
)
_NUMPY = re.compile(r"(other )?parameters\s*$", re.IGNORECASE)
_UNDERLINE = re.compile(r"-{3,}\s*$")
_SPHINX = re.compile(r":(?:param|parameter|arg|argument)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)")
_SPHINX_OTHER = re.compile(r":\w+[^:]*:")
_NAMED_TEXT = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_NAMED_TYPE = re.compile(r"\*{0,2}(\w+)\s*(?::.*)?()$")


@dataclass(frozen=True, slots=True)
class Docstring:
    """A parsed docstring: the text around its sections, and the texts of the parameters."""

    description: str
    parameters: dict[str, str]


def read_docstring(text: str | None) -> Docstring:
    """Parse a docstring; text in an unknown style is all description."""
    lines = inspect.cleandoc(text).splitlines() if text else []
    bodies: dict[str, list[str]] = {}
    section = "description"
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        heading = _find_heading(line, following)
        if heading is not None:
            section = heading
            continue
        if _UNDERLINE.match(line):
            continue
        section, line = _find_section(section, line)
        bodies.setdefault(section, []).append(line)
    description = "\n".join(bodies.get("description", ())).strip()
    return Docstring(
        re.sub(r"\n{3,}", "\n\n", description),
        {
            **_read_entries(bodies.get("numpy", []), _NAMED_TYPE),
            **_read_entries(bodies.get("google", []), _NAMED_TEXT),
            **_read_entries(bodies.get("sphinx", []), _NAMED_TEXT),
        },
    )


def _find_heading(line: str, following: str) -> str | None:
    if _UNDERLINE.match(following) and line.strip():
        return "numpy" if _NUMPY.match(line) else "numpy-other"
    if _GOOGLE.match(line):
        return "google"
    return "other" if _GOOGLE_OTHER.match(line) else None


def _find_section(section: str, line: str) -> tuple[str, str]:
    """Return the section of a line; a block of Google or Sphinx style ends at a line without indent."""
    if match := _SPHINX.match(line):
        return "sphinx", f"{match[1]}: {match[2]}"
    if _SPHINX_OTHER.match(line):
        return "other", line
    is_flush = bool(line) and not line[0].isspace()
    return ("description" if is_flush and section in ("google", "sphinx", "other") else section), line


def _read_entries(body: list[str], pattern: re.Pattern[str]) -> dict[str, str]:
    texts: dict[str, list[str]] = {}
    current: list[str] = []
    for line in textwrap.dedent("\n".join(body)).splitlines():
        match = pattern.match(line)
        if match:
            current = texts.setdefault(match[1], [])
            current.append(match[2])
        else:
            current.append(line.strip())
    return {name: " ".join(filter(None, parts)) for name, parts in texts.items()}
