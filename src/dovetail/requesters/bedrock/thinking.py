"""Write `model.thinking` the way each family of models on Bedrock takes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dovetail.requesters.anthropic import thinking as anthropic
from dovetail.requesters.anthropic.traits import find_traits
from dovetail.requesters.bedrock.family import find_family
from dovetail.requesters.thinking import name_level
from dovetail.requesters.warn import warn_once

INTERLEAVED = "interleaved-thinking-2025-05-14"


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


def plan_thinking(model: str, level: str | int | None, messages: Sequence[Mapping[str, Any]]) -> ThinkingPlan:
    """Return how a model is asked to think as long as `model.thinking` says."""
    family = find_family(model)
    if family.vendor == "anthropic":
        return _plan_claude(model, level, messages)
    if level is None:
        return ThinkingPlan()
    if family.thinks == "config":
        return _plan_nova(level)
    if family.thinks == "effort" and level != "off":
        return ThinkingPlan(is_on=True, fields={"reasoning_effort": name_level(level)})
    if level != "off":
        warn_once(f"bedrock:{model} has no setting for thinking; model.thinking is ignored.")
    return ThinkingPlan()


def _plan_claude(model: str, level: str | int | None, messages: Sequence[Mapping[str, Any]]) -> ThinkingPlan:
    plan = anthropic.plan_thinking(model, level)
    traits = find_traits(model)
    excludes = ("temperature", "topP") if plan.is_on or not traits.samples else ()
    if plan.budget and _lacks_reasoning(messages):
        return ThinkingPlan()
    fields: dict[str, Any] = {"thinking": dict(plan.thinking)} if plan.thinking else {}
    if plan.budget and traits.interleaves:
        fields["anthropic_beta"] = [INTERLEAVED]
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


def _lacks_reasoning(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the tool calls in progress began without reasoning, as after a change of the model.

    Claude rejects thinking with a budget in the middle of such a turn; it can begin with the next one.
    """
    turn: list[Mapping[str, Any]] = []
    for message in reversed(messages):
        if message["role"] == "user" and not any("toolResult" in block for block in message["content"]):
            break
        turn.insert(0, message)
    answers = [message for message in turn if message["role"] == "assistant"]
    return bool(answers) and len(turn) > 1 and "reasoningContent" not in answers[0]["content"][0]
