"""Convert HTML to text with the structure that matters: headings, lists, links, tables, code."""

import re
from urllib.parse import urljoin

from .tokens import Close, Open, tokenize

_HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object"})
_BLOCK_NAMES = """
address article aside blockquote dd div dl dt figcaption figure footer form header hr li main nav ol p pre
section table tr ul
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_LONGEST_TITLE = 500
_MOST_ADDRESSES = 1_000_000
"""Limit of the characters of all link addresses: each link of a page may repeat a long base address."""


def to_text(html: str, base: str) -> tuple[str, str]:
    """Return the title and the text of a page; links are written `[text](address)`."""
    reader = _Reader(base)
    for token in tokenize(html):
        if isinstance(token, Open):
            reader.open(token)
        elif isinstance(token, Close):
            reader.close(token.tag)
        else:
            reader.add(token.text)
    return " ".join(reader.title.split()), reader.finish()


class _Reader:
    """Collects text; tolerates broken markup."""

    def __init__(self, base: str) -> None:
        self.title = ""
        self._base = base
        self._parts: list[str] = []
        self._hidden = 0
        self._preformatted = 0
        self._is_title = False
        self._link: tuple[str, int] | None = None
        self._room = _MOST_ADDRESSES

    def open(self, token: Open) -> None:
        """Process a start tag."""
        tag = token.tag
        if tag == "title":
            self._is_title = True
        elif tag in _HIDDEN:
            self._hidden += 1
        elif tag == "br":
            self._parts.append("\n")
        elif tag in _HEADINGS:
            self._parts += ["\n\n", _HEADINGS[tag]]
        elif tag == "a":
            self._close_link()  # links do not nest
            self._link = token.attributes.get("href", ""), len(self._parts)
        elif tag in ("td", "th"):
            self._parts.append(" | ")
        elif tag in _BLOCKS:
            self._open_block(tag)

    def _open_block(self, tag: str) -> None:
        self._preformatted += tag == "pre"
        self._parts.append("\n- " if tag == "li" else "\n" if tag in ("tr", "dt", "dd") else "\n\n")

    def close(self, tag: str) -> None:
        """Process an end tag."""
        if tag == "title":
            self._is_title = False
        elif tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag == "a":
            self._close_link()
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._preformatted -= tag == "pre" and self._preformatted > 0
            self._parts.append("\n" if tag in ("li", "tr", "dt", "dd") else "\n\n")

    def _close_link(self) -> None:
        if self._link is None:
            return
        target, start = self._link
        self._link = None
        text = " ".join("".join(self._parts[start:]).split())
        if not text or not target or self._room <= 0 or target.startswith(("#", "javascript:", "data:")):
            return
        address = _join(self._base, target)
        self._room -= len(address)
        self._parts[start:] = [f"[{text}]({address})" if self._room > 0 else text]

    def add(self, data: str) -> None:
        """Process text."""
        if self._is_title:
            self.title = self.title or data.strip()[:_LONGEST_TITLE]
        elif not self._hidden:
            self._parts.append(data if self._preformatted else re.sub(r"\s+", " ", data))

    def finish(self) -> str:
        """Return the text, without trailing spaces and with at most one empty line in a row."""
        lines = [line.rstrip() for line in "".join(self._parts).splitlines()]
        tidy = "\n".join(line if line.startswith("  ") else line.strip() for line in lines)
        return re.sub(r"\n{3,}", "\n\n", tidy).strip()


def _join(base: str, target: str) -> str:
    try:
        return urljoin(base, target)
    except ValueError:  # such as http://[
        return target
