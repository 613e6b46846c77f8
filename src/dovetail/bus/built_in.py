"""The rules that hold where no other rule speaks."""

from dovetail.bus.rule import PolicyRule
from dovetail.messages.kind import Kind

_LOWEST = -1000
_HARMLESS = (Kind.Read, Kind.Search, Kind.Think, Kind.Fetch)
_EDITS = (Kind.Write, Kind.Edit, Kind.Move)

LAST_RULE = PolicyRule(
    name="what changes the world",
    action="ask",
    reason="it may change something outside",
    priority=_LOWEST,
    source="built-in",
)

BUILT_IN_RULES = (
    PolicyRule(
        name="what leaves the world as it was",
        action="allow",
        kinds=_HARMLESS,
        priority=_LOWEST + 5,
        source="built-in",
    ),
    PolicyRule(
        name="plan mode",
        action="deny",
        modes=("plan",),
        reason="in plan mode only tools that change nothing may run",
        priority=_LOWEST + 4,
        source="built-in",
    ),
    PolicyRule(
        name="yolo mode",
        action="allow",
        modes=("yolo",),
        priority=_LOWEST + 3,
        source="built-in",
    ),
    PolicyRule(
        name="edits in auto mode",
        action="allow",
        modes=("auto",),
        kinds=_EDITS,
        priority=_LOWEST + 2,
        source="built-in",
    ),
    PolicyRule(
        name="tools that declare no kind",
        action="allow",
        kinds=(Kind.Other,),
        priority=_LOWEST + 1,
        source="built-in",
    ),
    LAST_RULE,
)
