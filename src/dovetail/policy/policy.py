"""The policy decides which calls may run: rules by priority, the highest first, then the built-in ones.

Among rules of equal priority deny beats a remembered answer, that beats ask, and ask beats allow.
"""

import fnmatch
import glob
import logging
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from dovetail.data.text import did_you_mean
from dovetail.events.call import READ_ONLY, Kind
from dovetail.ids import new_id
from dovetail.policy.rule import MODES, Action, Arguments, Grant, PolicyCall, PolicyRule, to_canonical_json

logger = logging.getLogger(__name__)

_LOWEST = -1000
_EDITS = (Kind.Write, Kind.Edit, Kind.Move)


def _make_rule(rank: int, name: str, action: Action, **conditions: Any) -> PolicyRule:
    return PolicyRule(name=name, action=action, priority=_LOWEST + rank, source="built-in", **conditions)


LAST_RULE = _make_rule(0, "tools that change something", "ask", reason="it may change something outside")

BUILT_IN_RULES = (
    _make_rule(5, "read-only tools", "allow", kinds=READ_ONLY),
    _make_rule(4, "plan mode", "deny", modes=("plan",), reason="in plan mode only read-only tools may run"),
    _make_rule(3, "yolo mode", "allow", modes=("yolo",)),
    _make_rule(2, "edits in auto mode", "allow", modes=("auto",), kinds=_EDITS),
    _make_rule(1, "tools that declare no kind", "allow", kinds=(Kind.Other,)),
    LAST_RULE,
)

