"""Policy rules as TOML text, read and written; an error names the file and the line of its rule."""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from itertools import dropwhile
from pathlib import Path
from typing import Any

from dovetail.data.shapes import is_list, is_mapping, is_number
from dovetail.data.text import explain_choices, explain_unknown, shorten
from dovetail.errors import ConfigError, NotFoundError
from dovetail.events.call import Kind
from dovetail.policy.rule import MODES, Grant, Mode, PolicyRule

_FIELDS = {
    "action",
    "agent",
    "arguments",
    "definition",
    "exact",
    "grant",
    "kind",
    "modes",
    "name",
    "owner",
    "priority",
    "reason",
    "tool",
}
_HEADING = re.compile(r"[ \t]*\[\[\s*rule\s*\]\]")
_DEEP_KEY = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){100}")
"""A key of a hundred parts, which costs the parser quadratic time; this search costs linear time."""


class RuleError(ConfigError):
    """The text of rules is invalid; `place` is its file, with the `line` if that is known."""

    wire_name = "ConfigError"

    def __init__(self, message: str, *, place: str, hint: str | None = None) -> None:
        super().__init__(f"{place}: {message}", hint=hint)
        line = place.rpartition(":")[2]
        self.line = int(line) if line.isdecimal() else None


def read_rules(text: str, path: Path, *, lowest_priority: int = 0) -> Iterator[PolicyRule]:
    """Return the rules in the text of a file; each names its line as its source.

    Raises:
        ConfigError: the text is not TOML, or a rule is invalid.
    """
    for read in read_each_rule(text, path, lowest_priority=lowest_priority):
        if isinstance(read, ConfigError):
            raise read
        yield from read


def read_each_rule(
    text: str, path: Path, *, lowest_priority: int = 0
) -> Iterator[list[PolicyRule] | ConfigError]:
    """Yield for each rule in the text of a file what it means, or what is wrong with it.

    Raises:
        ConfigError: the text is not TOML, or contains something else than rules.
    """
    document = _read_toml(text, path)
    if unknown := [key for key in document if key != "rule"]:
        raise ConfigError(f"{path}: unknown key {shorten(unknown[0])}", hint="Rules are written as [[rule]].")
    rules = document.get("rule", [])
    if not is_list(rules):
        raise ConfigError(f"{path}: `rule` must be written as [[rule]]")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if _HEADING.match(line)]
    for index, entry in enumerate(rules):
        line = lines[index] if len(lines) == len(rules) else 0
        place = f"{path}:{line}" if line else f"{path}, rule {index + 1}"
        try:
            yield list(_read_rule(entry, place, lowest_priority))
        except ConfigError as error:
            yield RuleError(error.message, place=place, hint=error.hint)


def read_rule(entry: Mapping[str, Any]) -> list[PolicyRule]:
    """Return the rule that an entry of a file describes, once for each tool it names.

    Raises:
        ConfigError: the rule is invalid.
    """
    return list(_read_rule(entry, "code", 0))


def write_rule(rule: PolicyRule) -> str:
    """Return a rule as TOML text."""
    fields: dict[str, Any] = {
        "action": rule.action,
        "tool": rule.tool,
        "kind": [kind.value for kind in rule.kinds],
        "exact": rule.exact,
        "agent": rule.agent,
        "modes": list(rule.modes),
        "priority": rule.priority,
        "name": rule.name,
        "reason": rule.reason,
        "owner": rule.owner,
        "definition": rule.definition,
    }
    lines = [f"{name} = {_to_toml(value)}" for name, value in fields.items() if value not in (None, "", [])]
    table = ", ".join(f"{_to_toml(name)} = {_to_toml(pattern)}" for name, pattern in rule.arguments.items())
    lines += [f"arguments = {{ {table} }}"] if table else []
    if rule.grant is not None:
        given = {name: value for name, value in asdict(rule.grant).items() if value is not None}
        lines.append(
            f"grant = {{ {', '.join(f'{name} = {_to_toml(value)}' for name, value in given.items())} }}"
        )
    return "\n".join(["", "[[rule]]", *lines, ""])


def identify_rule(rule: PolicyRule) -> str | None:
    """Return an id for a rule of a file, made of its line and its contents; None if its line is not known."""
    _, colon, line = rule.source.rpartition(":")
    if not colon or not line.isdigit():
        return None
    return hashlib.sha256(f"{line}{write_rule(rule)}".encode()).hexdigest()[:16]


def remove_rule(text: str, path: Path, rule_id: str) -> str:
    """Return the text of a file without the entry of a rule.

    Comments in front of the entry and after it stay. All tools that it names are removed with it.

    Raises:
        ConfigError: the text is invalid, or the entry cannot be separated from the others.
        NotFoundError: no rule has this id; the text may have changed.
    """
    rules = list(read_rules(text, path))
    found = next((rule for rule in rules if identify_rule(rule) == rule_id), None)
    if found is None:
        raise NotFoundError(
            f"Rule {rule_id!r} not found in {path}.", hint="It may have changed; list the rules again."
        )
    shorter = _cut_entry(text.split("\n"), int(found.source.rpartition(":")[2]) - 1)
    others = [rule for rule in rules if rule.source != found.source]
    if _ignore_lines(read_rules(shorter, path)) != _ignore_lines(others):
        raise ConfigError(f"{found.source}: the rule cannot be removed alone.", hint="Edit the file.")
    return shorter


