"""Answers that are remembered always: rules in a file of their own, with the history of who allowed what.

An answer that is taken back stays in the file with the time of its undoing, and no longer allows anything.
Processes that share the workspace share the file: each reads it again when another one has changed it.
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from dovetail.data.private_file import make_private_folder, open_private
from dovetail.data.private_folder import settle_private
from dovetail.errors import NotFoundError
from dovetail.policy.file import PolicyFile, PolicyFiles
from dovetail.policy.policy import Policy
from dovetail.policy.rule import Grant, PolicyRule
from dovetail.policy.rule_text import write_rule


def open_policy(workspace: Path, find_further: Callable[[], Iterable[Path]]) -> Policy:
    """Return the policy of a workspace: its file, the files of extension folders, and remembered answers."""
    return Policy(
        sources=[PolicyFile(workspace / "policy.toml"), PolicyFiles(find_further)],
        store=open_remembered(workspace),
        root=workspace,
    )


def open_remembered(workspace: Path) -> "RememberedRules":
    """Return the answers that are always remembered in a workspace."""
    return RememberedRules(settle_private(workspace, "remembered.toml"))


class RememberedRules(PolicyFile):
    """Answers that are remembered always, in a file of their own.

    >>> policy = Policy(store=RememberedRules(Path("remembered.toml")))
    >>> call = PolicyCall(tool="shell", kind=Kind.Execute, args={"command": "ls"}, owner="ann")
    >>> rule = policy.remember(call, "always")
    >>> Policy(store=RememberedRules(Path("remembered.toml"))).decide(call).action
    'allow'
    """

    lowest_priority = -1000  # an answer ranks next to the rule that asked, also a built-in one
    most_rules = 50_000
    most_bytes = 20_000_000
    _read_version: tuple[int, ...] = ()

    def _make_emergency(self) -> list[PolicyRule]:
        return []  # it only ever allows

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def is_stale(self) -> bool:
        """Whether the file has changed since it was last loaded."""
        return self._find_version() != self._read_version

    def load(self) -> list[PolicyRule]:
        """Return the rules in force; answers that were taken back are not."""
        self._read_version = self._find_version()
        rules = [replace(rule, source="remembered", agent=_anchor(rule.agent)) for rule in super().load()]
        return [rule for rule in rules if rule.grant is None or rule.grant.undone_at is None]

    def list_all(self) -> list[PolicyRule]:
        """Return all answers, the newest first, also those that were taken back; each has a `grant`."""
        rules = [rule if rule.grant else replace(rule, grant=_make_old_grant(rule)) for rule in self.read()]
        return sorted(rules, key=lambda rule: rule.grant.given_at if rule.grant else 0, reverse=True)

    def save(self, rule: PolicyRule) -> None:
        """Append a rule to the file."""
        with self._locked(), open_private(self._path, "a") as file:
            file.write(write_rule(rule))

    def undo(self, rule_id: str) -> PolicyRule:
        """Take an answer back; one that was taken back before stays as it is.

        Raises:
            NotFoundError: the file has no such answer.
        """
        with self._locked():
            rules = list(reversed(self.list_all()))
            place = next(
                (at for at, rule in enumerate(rules) if rule.grant and rule.grant.id == rule_id), None
            )
            if place is None:
                raise NotFoundError(
                    f"Remembered answer {rule_id!r} not found.", hint="List them: dovetail policy remembered"
                )
            grant = rules[place].grant
            if grant is not None and grant.undone_at is None:
                rules[place] = replace(rules[place], grant=replace(grant, undone_at=time.time()))
                self._replace(rules)
            return rules[place]

    def _replace(self, rules: Iterable[PolicyRule]) -> None:
        draft = self._path.with_suffix(".draft")
        with open_private(draft, "w") as file:
            file.write("".join(map(write_rule, rules)))
        draft.replace(self._path)

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Let no other process change the file; the lock is another file, since this one is replaced."""
        make_private_folder(self._path.parent)
        with open_private(self._path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _find_version(self) -> tuple[int, ...]:
        try:
            status = os.stat(self._path)
        except OSError:
            return ()
        return status.st_mtime_ns, status.st_size, status.st_ino


def _anchor(agent: str) -> str:
    """Return the glob for exactly one agent path; earlier versions wrote it without the slash in front."""
    return agent if agent == "*" or agent.startswith("/") else f"/{agent}"


def _make_old_grant(rule: PolicyRule) -> Grant:
    """Return the grant of an answer that was stored without one: its id comes from its content."""
    return Grant(id=f"rule_{hashlib.sha256(write_rule(rule).encode()).hexdigest()[:20]}", given_at=0.0)
