"""Policy files: rules as TOML, read again while the program runs.

    [[rule]]
    tool = "run_shell_command"
    exact = '{"command":"df -h"}'
    action = "allow"

If a file has an error, its last valid rules stay in force and the error names the line. A file that was never
valid may have meant to deny anything, so every call needs approval until it is fixed.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from dovetail.data.edited_file import EditedFile, FileText
from dovetail.errors import ConfigError
from dovetail.events.call import READ_ONLY
from dovetail.policy.policy import PolicyProblem
from dovetail.policy.rule import MODES, PolicyRule
from dovetail.policy.rule_text import RuleError, read_each_rule, read_rules, remove_rule, write_rule

logger = logging.getLogger(__name__)


class PolicyFile:
    r"""The rules of one file; with `may_allow=False` (an extension folder) it may only deny and ask.

    >>> text = '[[rule]]\naction = "deny"\ntool = "shell"'
    >>> [rule.action for rule in PolicyFile(Path("policy.toml")).parse(text)]
    ['deny']
    """

    lowest_priority = 0
    most_rules = 5000
    most_bytes = 1_000_000

    def __init__(self, path: Path, *, may_allow: bool = True) -> None:
        self._path = path
        self._may_allow = may_allow
        self._rules: list[PolicyRule] | None = None
        self.problem: str | None = None

    def load(self) -> list[PolicyRule]:
        """Return the rules of the file, the last valid ones if it has an error, none if it does not exist."""
        try:
            self._rules = self.read()
            self.problem = None
        except ConfigError as error:
            if str(error) != self.problem:
                then = (
                    "every call needs approval"
                    if self._rules is None
                    else "its last valid rules stay in force"
                )
                logger.error("invalid policy file, %s: %s", then, error)
            self.problem = str(error)
        return self._make_emergency() if self._rules is None else self._rules

    @property
    def problems(self) -> list[PolicyProblem]:
        """The error when the file was last read, if any."""
        if self.problem is None:
            return []
        return [PolicyProblem(str(self._path), self.problem, keeps_last_good=self._rules is not None)]

    def read(self) -> list[PolicyRule]:
        """Return the rules in the file now.

        Raises:
            ConfigError: the file cannot be read or is invalid; the message names the file and the line.
        """
        return self.parse(self.read_text())

    def count(self) -> int:
        """Return the number of `[[rule]]` entries in the file; one entry may name several tools.

        Raises:
            ConfigError: as `read` does.
        """
        return len({rule.source for rule in self.read()})

    def parse(self, text: str) -> list[PolicyRule]:
        """Return the rules in a text as if it were that of the file; raises as `read` does."""
        return list(self._read(text))

    def find_problems(self) -> list[ConfigError]:
        """Return everything that is wrong with the file; a message names the file and, if known, the line."""
        try:
            text = self.read_text()
            rules = read_each_rule(text, self._path, lowest_priority=self.lowest_priority)
            broken = [each for each in rules if isinstance(each, ConfigError)]
            if not broken:
                self.parse(text)  # checks the file as a whole
            return broken
        except ConfigError as error:
            return [error]

    def read_text(self) -> str:
        """Return the text of the file, empty if it does not exist; raises as `read` does."""
        try:
            return self._read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self._path}: cannot be read: {error}") from error

    def _read_text(self) -> str:
        """Return the text of the file; a name that exists but is not a file is an error."""
        if not os.path.lexists(self._path):
            return ""
        if not self._path.is_file():
            raise ConfigError(f"{self._path} is a folder, or a link that leads nowhere.")
        with self._path.open("rb") as file:
            content = file.read(self.most_bytes + 1)
        if len(content) > self.most_bytes:
            raise ConfigError(f"{self._path} has more than {self.most_bytes} bytes.")
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
                raise ConfigError(f"{self._path} has more than {self.most_rules} rules.")
            if rule.action == "allow" and not self._may_allow:
                raise RuleError("an extension folder may deny and ask, but not allow.", place=rule.source)
            yield rule


class PolicyFiles:
    """The policy files of extension folders; they may deny and ask, but not allow."""

    def __init__(self, find: Callable[[], Iterable[Path]]) -> None:
        self._find = find
        self._files: dict[Path, PolicyFile] = {}

    def load(self) -> list[PolicyRule]:
        """Return the rules of the files that exist now."""
        paths = list(self._find())
        self._files = {path: self._files.get(path) or PolicyFile(path, may_allow=False) for path in paths}
        return [rule for file in self._files.values() for rule in file.load()]

    @property
    def problems(self) -> list[PolicyProblem]:
        """The files that could not be used when last read."""
        return [problem for file in self._files.values() for problem in file.problems]


class PolicyEditor(EditedFile):
    """Read and change one policy file; a text with an error is refused with its line."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, PolicyFile(Path(path.name)).parse)

    def add(self, rule: PolicyRule, version: str | None = None) -> FileText:
        """Append a rule to the file; raises as `write` does."""
        added = write_rule(rule)

        def append(text: str) -> str:
            gap = "\n" if text and not text.endswith("\n") else ""
            return f"{text}{gap}{added if text else added.lstrip()}"

        return self.change(append, version)

    def remove(self, rule_id: str) -> FileText:
        """Remove the entry of a rule from the file; raises as `write` and `remove_rule` do."""
        return self.change(lambda text: remove_rule(text, Path(self.path.name), rule_id))
