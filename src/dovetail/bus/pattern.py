"""Argument patterns: regular expressions that are matched in linear time, whatever the text.

The engine knows no look-around and no back-references, so that no argument can make a pattern run endlessly.
"""

from functools import lru_cache
from typing import Any

from dovetail.errors import ConfigError
from dovetail.lazy import lazy

jsonschema_rs = lazy("jsonschema_rs")


def matches_whole(pattern: str, text: str) -> bool:
    """Whether the pattern matches the text from its first to its last character."""
    return _compile(pattern).is_valid(text)


def check_pattern(pattern: str) -> None:
    """Make sure that a pattern can be used; else a `ConfigError` says why."""
    _compile(pattern)


@lru_cache(maxsize=10_000)
def _compile(pattern: str) -> Any:
    try:
        _make_validator(pattern)  # alone first: an unbalanced bracket must not break out of the anchors
        return _make_validator(rf"\A(?s:{pattern})\z")
    except ValueError as error:
        raise ConfigError(
            f"Invalid pattern {pattern!r}",
            hint="Patterns are regular expressions without look-around and back-references.",
        ) from error


def _make_validator(pattern: str) -> Any:
    return jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions())
