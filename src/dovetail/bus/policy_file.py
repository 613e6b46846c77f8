"""Policy files: rules as TOML, read again while the program runs.

    [[rule]]
    tool = "shell"
    arguments = { command = "git (status|log)( .*)?" }
    action = "allow"

A file with an error keeps the rules it had before and says the line. One that was never good may have meant
to forbid anything, so until it is mended every call is asked about.
"""

import json
import logging
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dovetail.bus.rule import MODES, Mode, PolicyRule
from dovetail.data.shapes import is_list, is_mapping
from dovetail.errors import ConfigError
from dovetail.messages.kind import READ_ONLY, Kind

logger = logging.getLogger(__name__)

_FIELDS = {
    "action",
    "agent",
    "arguments",
    "exact",
    "kind",
    "modes",
    "name",
    "owner",
    "priority",
    "reason",
    "tool",
}
_HEADING = re.compile(r"^[ \t]*\[\[\s*rule\s*\]\]", re.MULTILINE)


class PolicyFile:
    """The rules of one file; with `may_allow=False` (an extension folder's) it may only forbid and ask."""

    lowest_priority = 0

    def __init__(self, path: Path, *, may_allow: bool = True) -> None:
        self._path = path
        self._may_allow = may_allow
        self._rules: list[PolicyRule] | None = None
        self.problem: str | None = None

    def load(self) -> list[PolicyRule]:
        """The rules of the file; the last good ones when it has an error, none when there is no file."""
        try:
            self._rules = self.read()
            self.problem = None
        except ConfigError as error:
            if str(error) != self.problem:
                then = "every call is asked about" if self._rules is None else "its last good rules hold"
                logger.error("a policy file has an error, %s: %s", then, error)
            self.problem = str(error)
        return self._make_emergency() if self._rules is None else self._rules

    def read(self) -> list[PolicyRule]:
        """The rules that the file holds now.

        Raises:
            ConfigError: it cannot be read or has an error; the message names the file and the line.
        """
        try:
            text = self._path.read_text(encoding="utf-8") if self._path.is_file() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self._path} cannot be read: {error}") from error
        return list(self._read(text))

    def _make_emergency(self) -> list[PolicyRule]:
        if not self._may_allow:
            return []  # an extension folder with such a file does not come into service
        ask = PolicyRule(
            action="ask",
            modes=tuple(mode for mode in MODES if mode != "plan"),
            name="until the file is mended",
            priority=999,
            reason=f"the policy has an error: {self.problem}",
            source=str(self._path),
        )
        return [ask, replace(ask, modes=("plan",), kinds=READ_ONLY)]

    def _read(self, text: str) -> Iterator[PolicyRule]:
        rules = read_toml(text, self._path).get("rule", [])
        if not is_list(rules):
            raise ConfigError(f"{self._path}: `rule` must be written as [[rule]]")
        lines = [text.count("\n", 0, heading.start()) + 1 for heading in _HEADING.finditer(text)]
        for index, entry in enumerate(rules):
            line = lines[index] if len(lines) == len(rules) else 0
            place = f"{self._path}:{line}" if line else f"{self._path}, rule {index + 1}"
            try:
                yield from self._read_rule(entry, place)
            except ConfigError as error:
                raise ConfigError(f"{place}: {error.message}", hint=error.hint) from error

    def _read_rule(self, entry: Any, place: str) -> Iterator[PolicyRule]:
        if not is_mapping(entry) or "action" not in entry:
            raise ConfigError("a rule needs an `action`: allow, deny or ask")
        if unknown := sorted(entry.keys() - _FIELDS):
            raise ConfigError(f"unknown field {unknown[0]!r}; there are: {', '.join(sorted(_FIELDS))}")
        if entry["action"] == "allow" and not self._may_allow:
            raise ConfigError("an extension folder may forbid and ask, but not allow")
        tools = _read_texts(entry, "tool") or ("*",)
        for tool in tools:
            yield replace(_make_rule(entry, self.lowest_priority), tool=tool, source=place)


class PolicyFiles:
    """The rules of all the files that extension folders bring; they may forbid and ask, but not allow."""

    def __init__(self, find: Callable[[], Iterable[Path]]) -> None:
        self._find = find
        self._files: dict[Path, PolicyFile] = {}

    def load(self) -> list[PolicyRule]:
        """The rules of the files that are there now."""
        paths = list(self._find())
        self._files = {path: self._files.get(path) or PolicyFile(path, may_allow=False) for path in paths}
        return [rule for file in self._files.values() for rule in file.load()]


class RememberedRules(PolicyFile):
    """The answers that are to hold always, in a file of their own."""

    lowest_priority = -1000  # an answer stands beside the rule that asked, also beside a built-in one

    def _make_emergency(self) -> list[PolicyRule]:
        return []  # it only ever allows

    def load(self) -> list[PolicyRule]:
        """The remembered rules."""
        return [replace(rule, source="remembered") for rule in super().load()]

    def save(self, rule: PolicyRule) -> None:
        """Append a rule to the file."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(write_rule(rule))


def read_toml(text: str, path: Path) -> Mapping[str, Any]:
    """TOML text as data; an error names the file and the line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        place = f"{path}:{line[1]}" if line else str(path)
        raise ConfigError(f"{place}: {error}") from error


def write_rule(rule: PolicyRule) -> str:
    """A rule as TOML text."""
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
    }
    lines = [f"{name} = {_to_toml(value)}" for name, value in fields.items() if value not in (None, "", [])]
    table = ", ".join(f"{_to_toml(name)} = {_to_toml(pattern)}" for name, pattern in rule.arguments.items())
    return "\n".join(["", "[[rule]]", *lines, *([f"arguments = {{ {table} }}"] if table else []), ""])


def _to_toml(value: Any) -> str:
    """TOML writes text, numbers and lists like JSON; only DEL must be escaped too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _make_rule(entry: Mapping[str, Any], lowest: int) -> PolicyRule:
    arguments = entry.get("arguments", {})
    if not is_mapping(arguments) or not all(isinstance(pattern, str) for pattern in arguments.values()):
        raise ConfigError("`arguments` must be a table of argument names and patterns")
    priority = entry.get("priority", 0)
    if not isinstance(priority, int) or isinstance(priority, bool) or not lowest <= priority <= 999:
        raise ConfigError(f"`priority` must be a whole number from {lowest} to 999, not {priority!r}")
    texts = {name: _read_text(entry, name) for name in ("agent", "exact", "name", "owner", "reason")}
    return PolicyRule(
        action=entry["action"],
        kinds=tuple(_read_kind(name) for name in _read_texts(entry, "kind")),
        arguments=arguments,
        modes=_read_modes(entry),
        priority=priority,
        **{name: text for name, text in texts.items() if text is not None},
    )


def _read_modes(entry: Mapping[str, Any]) -> tuple[Mode, ...]:
    names = _read_texts(entry, "modes")
    if unknown := [name for name in names if name not in MODES]:
        raise ConfigError(f"{unknown[0]!r} is no mode; there are: {', '.join(MODES)}")
    return tuple(mode for mode in MODES if mode in names)


def _read_kind(name: str) -> Kind:
    try:
        return Kind(name.lower())
    except ValueError as error:
        raise ConfigError(f"{name!r} is no kind; there are: {', '.join(Kind)}") from error


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
