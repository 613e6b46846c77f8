"""Finds the skills that a message names."""

import re

_MENTION = re.compile(
    r"""(?<![A-Za-z0-9_./:\\-])   # not inside a path or an address
    /skill/
    ([A-Za-z0-9][A-Za-z0-9._-]*   # a name in Latin letters ends where other letters begin
    |[^\W\d_][\w.-]*)             # a name in other letters
    (?!/)                         # not a path that goes on""",
    re.VERBOSE,
)


def extract_skill_names(text: str) -> list[str]:
    """The names after `/skill/`, each once, in the order in which they appear."""
    names = (match.group(1).rstrip(".-_") for match in _MENTION.finditer(text))
    return list(dict.fromkeys(name for name in names if name))
