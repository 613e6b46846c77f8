"""Split HTML into tags and text in one pass, whatever the markup is.

Every search either moves on to what it found or ends the page, so that the time is linear in its length; the
standard library's parser starts over at each unfinished tag and takes hours for a megabyte of them.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_MARKUP = re.compile(r"<(?:(?P<tag>/?[a-zA-Z])|[!?/])")
_NAME = re.compile(r"[a-zA-Z][^\s/>\0]*")
_ATTRIBUTE = re.compile(r"[^\s/>][^\s/>=]*")
_BETWEEN = re.compile(r"[\s/]*")
_SPACE = re.compile(r"\s*")
_UNQUOTED = re.compile(r"[^\s>]*")
_RAW = frozenset({"script", "style", "iframe", "noembed", "noframes", "xmp"})
_TEXT_ONLY = frozenset({"title", "textarea"})
_RAW_END = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in _RAW | _TEXT_ONLY}


@dataclass(frozen=True, slots=True)
class Text:
    """Text between tags, its character references resolved."""

    text: str


@dataclass(frozen=True, slots=True)
class Open:
    """A start tag; of several attributes with one name the first is used."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Close:
    """An end tag."""

    tag: str


def tokenize(page: str) -> Iterator[Text | Open | Close]:
    """Yield the tags and texts of a page; an unterminated comment or tag extends to its end."""
    place = 0
    while found := _MARKUP.search(page, place):
        if found.start() > place:
            yield Text(_unescape(page[place : found.start()]))
        if found["tag"] is None:
            place = _skip_comment(page, found.start())
            continue
        token, place = _read_tag(page, found.start())
        if token is None:
            return
        yield token
        if isinstance(token, Open) and token.tag in _RAW_END:
            content, place = _read_raw(page, place, token.tag)
            yield content
    if place < len(page):
        yield Text(_unescape(page[place:]))


def _skip_comment(page: str, start: int) -> int:
    """Return the end of a comment, declaration or processing instruction."""
    if page.startswith("<!--", start):
        end = page.find("-->", start + 2)  # `<!-->` is one, too
        return len(page) if end < 0 else end + 3
    end = page.find(">", start)
    return len(page) if end < 0 else end + 1


def _read_tag(page: str, start: int) -> tuple[Open | Close | None, int]:
    """Return a tag and its end; None if it is unterminated."""
    is_end = page[start + 1] == "/"
    name = _NAME.match(page, start + 1 + is_end)
    assert name is not None
    attributes: dict[str, str] = {}
    place = _skip(_BETWEEN, page, name.end())
    while place < len(page) and page[place] != ">":
        key = _ATTRIBUTE.match(page, place)
        assert key is not None  # neither a space nor `/` nor `>` is here
        place = _skip(_SPACE, page, key.end())
        value = ""
        if page.startswith("=", place):
            value, place = _read_value(page, _skip(_SPACE, page, place + 1))
        attributes.setdefault(key[0].lower(), value)
        place = _skip(_BETWEEN, page, place)
    if place >= len(page):
        return None, place
    tag = name[0].lower()
    return Close(tag) if is_end else Open(tag, attributes), place + 1


def _read_value(page: str, place: int) -> tuple[str, int]:
    quote = page[place : place + 1]
    if quote and quote in "\"'":
        end = page.find(quote, place + 1)
        return ("", len(page)) if end < 0 else (_unescape(page[place + 1 : end]), end + 1)
    end = _skip(_UNQUOTED, page, place)
    return _unescape(page[place:end]), end


def _read_raw(page: str, place: int, tag: str) -> tuple[Text | Close, int]:
    """Return the content of an element that has no tags inside, and where its end tag begins."""
    if page[place - 2] == "/":  # <script src="…"/>, as XHTML writes it
        return Close(tag), place
    found = _RAW_END[tag].search(page, place)
    end = found.start() if found else len(page)
    return Text(_unescape(page[place:end]) if tag in _TEXT_ONLY else ""), end


def _skip(pattern: re.Pattern[str], page: str, place: int) -> int:
    found = pattern.match(page, place)
    return found.end() if found else place


def _unescape(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a numeric reference with thousands of digits
        return text