_STRICTNESS: dict[Action, int] = {"deny": 0, "ask": 2, "allow": 3}
_REMEMBERED = 1
_NOT_WRITTEN = ("built-in", "remembered")
_MOST_KEYS = 1000
_MOST_OF_RUNS = 500
"""How many answers for single runs are kept; runs do not report their end here, so the oldest are dropped."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about one call, and the rule that made it.

    >>> decision = Policy([PolicyRule(action="deny", tool="shell")]).decide(PolicyCall(tool="shell"))
    >>> decision.action, decision.reason
    ('deny', "rule 'deny shell' (code)")
    """

    action: Action
    rule: PolicyRule

    @property
    def reason(self) -> str:
        """The reason, in words for a model or a user."""
        return self.rule.reason or f"rule {self.rule.title!r} ({self.rule.source})"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The way to a decision: every rule in order, and why it does not match the call."""

    decision: Decision
    steps: tuple[tuple[PolicyRule, str | None], ...]
    agent: str = ""

    def __str__(self) -> str:
        caller = f" for agent {self.agent}" if self.agent else ""
        lines = [f"{self.decision.action}{caller}: {self.decision.reason}"]
        for rule, mismatch in self.steps:
            lines.append(f"  {rule.priority:>5} {rule.title} ({rule.source}): {mismatch or 'decides'}")
        return "\n".join(lines)


class RuleSource(Protocol):
    """Rules that are stored elsewhere: a policy file, or remembered answers."""

    def load(self) -> list[PolicyRule]:
        """Return the current rules, or the last valid ones if there is an error."""
        ...


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """A policy file that cannot be used, and the reason."""

    path: str
    error: str
    keeps_last_good: bool = False


class RuleStore(RuleSource, Protocol):
    """A source that also stores new rules."""

    def save(self, rule: PolicyRule) -> None:
        """Store another rule."""
        ...


class Policy:
    """An ordered set of rules, from code, from sources and from remembered answers.

    Relative paths in arguments start at `root`, the workspace; by default at the current folder.

    >>> policy = Policy([PolicyRule(action="deny", tool="shell", arguments={"command": "rm .*"})])
    >>> policy.decide(PolicyCall(tool="shell", args={"command": "rm -r shed"})).action
    'deny'
    """

    def __init__(
        self,
        rules: Iterable[PolicyRule] = (),
        *,
        sources: Iterable[RuleSource] = (),
        store: RuleStore | None = None,
        root: Path | None = None,
    ) -> None:
        self._root = root
        self._own = list(rules)
        self._of_runs: deque[PolicyRule] = deque(maxlen=_MOST_OF_RUNS)
        self._sources = [*sources, *([store] if store else [])]
        self._store = store
        self._ordered: list[PolicyRule] = []
        self._candidates: dict[tuple[object, ...], list[PolicyRule]] = {}
        self.reload()

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        """All rules, in the order in which they are tried."""
        return tuple(self._ordered)

    def reload(self) -> None:
        """Read all sources again."""
        sourced = [rule for source in self._sources for rule in source.load()]
        self._ordered = sorted([*self._own, *self._of_runs, *sourced, *BUILT_IN_RULES], key=_get_rank)
        self._candidates = {}

    @property
    def problems(self) -> list[PolicyProblem]:
        """The files that could not be used when last read."""
        return [problem for source in self._sources for problem in getattr(source, "problems", ())]

    def find_unknown_tools(self, names: Iterable[str]) -> list[str]:
        """Return warnings about rules that name an unknown tool, each with the nearest name."""
        known = list(names)
        notices: list[str] = []
        for rule in self._ordered:
            if rule.source in _NOT_WRITTEN or glob.escape(rule.tool) != rule.tool or rule.tool in known:
                continue
            hint = did_you_mean(rule.tool, known, most=1)
            notices.append(f"{rule.source}: Unknown tool {rule.tool!r}. {hint}".rstrip())
        return notices

    def find_unknown_agents(self, names: Iterable[str]) -> list[str]:
        """Return warnings about rules for agents that do not exist, each with the nearest name."""
        known = list(names)
        notices: list[str] = []
        for rule in self._ordered:
            if rule.source in _NOT_WRITTEN:
                continue
            for name in filter(None, rule.agent.split("/")):
                if not fnmatch.filter(known, name):
                    hint = did_you_mean(name, known, most=1)
                    notices.append(f"{rule.source}: Unknown agent {name!r}. {hint}".rstrip())
        return notices

    def add(self, rule: PolicyRule) -> None:
        """Add a rule until the program ends."""
        if rule not in self._ordered:
            self._own.append(rule)
            self.reload()

    @property
    def remembered(self) -> RuleStore | None:
        """Where answers are kept that are always remembered; None if only until the program ends."""
        return self._store

    def decide(self, call: PolicyCall) -> Decision:
        """Return the decision of the first rule that matches."""
        if getattr(self._store, "is_stale", False):  # another process has remembered or taken back an answer
            self.reload()
        arguments = Arguments(call.args, call.defaults, self._root)
        for rule in self._find_candidates(call):
            if not rule.looks_at_arguments or rule.find_argument_mismatch(call, arguments) is None:
                return Decision(rule.action, rule)
        return Decision(LAST_RULE.action, LAST_RULE)

    def explain(self, call: PolicyCall) -> Explanation:
        """Return which rule decides, and why the ones before it do not match."""
        decision = self.decide(call)
        arguments = Arguments(call.args, call.defaults, self._root)
        steps: list[tuple[PolicyRule, str | None]] = []
        for rule in self._ordered:
            steps.append((rule, rule.find_mismatch(call, arguments)))
            if rule is decision.rule:
                break
        return Explanation(decision, tuple(steps), call.agent)

    def remember(self, call: PolicyCall, how: Literal["run", "always"]) -> PolicyRule | None:
        """Allow exactly this call from now on: in this run, or for this user always.

        The rule is as narrow as the call, and is kept only if it decides the call that made it.
        """
        if how == "run" and not call.run_path:
            return None
        rule = self._make_narrow_rule(call, how)
        decision = self.decide(call)
        if decision.action == "allow" or rule.find_mismatch(call) is not None:
            return None
        if _get_rank(rule) > _get_rank(decision.rule):
            logger.warning("%r decides %r before any remembered answer", decision.rule.title, call.tool)
            return None
        if how == "run":
            self._of_runs.append(rule)
        elif self._store is not None:
            self._store.save(rule)
        else:
            self._own.append(rule)
        self.reload()
        return rule

    def _make_narrow_rule(self, call: PolicyCall, how: Literal["run", "always"]) -> PolicyRule:
        return PolicyRule(
            action="allow",
            tool=glob.escape(call.tool),
            kinds=(call.kind,),
            exact=to_canonical_json(call.args),
            agent=f"/{glob.escape(call.agent)}",
            modes=MODES[MODES.index(call.mode) :],
            priority=self.decide(call).rule.priority,
            name=f"{'always' if how == 'always' else 'in this run'} allowed: {call.tool}",
            source="remembered",
            run=call.run_path[0] if how == "run" else None,
            owner=call.owner,
            definition=call.definition or None,
            grant=Grant(id=new_id("rule"), given_at=time.time(), session_id=call.session_id),
        )

    def _find_candidates(self, call: PolicyCall) -> list[PolicyRule]:
        """Return the rules that may match, whatever the arguments; the same for all calls of one key."""
        key = (call.tool, call.kind, call.agent_path, call.mode, call.run_path, call.owner, call.definition)
        candidates = self._candidates.get(key)
        if candidates is None:
            if len(self._candidates) >= _MOST_KEYS:
                self._candidates.clear()
            candidates = [rule for rule in self._ordered if rule.find_static_mismatch(call) is None]
            self._candidates[key] = candidates
        return candidates


def _get_rank(rule: PolicyRule) -> tuple[int, int]:
    return -rule.priority, _REMEMBERED if rule.source == "remembered" else _STRICTNESS[rule.action]
