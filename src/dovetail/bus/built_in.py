"""The rules that hold where no other rule speaks."""

from typing import Any

from dovetail.bus.rule import Action, PolicyRule
from dovetail.messages.kind import READ_ONLY, Kind

_LOWEST = -1000
_EDITS = (Kind.Write, Kind.Edit, Kind.Move)


def _make_rule(rank: int, name: str, action: Action, **conditions: Any) -> PolicyRule:
    return PolicyRule(name=name, action=action, priority=_LOWEST + rank, source="built-in", **conditions)


LAST_RULE = _make_rule(0, "what changes the world", "ask", reason="it may change something outside")

BUILT_IN_RULES = (
    _make_rule(5, "what leaves the world as it was", "allow", kinds=READ_ONLY),
    _make_rule(
        4, "plan mode", "deny", modes=("plan",), reason="in plan mode only tools that change nothing may run"
    ),
    _make_rule(3, "yolo mode", "allow", modes=("yolo",)),
    _make_rule(2, "edits in auto mode", "allow", modes=("auto",), kinds=_EDITS),
    _make_rule(1, "tools that declare no kind", "allow", kinds=(Kind.Other,)),
    LAST_RULE,
)
