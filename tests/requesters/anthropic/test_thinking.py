"""`model.thinking` is written the way each model takes it."""

import logging
from typing import Any

import pytest

from dovetail.requesters.anthropic.thinking import (
    ThinkingPlan,
    choose_output,
    drop_sampling,
    plan_thinking,
)
from dovetail.requesters.warn import warn_once

ADAPTIVE = {"type": "adaptive", "display": "summarized"}


@pytest.mark.parametrize(
    ("model", "level", "thinking", "effort"),
    [
        ("claude-sonnet-4-5", "low", {"type": "enabled", "budget_tokens": 2048}, None),
        ("claude-sonnet-4-5", "high", {"type": "enabled", "budget_tokens": 24_576}, None),
        ("claude-sonnet-4-5", 5000, {"type": "enabled", "budget_tokens": 5000}, None),
        ("claude-sonnet-4-5", 10, {"type": "enabled", "budget_tokens": 1024}, None),
        ("claude-sonnet-4-5", "off", None, None),
        ("claude-opus-4-6", "medium", ADAPTIVE, "medium"),
        ("claude-opus-4-6", 3000, {"type": "enabled", "budget_tokens": 3000}, None),
        ("claude-opus-4-8", "off", None, None),
        ("claude-sonnet-5", "high", ADAPTIVE, "high"),
        ("claude-sonnet-5", "off", {"type": "disabled"}, None),
        ("claude-sonnet-5-5", "off", {"type": "between_tools"}, None),
        ("claude-sonnet-5", None, None, None),
    ],
)
def test_each_level_has_a_form_for_each_model(
    model: str, level: Any, thinking: dict[str, Any] | None, effort: str | None
) -> None:
    plan = plan_thinking(model, level)
    assert (plan.thinking, plan.effort) == (thinking, effort)


@pytest.mark.parametrize(
    ("model", "level", "effort", "warning"),
    [
        ("claude-opus-5-5", "off", "low", "claude-opus-5-5 always thinks"),
        ("claude-opus-4-8", 3000, "low", "takes no number of tokens"),
        ("claude-opus-4-8", 9000, "medium", "takes no number of tokens"),
        ("claude-opus-4-8", 90_000, "high", "takes no number of tokens"),
        ("claude-3-5-haiku-20241022", "high", None, "cannot think"),
    ],
)
def test_an_unsupported_level_has_a_warning(
    model: str, level: Any, effort: str | None, warning: str, caplog: pytest.LogCaptureFixture
) -> None:
    warn_once.cache_clear()
    plan = plan_thinking(model, level)
    assert plan.effort == effort
    assert warning in caplog.text


def test_the_answer_has_room_after_the_thinking() -> None:
    plan = plan_thinking("claude-sonnet-4-5", 30_000)
    assert choose_output("claude-sonnet-4-5", plan, None) == 64_000
    assert choose_output("claude-sonnet-4-5", plan, 1000) == 38_192
    assert choose_output("claude-sonnet-4-5", ThinkingPlan(), None) == 64_000
    assert choose_output("claude-sonnet-4-5", ThinkingPlan(), None, streams=False) == 21_000
    assert choose_output("claude-sonnet-4-5", ThinkingPlan(), 100) == 100


@pytest.mark.parametrize(
    ("model", "asked", "budget", "output"),
    [
        ("claude-sonnet-4-5", 100_000, 59_904, 64_000),
        ("claude-opus-4-1", 100_000, 27_904, 32_000),
        ("claude-sonnet-4-5", 1, 1024, 64_000),
        ("own-model", 100_000, 100_000, 108_192),
    ],
)
def test_a_budget_stays_within_what_the_model_can_write(
    model: str, asked: int, budget: int, output: int
) -> None:
    plan = plan_thinking(model, asked)
    assert plan.budget == budget
    assert choose_output(model, plan, None) == output
    assert choose_output(model, plan, 1000) >= budget + 4096 or plan.budget == 1024


def test_sampling_is_left_out_where_the_api_rejects_it(caplog: pytest.LogCaptureFixture) -> None:
    options = {"temperature": 0, "stop_sequences": ["x"]}
    assert drop_sampling("claude-sonnet-4-5", ThinkingPlan(), options) == options
    thinking = plan_thinking("claude-sonnet-4-5", "low")
    with caplog.at_level(logging.WARNING):
        assert drop_sampling("claude-sonnet-4-5", thinking, options) == {"stop_sequences": ["x"]}
        assert drop_sampling("claude-opus-4-8", ThinkingPlan(), options) == {"stop_sequences": ["x"]}
        assert drop_sampling("claude-opus-4-8", ThinkingPlan(), options) == {"stop_sequences": ["x"]}
    assert [record.getMessage() for record in caplog.records] == [
        "claude-sonnet-4-5 does not take temperature while it thinks; left out.",
        "claude-opus-4-8 does not take temperature at all; left out.",
    ]
