"""Write `model.thinking` the way each Claude model takes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dovetail.requesters.anthropic.traits import UNKNOWN_OUTPUT, Traits, find_traits
from dovetail.requesters.thinking import fit_tokens, name_level, warn_always, warn_never
from dovetail.requesters.warn import warn_once

INTERLEAVED = "interleaved-thinking-2025-05-14"
"""The beta feature of thinking between tool calls."""

FEWEST_TOKENS = 1024
"""The smallest budget that the API takes."""

LEAST_ROOM = 4096
"""Tokens of a model's output that a budget of thinking leaves for the answer."""

ROOM = 8192
"""Tokens that are left for the answer when the budget of thinking is larger than expected."""

MOST_WITHOUT_STREAM = 21_000
"""Tokens that are written within ten minutes, after which an answer in one piece is lost."""

_SAMPLING = ("temperature", "top_p", "top_k")


@dataclass(frozen=True, slots=True)
class ThinkingPlan:
    """The fields of a body that make a model think, or keep it from thinking; `is_on` if it will."""

    is_on: bool = False
    thinking: Mapping[str, Any] | None = None
    effort: str | None = None
    budget: int = 0


def plan_thinking(model: str, level: str | int | None) -> ThinkingPlan:
    """Return how a model is asked to think as long as `model.thinking` says."""
    traits = find_traits(model)
    if level is None:
        return ThinkingPlan(is_on=traits.off not in ("omit", "between_tools"))
    if not traits.thinks:
        if level != "off":
            warn_never(model)
        return ThinkingPlan()
    if level == "off":
        return _plan_off(model, traits)
    return _plan_effort(model, level) if _uses_effort(traits, level) else _plan_budget(model, level)


def _uses_effort(traits: Traits, level: str | int) -> bool:
    return traits.effort and not (isinstance(level, int) and traits.budget)


def _plan_off(model: str, traits: Traits) -> ThinkingPlan:
    if traits.off == "never":
        warn_always(model)
        return ThinkingPlan(is_on=True, effort="low")
    return ThinkingPlan(thinking=None if traits.off == "omit" else {"type": traits.off})


def _plan_effort(model: str, level: str | int) -> ThinkingPlan:
    effort = name_level(level)
    if isinstance(level, int):
        warn_once(f"{model} takes no number of tokens for thinking; its effort is set to {effort!r}.")
    # Newer models return no text of their thinking unless asked for it.
    thinking = {"type": "adaptive", "display": "summarized"}
    return ThinkingPlan(is_on=True, thinking=thinking, effort=effort)


def _plan_budget(model: str, level: str | int) -> ThinkingPlan:
    output = find_traits(model).output
    most = output - LEAST_ROOM if output != UNKNOWN_OUTPUT else None
    budget = fit_tokens(model, level, FEWEST_TOKENS, most)
    return ThinkingPlan(is_on=True, thinking={"type": "enabled", "budget_tokens": budget}, budget=budget)


def choose_output(model: str, plan: ThinkingPlan, given: Any, *, streams: bool = True) -> Any:
    """Return `max_tokens`: what the user set, else what the model can write; always more than the budget.

    An answer that does not stream must be complete before the API closes the connection.
    """
    tokens = given
    if given is None:
        most = find_traits(model).output
        tokens = most if streams else min(most, MOST_WITHOUT_STREAM)
    if isinstance(tokens, int) and tokens <= plan.budget:
        most = find_traits(model).output
        return plan.budget + ROOM if most <= plan.budget else min(plan.budget + ROOM, most)
    return tokens


def drop_sampling(model: str, plan: ThinkingPlan, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options without those for sampling, if the model rejects them."""
    given = [name for name in _SAMPLING if options.get(name) is not None]
    if not given or (find_traits(model).samples and not plan.is_on):
        return dict(options)
    why = "while it thinks" if find_traits(model).samples else "at all"
    warn_once(f"{model} does not take {', '.join(given)} {why}; left out.")
    return {name: value for name, value in options.items() if name not in _SAMPLING}
