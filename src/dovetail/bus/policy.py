"""Decides which calls may run: rules, the highest priority first, then the built-in ones.

Deny beats ask beats allow among rules of equal priority. Rules that ask for certain arguments never fall back
to a weaker match: a call that no rule speaks of is asked about.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from dovetail.bus.rule import Action, PolicyCall, PolicyRule
from dovetail.messages.kind import Kind

_BUILT_IN = -1000
_HARMLESS = (Kind.Read, Kind.Search, Kind.Think, Kind.Fetch)
_EDITS = (Kind.Write, Kind.Edit, Kind.Move)
_STRICTNESS: dict[Action, int] = {"deny": 0, "ask": 1, "allow": 2}

BUILT_IN_RULES = (
    PolicyRule(
        name="what leaves the world as it was",
        action="allow",
        kinds=_HARMLESS,
        priority=_BUILT_IN + 5,
        source="built-in",
    ),
    PolicyRule(
        name="plan mode changes nothing",
        action="deny",
        modes=("plan",),
        reason="in plan mode only tools that change nothing may run",
        priority=_BUILT_IN + 4,
        source="built-in",
    ),
    PolicyRule(
        name="yolo mode",
        action="allow",
        modes=("yolo",),
        priority=_BUILT_IN + 3,
        source="built-in",
    ),
    PolicyRule(
        name="auto mode edits",
        action="allow",
        modes=("auto",),
        kinds=_EDITS,
        priority=_BUILT_IN + 2,
        source="built-in",
    ),
    PolicyRule(
        name="tools that declare no effect",
        action="allow",
        kinds=(Kind.Other,),
        priority=_BUILT_IN + 1,
        source="built-in",
    ),
    PolicyRule(
        name="what changes the world",
        action="ask",
        reason="it may change something outside",
        priority=_BUILT_IN,
        source="built-in",
    ),
)


@dataclass(frozen=True, slots=True)
class Decision:
    """What the policy says of one call, and the rule that says it."""

    action: Action
    rule: PolicyRule

    @property
    def reason(self) -> str:
        """Why, in words for a model or a person."""
        return self.rule.reason or f"rule {self.rule.title!r} ({self.rule.source})"


class Policy:
    """An ordered set of rules."""

    def __init__(self, rules: Iterable[PolicyRule] = ()) -> None:
        self._rules: list[PolicyRule] = []
        self._candidates: dict[tuple[object, ...], list[PolicyRule]] = {}
        self._set_rules([*rules, *BUILT_IN_RULES])

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        """All rules, in the order in which they are asked."""
        return tuple(self._rules)

    def add(self, rule: PolicyRule) -> None:
        """Add one rule."""
        self._set_rules([*self._rules, rule])

    def decide(self, call: PolicyCall) -> Decision:
        """What the first rule that matches says."""
        for rule in self._find_candidates(call):
            if not rule.arguments or rule.find_argument_mismatch(call.args) is None:
                return Decision(rule.action, rule)
        return Decision("ask", BUILT_IN_RULES[-1])

    def _find_candidates(self, call: PolicyCall) -> list[PolicyRule]:
        """The rules that may match, whatever the arguments; the same for all calls of one key."""
        key = (call.tool, call.kind, call.agent_path, call.mode, call.run_path, call.owner)
        candidates = self._candidates.get(key)
        if candidates is None:
            if len(self._candidates) > 1000:
                self._candidates.clear()
            candidates = [rule for rule in self._rules if rule.find_static_mismatch(call) is None]
            self._candidates[key] = candidates
        return candidates

    def _set_rules(self, rules: list[PolicyRule]) -> None:
        self._rules = sorted(rules, key=lambda rule: (-rule.priority, _STRICTNESS[rule.action]))
        self._candidates = {}
