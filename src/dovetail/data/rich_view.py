"""Values as HTML for notebooks, which show what `_repr_html_` returns.

Texts of models and tools are not trusted: HTML in them is shown as text, links lead to web pages only, and
pictures are not loaded.
"""

import html
import json
from collections.abc import Iterable, Mapping
from typing import Any

from dovetail.data.text import cut, shorten, to_text
from dovetail.lazy import lazy

markdown_it = lazy("markdown_it")

_LONGEST = 50_000
_SMALL = "color: gray; font-size: smaller"


def show_markdown(text: str) -> str:
    """Return a text of a model as HTML."""
    reader = markdown_it.MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    return f"<div>{reader.render(cut(text, _LONGEST))}</div>"


def show_data(value: Any) -> str:
    """Return data as indented JSON."""
    return show_text(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def show_text(text: str) -> str:
    """Return a text as it is, line by line."""
    return f'<pre style="white-space: pre-wrap">{html.escape(cut(text, _LONGEST))}</pre>'


def show_title(title: str, note: str = "") -> str:
    """Return a heading, and a note behind it."""
    behind = f' <span style="{_SMALL}">{html.escape(note)}</span>' if note else ""
    return f"<div><b>{html.escape(title)}</b>{behind}</div>"


def show_note(facts: Mapping[str, Any]) -> str:
    """Return small print: what is known, without what is empty."""
    known = [
        f"{name} {value if isinstance(value, str) else shorten(value)}"
        for name, value in facts.items()
        if value
    ]
    return f'<div style="{_SMALL}">{html.escape(" · ".join(known))}</div>' if known else ""


def show_table(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table; its cells are plain text."""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    lines = ("".join(f"<td>{html.escape(to_text(cell))}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
