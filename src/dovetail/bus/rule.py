"""One policy rule: which calls it speaks of and what it says.

An argument pattern is matched against one top-level argument, as a whole: a string by its own text, any other
value by its canonical JSON. A nested value can therefore never stand in for a top-level one. Other ways to
write a path are in `arguments.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias, get_args

from dovetail.bus.arguments import Arguments, to_canonical_json
from dovetail.bus.pattern import check_pattern
from dovetail.errors import ConfigError
from dovetail.messages.kind import Kind

Action: TypeAlias = Literal["allow", "deny", "ask"]
Mode: TypeAlias = Literal["plan", "default", "auto", "yolo"]

ACTIONS: tuple[Action, ...] = get_args(Action)
MODES: tuple[Mode, ...] = get_args(Mode)
"""All modes, the strictest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCall:
    """What a policy may know of a call before it runs.

    `defaults` names what the tool takes for each argument that is left out; None where that is not known.
    """

    tool: str
    kind: Kind = Kind.Other
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    agent_path: tuple[str, ...] = ()
    mode: Mode = "default"
    run_path: tuple[str, ...] = ()
    owner: str | None = None
    definition: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def agent(self) -> str:
        """The agent path as rules write it: `main/researcher`."""
        return "/".join(self.agent_path)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """Says allow, deny or ask for the calls it matches; an empty condition matches everything.

    `tool` and `agent` are globs. `arguments` maps a top-level argument to a pattern that its whole value must
    match; `exact` is the canonical JSON that all arguments together must be. `run` and `owner` bind a
    remembered answer to one run or one person, `definition` to a tool that still says the same of itself.
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

    def __post_init__(self) -> None:
        if self.action not in ACTIONS:
            raise ConfigError(f"Unknown action {self.action!r}. Expected one of: {', '.join(ACTIONS)}.")
        for mode in self.modes:
            if mode not in MODES:
                raise ConfigError(f"Unknown mode {mode!r}. Expected one of: {', '.join(MODES)}.")
        for pattern in self.arguments.values():
            check_pattern(pattern)

    @property
    def title(self) -> str:
        """The rule in a few words, for people."""
        return self.name or f"{self.action} {self.tool}"

    @property
    def looks_at_arguments(self) -> bool:
        """Whether the rule depends on the arguments of a call."""
        return bool(self.arguments) or self.exact is not None

    def find_mismatch(self, call: PolicyCall, arguments: Arguments | None = None) -> str | None:
        """Why the rule does not speak of this call, or None when it does."""
        return self.find_static_mismatch(call) or self.find_argument_mismatch(call, arguments)

    def find_static_mismatch(self, call: PolicyCall) -> str | None:
        """Like `find_mismatch`, without a look at the arguments."""
        if not fnmatchcase(call.tool, self.tool):
            return f"tool {call.tool!r} is not {self.tool!r}"
        if self.kinds and call.kind not in self.kinds:
            return f"kind {call.kind.value!r} is not {' or '.join(self.kinds)}"
        if not fnmatchcase(call.agent, self.agent):
            return f"agent {call.agent!r} is not {self.agent!r}"
        if self.modes and call.mode not in self.modes:
            return f"mode {call.mode!r} is not {' or '.join(self.modes)}"
        if self.run is not None and self.run not in call.run_path:
            return f"it holds in run {self.run!r} only"
        if self.owner is not None and self.owner != call.owner:
            return f"it holds for {self.owner!r} only"
        if self.definition is not None and self.definition != call.definition:
            return "the tool has changed since"
        return None

    def find_argument_mismatch(self, call: PolicyCall, arguments: Arguments | None = None) -> str | None:
        """Why the arguments do not fit the rule, or None when they do."""
        arguments = arguments or Arguments(call.args, call.defaults)
        find = arguments.find_allow_mismatch if self.action == "allow" else arguments.find_other_mismatch
        for name, pattern in self.arguments.items():
            if (mismatch := find(name, pattern)) is not None:
                return mismatch
        if self.exact is not None and self.exact != to_canonical_json(call.args):
            return f"the arguments are not exactly {self.exact}"
        return None
