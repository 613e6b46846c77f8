"""Write `model.thinking` the way each family of models on Bedrock takes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dovetail.requesters.anthropic import thinking as anthropic
from dovetail.requesters.anthropic.traits import find_traits
from dovetail.requesters.bedrock.family import find_family
from dovetail.requesters.thinking import name_level, warn_ignored
from dovetail.requesters.warn import warn_once


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingPlan:
    """The model's own fields that make it think, and what they forbid; `is_on` if it will think."""

    is_on: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    effort: str | None = None
    budget: int = 0
    excludes: Sequence[str] = ()

    def fit(self, model: str, inference: dict[str, Any]) -> None:
        """Remove the options that the model rejects while it thinks, and leave room for its answer."""
        unwanted = [name for name in self.excludes if inference.pop(name, None) is not None]
        if unwanted:
            warn_once(f"bedrock:{model} does not take {', '.join(unwanted)} here; left out.")
        tokens = inference.get("maxTokens")
        if isinstance(tokens, int) and tokens <= self.budget:
            inference["maxTokens"] = self.budget + anthropic.ROOM


def plan_thinking(model: str, level: str | int | None, *, can_begin: bool = True) -> ThinkingPlan:
    """Return how a model is asked to think as long as `model.thinking` says.

    Without `can_begin`, calls are in progress that began without thinking, and Claude continues without.
    """
    family = find_family(model)
    if family.vendor == "anthropic":
        return _plan_claude(model, level, can_begin=can_begin)
    if level is None:
        return ThinkingPlan()
    if family.thinks == "config":
        return _plan_nova(level)
    if family.thinks == "effort" and level != "off":
        return ThinkingPlan(is_on=True, fields={"reasoning_effort": name_level(level)})
    if level != "off":
        warn_ignored(f"bedrock:{model}")
    return ThinkingPlan()


def _plan_claude(model: str, level: str | int | None, *, can_begin: bool) -> ThinkingPlan:
    plan = anthropic.plan_thinking(model, level)
    traits = find_traits(model)
    excludes = ("temperature", "topP") if plan.is_on or not traits.samples else ()
    if plan.budget and not can_begin:
        return ThinkingPlan()
    fields: dict[str, Any] = {"thinking": dict(plan.thinking)} if plan.thinking else {}
    if plan.budget and traits.interleaves:
        fields["anthropic_beta"] = [anthropic.INTERLEAVED]
    return ThinkingPlan(
        is_on=plan.is_on and bool(plan.thinking),
        fields=fields,
        effort=plan.effort,
        budget=plan.budget,
        excludes=excludes,
    )


def _plan_nova(level: str | int) -> ThinkingPlan:
    if level == "off":
        return ThinkingPlan(fields={"reasoningConfig": {"type": "disabled"}})
    effort = name_level(level)
    # With the highest effort, Nova chooses these itself and rejects them.
    excludes = ("temperature", "topP", "maxTokens") if effort == "high" else ()
    config = {"type": "enabled", "maxReasoningEffort": effort}
    return ThinkingPlan(is_on=True, fields={"reasoningConfig": config}, excludes=excludes)
