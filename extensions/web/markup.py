"""Turns HTML into text with the structure that matters: headings, lists, links, tables, code."""

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

_HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object"})
_BLOCK_NAMES = """
address article aside blockquote dd div dl dt figcaption figure footer form header hr li main nav ol p pre
section table tr ul
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}


def to_text(html: str, base: str) -> tuple[str, str]:
    """The title and the text of a page; links are written `[text](address)`."""
    reader = _Reader(base)
    reader.feed(html)
    reader.close()
    return reader.title.strip(), reader.finish()


class _Reader(HTMLParser):
    """Collects text; broken markup is read as far as it goes."""

    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._base = base
        self._parts: list[str] = []
        self._hidden = 0
        self._preformatted = 0
        self._is_title = False
        self._link: tuple[str, int] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
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
            self._link = dict(attrs).get("href") or "", len(self._parts)
        elif tag in ("td", "th"):
            self._parts.append(" | ")
        elif tag in _BLOCKS:
            self._open_block(tag)

    def _open_block(self, tag: str) -> None:
        self._preformatted += tag == "pre"
        self._parts.append("\n- " if tag == "li" else "\n" if tag in ("tr", "dt", "dd") else "\n\n")

    def handle_endtag(self, tag: str) -> None:
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
        if not text or not target or target.startswith(("#", "javascript:", "data:")):
            return
        self._parts[start:] = [f"[{text}]({urljoin(self._base, target)})"]

    def handle_data(self, data: str) -> None:
        if self._is_title:
            self.title += data
        elif not self._hidden:
            self._parts.append(data if self._preformatted else re.sub(r"\s+", " ", data))

    def finish(self) -> str:
        """The text, without trailing spaces and with at most one empty line in a row."""
        lines = [line.rstrip() for line in "".join(self._parts).splitlines()]
        tidy = "\n".join(line if line.startswith("  ") else line.strip() for line in lines)
        return re.sub(r"\n{3,}", "\n\n", tidy).strip()
