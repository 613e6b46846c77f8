r"""Show characters that steer a terminal, or that are not drawn, as escapes such as `\x1b` and `\u202e`.

Four degrees: a text for reading, a value that has to be seen exactly, a part of a call that a person is asked
to approve, in which blanks are counted too, and JSON, which stays the same data.
"""

import json
import re

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_HIDDEN = r"\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
"""Characters that change the direction or the lines of other text, or carry text that is not drawn."""

_UNDRAWN = (
    r"\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u2800\u3164\uffa0"
    r"\ufff0-\ufff8\U00013430-\U00013446\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    r"\U000e0080-\U000e0fff\ufe00-\ufe0d"
    r"\u0488\u0489\u1abe\u20dd-\u20e0\u20e2-\u20e4\ua670-\ua672"
)
"""Characters without a picture that texts in some languages need, and marks drawn around or over others."""

_JOINERS = r"(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
"""Zero-width joiners next to ASCII; within emoji and scripts that join letters they are ordinary."""

_SIGNS = r"\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_SELECTORS = rf"(?<![{_SIGNS}])[\ufe0e\ufe0f]"
"""Choices between a sign and its emoji, without a sign before them."""

_SPACES = r" \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_SPACE = "␣"
_MOST_BLANKS, _MOST_INDENTED, _MOST_AT_END = 7, 24, 3
"""Longer runs of blanks are counted: on one line, in a line among others, and at its end."""

_IN_TEXT = re.compile(f"[{_CONTROLS}{_HIDDEN}]")
_STEERING = f"{_CONTROLS}{_HIDDEN}{_UNDRAWN}"
_IN_VALUE = re.compile(f"[{_STEERING}]|{_JOINERS}|{_SELECTORS}")
_IN_LINE = re.compile(f"[\t\n{_STEERING}]|{_JOINERS}|{_SELECTORS}")
_BLANKS_ON_LINE = re.compile(
    f"[{_SPACES}]{{{_MOST_BLANKS + 1},}}|([\n{_STEERING}])\\1{{{_MOST_BLANKS},}}|{_IN_LINE.pattern}"
)
_BLANKS_IN_LINES = re.compile(
    f"[{_SPACES}]{{{_MOST_INDENTED + 1},}}|[{_SPACES}]{{{_MOST_AT_END + 1},}}$"
    f"|([{_STEERING}])\\1{{{_MOST_BLANKS},}}|{_IN_VALUE.pattern}",
    re.MULTILINE,
)
_SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}


def show_controls(text: str) -> str:
    r"""Return a text for reading with control and direction characters as escapes; lines stay lines.

    Each character is judged by itself, so a text may be cut anywhere; only `\r\n` in one piece is a line end.
    """
    return _IN_TEXT.sub(_escape, text.replace("\r\n", "\n"))


def show_exactly(text: str) -> str:
    """Return a value such as an argument or a difference with everything invisible as escapes."""
    return _IN_VALUE.sub(_escape, text)


def show_on_line(text: str) -> str:
    """Do the same for a name, a path or a command, which has to stay on one line."""
    return _IN_LINE.sub(_escape, text)


def show_to_approve(text: str) -> str:
    """Return a name, a command or an argument for approval: `show_on_line` with runs of blanks as `␣×90`."""
    return _BLANKS_ON_LINE.sub(_count, text)


def show_lines_to_approve(text: str) -> str:
    """Do the same for a text such as a difference, whose lines stay lines and may be indented."""
    return _BLANKS_IN_LINES.sub(_count, text)


def show_in_json(text: str) -> str:
    """Return JSON with such characters as escapes of JSON: the same data."""
    return _IN_VALUE.sub(lambda found: json.dumps(found[0])[1:-1], text)


def find_controls(text: str) -> list[tuple[int, str]]:
    """Return where `show_controls` replaces a single character, and by what."""
    return [(found.start(), _escape(found)) for found in _IN_TEXT.finditer(text)]


def _count(found: re.Match[str]) -> str:
    """Return an escape, and of a run what it consists of and how often."""
    if len(found[0]) == 1:
        return _escape(found)
    return f"{_write_escape(found[1]) if found[1] else _SPACE}×{len(found[0])}"


def _escape(found: re.Match[str]) -> str:
    return _write_escape(found[0])


def _write_escape(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
