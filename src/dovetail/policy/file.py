"""Policy files: rules as TOML, read again while the program runs.

    [[rule]]
    tool = "run_shell_command"
    exact = '{"command":"df -h"}'
    action = "allow"

A file with an error keeps the rules it had before and says the line. One that was never good may have meant
to forbid anything, so until it is fixed every call is asked about.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from dovetail.errors import ConfigError
from dovetail.events.call import READ_ONLY
from dovetail.policy.policy import Policy, PolicyProblem
from dovetail.policy.rule import MODES, PolicyRule
from dovetail.policy.rule_text import read_rules, write_rule

logger = logging.getLogger(__name__)


def open_policy(workspace: Path, find_further: Callable[[], Iterable[Path]]) -> Policy:
    """The rules of a workspace and of the files that extension folders bring, and remembered answers."""
    return Policy(
        sources=[PolicyFile(workspace / "policy.toml"), PolicyFiles(find_further)],
        store=RememberedRules(workspace / ".dovetail" / "remembered.toml"),
        root=workspace,
    )


class PolicyFile:
    """The rules of one file; with `may_allow=False` (an extension folder's) it may only forbid and ask."""

    lowest_priority = 0
    most_rules = 5000
    most_bytes = 1_000_000

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

    @property
    def problems(self) -> list[PolicyProblem]:
        """Why the file could not be used at the last reading; empty when it could."""
        if self.problem is None:
            return []
        return [PolicyProblem(str(self._path), self.problem, keeps_last_good=self._rules is not None)]

    def read(self) -> list[PolicyRule]:
        """The rules that the file holds now.

        Raises:
            ConfigError: it cannot be read or has an error; the message names the file and the line.
        """
        try:
            text = self._read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self._path} cannot be read: {error}") from error
        return list(self._read(text))

    def _read_text(self) -> str:
        """The text of the file; a name that is there but leads to no file is an error, not an empty file."""
        if not os.path.lexists(self._path):
            return ""
        if not self._path.is_file():
            raise ConfigError(f"{self._path} is not a file but a folder, or a link that leads to no file")
        with self._path.open("rb") as file:
            content = file.read(self.most_bytes + 1)
        if len(content) > self.most_bytes:
            raise ConfigError(f"{self._path} has more than {self.most_bytes} bytes")
        return content.decode("utf-8")

    def _make_emergency(self) -> list[PolicyRule]:
        if not self._may_allow:
            return []  # an extension folder with such a file does not come into service
        ask = PolicyRule(
            action="ask",
            modes=tuple(mode for mode in MODES if mode != "plan"),
            name="until the file is fixed",
            priority=999,
            reason=f"the policy has an error: {self.problem}",
            source=str(self._path),
        )
        return [ask, replace(ask, modes=("plan",), kinds=READ_ONLY)]

    def _read(self, text: str) -> Iterator[PolicyRule]:
        rules = read_rules(text, self._path, lowest_priority=self.lowest_priority)
        for number, rule in enumerate(rules):
            if number == self.most_rules:
                raise ConfigError(f"{self._path} has more than {self.most_rules} rules")
            if rule.action == "allow" and not self._may_allow:
                raise ConfigError(f"{rule.source}: an extension folder may forbid and ask, but not allow")
            yield rule


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

    @property
    def problems(self) -> list[PolicyProblem]:
        """The files that could not be used at the last reading."""
        return [problem for file in self._files.values() for problem in file.problems]


class RememberedRules(PolicyFile):
    """The answers that are to hold always, in a file of their own."""

    lowest_priority = -1000  # an answer stands beside the rule that asked, also beside a built-in one
    most_rules = 50_000
    most_bytes = 20_000_000

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
