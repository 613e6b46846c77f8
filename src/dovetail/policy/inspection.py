"""The policy as data for people: its rules in their order, and the way to the decision about a call.

What one person has had remembered is not shown to others, and rules that hold for a single run are left out.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, TypeAlias

from dovetail.data.shown_arguments import show_arguments
from dovetail.data.text import explain_unknown
from dovetail.policy.policy import Policy
from dovetail.policy.rule import PolicyCall, PolicyRule
from dovetail.policy.rule_text import identify_rule
from dovetail.settings import LOCAL_OWNER

Condition: TypeAlias = Literal["tool", "kind", "agent", "mode", "owner", "definition", "arguments"]
_RELAXED: dict[Condition, Mapping[str, Any]] = {
    "tool": {"tool": "*"},
    "kind": {"kinds": ()},
    "agent": {"agent": "*"},
    "mode": {"modes": ()},
    "owner": {"owner": None},
    "definition": {"definition": None},
}
_PLACE = re.compile(r"(?P<path>.+?)(?::(?P<line>\d+)|, rule (?P<number>\d+))?")


def describe_policy(policy: Policy, owner: str | None, workspace: Path) -> list[dict[str, Any]]:
    """Return the rules that apply to an owner (None for all owners), in the order in which they are tried."""
    return [describe_rule(rule, workspace) for rule in policy.rules if _is_for(rule, owner)]


def describe_rule(rule: PolicyRule, workspace: Path) -> dict[str, Any]:
    """Return a rule with where it comes from: its file and line, or what made it.

    A rule of the workspace's file has an `id`, by which it can be removed.
    """
    source = _describe_source(rule.source, workspace)
    return {
        "id": identify_rule(rule) if source["source"] == "workspace" else None,
        "action": rule.action,
        "tool": rule.tool,
        "kinds": [kind.value for kind in rule.kinds],
        "arguments": dict(rule.arguments),
        "exact": rule.shown_exact,
        "agent": rule.agent,
        "modes": list(rule.modes),
        "priority": rule.priority,
        "name": rule.name,
        "reason": rule.reason,
        "owner": rule.owner,
        **source,
    }


def describe_remembered(rule: PolicyRule) -> dict[str, Any]:
    """Return an answer that is always remembered: the call, its owner, when it was given and taken back."""
    grant = rule.grant
    return {
        "id": grant.id if grant else "",
        "tool": _unescape(rule.tool),
        "kind": rule.kinds[0].value if rule.kinds else None,
        "args": show_arguments(json.loads(rule.exact)) if rule.exact else None,
        "agent": _unescape(rule.agent).removeprefix("/"),
        "modes": list(rule.modes),
        "owner": find_owner(rule),
        "session_id": grant.session_id if grant else None,
        "given_at": (grant.given_at or None) if grant else None,
        "undone_at": grant.undone_at if grant else None,
    }


def find_owner(rule: PolicyRule) -> str:
    """Return whose answer it is; one without an owner was given in a terminal."""
    return rule.owner or LOCAL_OWNER


def _unescape(glob: str) -> str:
    """Return the name that an escaped glob stands for."""
    return re.sub(r"\[([*?[])\]", r"\1", glob)


def find_doubts(
    policy: Policy, arguments: Mapping[str, Iterable[str] | None], agents: Iterable[str]
) -> list[str]:
    """Return warnings about rules that can never match: they name an unknown tool, agent or argument.

    `arguments` maps each tool to the names of its arguments, to None if it accepts any.
    """
    doubts = [*policy.find_unknown_tools(arguments), *policy.find_unknown_agents(agents)]
    for rule in policy.rules:
        known = [names for tool, names in arguments.items() if fnmatchcase(tool, rule.tool)]
        for name in rule.arguments:
            if known and all(names is not None and name not in names for names in known):
                choices = sorted({each for names in known for each in names or ()})
                unknown = explain_unknown("argument", name, choices)
                doubts.append(f"{rule.source}: Tool {rule.tool!r}: {unknown}")
    return doubts


def describe_decision(policy: Policy, call: PolicyCall, workspace: Path) -> dict[str, Any]:
    """Return what would happen to a call and why: every rule up to the one that decides."""
    explanation = policy.explain(call)
    decision = explanation.decision
    return {
        "action": decision.action,
        "reason": decision.reason,
        "agent": call.agent,
        "rule": describe_rule(decision.rule, workspace),
        "steps": [
            {
                "rule": describe_rule(rule, workspace),
                "mismatch": mismatch,
                "condition": None if mismatch is None else _find_condition(rule, call, mismatch),
            }
            for rule, mismatch in explanation.steps
            if _is_for(rule, call.owner) or mismatch is None
        ],
    }


def _is_for(rule: PolicyRule, owner: str | None) -> bool:
    return rule.run is None and (owner is None or rule.owner in (None, owner))


def _find_condition(rule: PolicyRule, call: PolicyCall, mismatch: str) -> Condition:
    """Return the condition that a mismatch is about: without it, the rule says something else."""
    if rule.find_static_mismatch(call) is not None:
        for name, relaxed in _RELAXED.items():
            if replace(rule, **relaxed).find_static_mismatch(call) != mismatch:
                return name
    return "arguments"


def _describe_source(source: str, workspace: Path) -> dict[str, Any]:
    if source in ("built-in", "remembered", "code"):
        return {"source": source, "path": None, "line": None}
    place = _PLACE.fullmatch(source)
    path = Path(place["path"] if place else source)
    line = place["line"] if place else None
    shown = path.relative_to(workspace) if path.is_relative_to(workspace) else Path(*path.parts[-3:])
    kind = "workspace" if path == workspace / "policy.toml" else "extension"
    return {
        "source": kind,
        "path": str(shown),
        "line": int(line) if line else None,
    }
