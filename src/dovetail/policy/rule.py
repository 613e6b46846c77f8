"""Policy rules: which calls a rule matches, and what it decides.

An argument pattern is matched against one top-level argument as a whole: a string by its own text, any other
value by its canonical JSON. A nested value can therefore never stand in for a top-level one. A path matches
however it is spelled, and a link by the place it leads to; for a rule that denies or asks, a file also by the
other names (hard links) that it has in the workspace.
"""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from dovetail.data.shapes import is_mapping
from dovetail.data.shown_arguments import show_arguments
from dovetail.data.text import explain_choices
from dovetail.errors import ConfigError
from dovetail.events.call import Kind
from dovetail.events.run_context import Mode
from dovetail.lazy import lazy

jsonschema_rs = lazy("jsonschema_rs")

Action: TypeAlias = Literal["allow", "deny", "ask"]

ACTIONS: tuple[Action, ...] = get_args(Action)
MODES: tuple[Mode, ...] = get_args(Mode)
"""All modes, the strictest first."""
_LONGEST_PATH = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCall:
    """A call as the policy sees it, before it runs.

    `defaults` holds the value of each argument that may be omitted; None if it is not known.

    >>> PolicyCall(tool="shell", kind=Kind.Execute, agent_path=("main", "researcher")).agent
    'main/researcher'
    """

    tool: str
    kind: Kind = Kind.Other
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    agent_path: tuple[str, ...] = ()
    mode: Mode = "default"
    run_path: tuple[str, ...] = ()
    owner: str | None = None
    session_id: str | None = None
    definition: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def agent(self) -> str:
        """The agent path as rules write it: `main/researcher`."""
        return "/".join(self.agent_path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """When and in which chat an answer was given that is always remembered, and when it was taken back."""

    id: str
    given_at: float
    session_id: str | None = None
    undone_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """A decision (allow, deny or ask) for the calls it matches; an empty condition matches everything.

    `tool` and `agent` are globs. `arguments` maps a top-level argument to a pattern that its whole value must
    match; `exact` is the canonical JSON that all arguments together must equal. The glob for `agent` matches
    the end of the agent path, at whole names: `scout` wherever it runs, `main/scout` where `main` has called
    it; with a slash in front it matches the whole path. `run` and `owner` bind a remembered answer to one run
    or one user, `definition` to an unchanged tool; `grant` is its history.

    >>> rule = PolicyRule(action="allow", tool="read_*")
    >>> Policy([rule]).decide(PolicyCall(tool="read_file")).action
    'allow'
    """

    action: Action
    tool: str = "*"
    kinds: tuple[Kind, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    exact: str | None = None
    agent: str = "*"
    modes: tuple[Mode, ...] = ()
    priority: int = 0
    name: str = ""
    reason: str = ""
    source: str = "code"
    run: str | None = None
    owner: str | None = None
    definition: str | None = None
    grant: Grant | None = None

    def __post_init__(self) -> None:
        if self.action not in ACTIONS:
            raise ConfigError(explain_choices("action", self.action, ACTIONS))
        for mode in self.modes:
            if mode not in MODES:
                raise ConfigError(explain_choices("mode", mode, MODES))
        for pattern in self.arguments.values():
            check_pattern(pattern)

    @property
    def title(self) -> str:
        """The name of the rule, or a short description."""
        return self.name or f"{self.action} {self.tool}"

    @property
    def shown_exact(self) -> str | None:
        """What all arguments together must equal, without the secrets in them."""
        try:
            arguments = json.loads(self.exact or "")
        except ValueError:  # a rule of a file that never matches
            return self.exact
        return to_canonical_json(show_arguments(arguments)) if is_mapping(arguments) else self.exact

    @property
    def looks_at_arguments(self) -> bool:
        """Whether the rule depends on the arguments of a call."""
        return bool(self.arguments) or self.exact is not None

    def find_mismatch(self, call: PolicyCall, arguments: "Arguments | None" = None) -> str | None:
        """Return why the rule does not match the call, or None if it does."""
        return self.find_static_mismatch(call) or self.find_argument_mismatch(call, arguments)

    def find_static_mismatch(self, call: PolicyCall) -> str | None:
        """Like `find_mismatch`, but ignore the arguments."""
        if not fnmatchcase(call.tool, self.tool):
            return f"tool {call.tool!r} is not {self.tool!r}"
        if self.kinds and call.kind not in self.kinds:
            return f"kind {call.kind.value!r} is not {' or '.join(self.kinds)}"
        if not matches_agent(self.agent, call.agent):
            return f"agent {call.agent!r} is not {self.agent!r}"
        if self.modes and call.mode not in self.modes:
            return f"mode {call.mode!r} is not {' or '.join(self.modes)}"
        if self.run is not None and self.run not in call.run_path:
            return f"it applies to run {self.run!r} only"
        if self.owner is not None and self.owner != call.owner:
            return f"it applies to {self.owner!r} only"
        if self.definition is not None and self.definition != call.definition:
            return "the tool has changed since"
        return None

    def find_argument_mismatch(self, call: PolicyCall, arguments: "Arguments | None" = None) -> str | None:
        """Return why the arguments do not match, or None if they do."""
        arguments = arguments or Arguments(call.args, call.defaults)
        find = arguments.find_allow_mismatch if self.action == "allow" else arguments.find_other_mismatch
        for name, pattern in self.arguments.items():
            if (mismatch := find(name, pattern)) is not None:
                return mismatch
        if self.exact is not None and self.exact != to_canonical_json(call.args):
            return f"the arguments are not exactly {self.shown_exact}"
        return None


class Arguments:
    """The arguments of one call; `defaults` are the known values of omitted arguments.

    Relative paths start at `root`, the workspace; by default at the current folder.
    """

    def __init__(
        self, given: Mapping[str, Any], defaults: Mapping[str, Any] | None = None, root: Path | None = None
    ) -> None:
        self._given = given
        self._defaults = defaults or {}
        self._root = root
        self._spellings: dict[str, tuple[str, ...]] = {}

    def find_allow_mismatch(self, name: str, pattern: str) -> str | None:
        """Return why an allow rule does not match, or None if it does."""
        value = self._given.get(name)
        if value is None:
            value = self._defaults.get(name)
        if value is None and name not in self._given:
            return f"argument {name!r} is not given"
        if not matches_whole(pattern, _to_text(value)):
            return f"argument {name!r} does not match {pattern!r}"
        real = self._find_real(value) if isinstance(value, str) else None
        if real is not None and not matches_whole(pattern, real):
            return f"argument {name!r} leads to {real!r}, which does not match {pattern!r}"
        return None

    def find_other_mismatch(self, name: str, pattern: str) -> str | None:
        """Return why a deny or ask rule does not match, or None if it does."""
        if name not in self._spellings:
            self._spellings[name] = tuple(dict.fromkeys(self._spell(name)))
        if not self._spellings[name]:
            return f"argument {name!r} is not given"
        if any(matches_whole(pattern, text) for text in self._spellings[name]):
            return None
        given = "does not match" if name in self._given else "is not given and its default does not match"
        return f"argument {name!r} {given} {pattern!r}"

    def _spell(self, name: str) -> Iterator[str]:
        """Yield all texts that stand for an argument; if omitted, null or empty, its default counts."""
        if name not in self._given and name not in self._defaults:
            return
        value = self._given.get(name)
        if name in self._given:
            yield _to_text(value)
        if value is None or value == "":
            value = self._defaults.get(name) or ""
            yield _to_text(value)
        if isinstance(value, str) and (place := self._resolve(value)) is not None:
            yield from _with_slash(os.path.normpath(value))
            yield from _with_slash(place)
            yield from _with_slash(os.path.relpath(place, self._get_root()))
            for other in _find_hard_links(place, self._get_root()):
                yield other
                yield os.path.relpath(other, self._get_root())

    def _find_real(self, value: str) -> str | None:
        """Return the place that a path leads to, if that differs from the place it names."""
        if "://" in value or (place := self._resolve(value)) is None:
            return None
        root = self._get_root()
        named = os.path.join(root, value)
        if ".." not in value.split("/") and place == os.path.normpath(named):
            return None
        return place if os.path.isabs(value) else os.path.relpath(place, root)

    def _resolve(self, value: str) -> str | None:
        if len(value) > _LONGEST_PATH:
            return None
        try:
            return os.path.realpath(os.path.join(self._get_root(), value))
        except (OSError, ValueError):  # a null byte
            return None

    def _get_root(self) -> str:
        return os.path.realpath(self._root or ".")


def _find_hard_links(place: str, root: str) -> Iterator[str]:
    """Yield the other names of a file below the workspace; only a file with several names is looked for."""
    try:
        status = os.lstat(place)
    except (OSError, ValueError):
        return
    if status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
        return
    folders = [root]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.inode() == status.st_ino and entry.path != place:
                    with suppress(OSError):
                        if os.path.samestat(status, entry.stat(follow_symlinks=False)):
                            yield entry.path


def matches_agent(pattern: str, path: str) -> bool:
    """Whether a glob matches the end of an agent path, or all of it if the glob begins with a slash.

    >>> matches_agent("scout", "main/scout"), matches_agent("/scout", "main/scout")
    (True, False)
    """
    return fnmatchcase(f"/{path}", pattern if pattern.startswith("/") else f"*/{pattern}")


def to_canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and no spaces: equal values have equal texts."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


def matches_whole(pattern: str, text: str) -> bool:
    """Whether the pattern matches the text from its first to its last character."""
    return _compile(pattern).is_valid(text)


def check_pattern(pattern: str) -> None:
    """Raise `ConfigError` if a pattern is invalid."""
    _compile(pattern)


@lru_cache(maxsize=10_000)
def _compile(pattern: str) -> Any:
    try:
        _make_validator(pattern)  # alone first: an unbalanced bracket must not break out of the anchors
        return _make_validator(rf"\A(?s:{pattern})\z")
    except ValueError as error:
        raise ConfigError(
            f"Invalid pattern {pattern!r}.",
            hint="Patterns are regular expressions without look-around and back-references.",
        ) from error


def _make_validator(pattern: str) -> Any:
    return jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions())


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else to_canonical_json(value)


def _with_slash(path: str) -> Iterator[str]:
    """Yield a path, also as a folder: `secrets/.*` matches `secrets`, too."""
    yield path
    yield f"{path}/"