def _ignore_lines(rules: Iterable[PolicyRule]) -> list[PolicyRule]:
    return [replace(rule, source="") for rule in rules]


def _cut_entry(lines: list[str], start: int) -> str:
    """Return the lines without the entry that begins at one of them."""
    end = next((at for at in range(start + 1, len(lines)) if _HEADING.match(lines[at])), len(lines))
    tail = end
    while tail > start + 1 and lines[tail - 1].strip()[:1] in ("", "#"):
        tail -= 1
    # A comment right below the entry belongs to it; one after a gap does not.
    gap = next((at for at in range(tail, end) if not lines[at].strip()), tail)
    before, after = lines[:start], lines[gap:]
    if not before or not before[-1].strip():
        after = list(dropwhile(lambda line: not line.strip(), after))
    elif after and after[0].strip():
        before.append("")
    return "\n".join([*before, *after])


def _to_toml(value: Any) -> str:
    """Return a TOML value: like JSON, but DEL is escaped too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _read_rule(entry: Any, place: str, lowest: int) -> Iterator[PolicyRule]:
    fields: Mapping[str, Any] = entry if is_mapping(entry) else {}
    if unknown := sorted(fields.keys() - _FIELDS):
        raise ConfigError(explain_unknown("field", unknown[0], sorted(_FIELDS)))
    if "action" not in fields:
        raise ConfigError("missing `action`: allow, deny or ask")
    for tool in _read_texts(fields, "tool") or ("*",):
        yield replace(_make_rule(fields, lowest), tool=tool, source=place)


def _make_rule(entry: Mapping[str, Any], lowest: int) -> PolicyRule:
    arguments = entry.get("arguments", {})
    if not is_mapping(arguments) or not all(isinstance(pattern, str) for pattern in arguments.values()):
        raise ConfigError("`arguments` must be a table of argument names and patterns")
    priority = entry.get("priority", 0)
    if not isinstance(priority, int) or isinstance(priority, bool) or not lowest <= priority <= 999:
        raise ConfigError(f"`priority` must be a whole number from {lowest} to 999, not {priority!r}")
    texts = {
        name: _read_text(entry, name) for name in ("agent", "definition", "exact", "name", "owner", "reason")
    }
    return PolicyRule(
        action=entry["action"],
        kinds=tuple(_read_kind(name) for name in _read_texts(entry, "kind")),
        arguments=arguments,
        modes=_read_modes(entry),
        priority=priority,
        grant=_read_grant(entry.get("grant")),
        **{name: text for name, text in texts.items() if text is not None},
    )


def _read_grant(value: Any) -> Grant | None:
    if value is None:
        return None
    if not is_mapping(value) or not isinstance(value.get("id"), str) or not is_number(value.get("given_at")):
        raise ConfigError("`grant` must be a table with `id` and `given_at`")
    undone_at, session_id = value.get("undone_at"), value.get("session_id")
    return Grant(
        id=value["id"],
        given_at=float(value["given_at"]),
        session_id=session_id if isinstance(session_id, str) else None,
        undone_at=float(undone_at) if is_number(undone_at) else None,
    )


def _read_modes(entry: Mapping[str, Any]) -> tuple[Mode, ...]:
    names = _read_texts(entry, "modes")
    if unknown := [name for name in names if name not in MODES]:
        raise ConfigError(explain_choices("mode", unknown[0], MODES))
    return tuple(mode for mode in MODES if mode in names)


def _read_kind(name: str) -> Kind:
    try:
        return Kind(name.lower())
    except ValueError as error:
        raise ConfigError(explain_choices("kind", name, Kind)) from error


def _read_text(entry: Mapping[str, Any], name: str) -> str | None:
    value = entry.get(name)
    if value is None or isinstance(value, str):
        return value
    raise ConfigError(f"`{name}` must be a text, not {value!r}")


def _read_texts(entry: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = entry.get(name, [])
    texts = [value] if isinstance(value, str) else value
    if not is_list(texts) or not all(isinstance(text, str) for text in texts):
        raise ConfigError(f"`{name}` must be a text or a list of texts, not {value!r}")
    return tuple(texts)


def _read_toml(text: str, path: Path) -> Mapping[str, Any]:
    if _DEEP_KEY.search(text):
        raise ConfigError(f"{path}: a key is nested too deeply")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{path}: a value is nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        place = f"{path}:{line[1]}" if line else str(path)
        raise RuleError(str(error), place=place) from error
