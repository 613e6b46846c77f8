"""Small pieces of Markdown that the generated pages share."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

GENERATED = "<!-- Written by `make reference` from {source}; do not edit. -->"


def head(title: str, source: str, *paragraphs: str) -> str:
    """Return the beginning of a generated page."""
    return join(f"# {title}", GENERATED.format(source=source), *paragraphs)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, or nothing without rows."""
    lines = [f"| {' | '.join(cell(value) for value in row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(columns)} |", "|" + "---|" * len(columns), *lines]) if lines else ""


def cell(text: str) -> str:
    """Return a text that stays in one cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Return a text as code within a line."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}" if text else ""


def block(language: str, text: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{text.strip()}\n```"


def json_block(value: Any) -> str:
    """Return a value as a block of JSON; short ones stay on one line."""
    line = json.dumps(value, ensure_ascii=False)
    return block("json", line if len(line) <= 100 else json.dumps(value, ensure_ascii=False, indent=2))


def join(*parts: str) -> str:
    """Return the parts that are not empty as paragraphs."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"
