"""One setting for thinking, in the words of each server."""

import logging
from typing import Any

import pytest

from dovetail.requesters.openai.dialects import find_dialect
from dovetail.requesters.openai.thinking import is_reasoning_model, name_effort, write_thinking
from dovetail.requesters.warn import warn_once


@pytest.mark.parametrize(
    ("provider", "model", "thinking", "fields"),
    [
        ("openai", "gpt-5-mini", "high", {"reasoning_effort": "high"}),
        ("openai", "gpt-5-mini", "off", {"reasoning_effort": "minimal"}),
        ("openai", "gpt-5.2", "off", {"reasoning_effort": "none"}),
        ("ollama", "qwen3", "off", {"reasoning_effort": "none"}),
        ("ollama", "qwen3", 1024, {"reasoning_effort": "low"}),
        ("deepseek", "deepseek-v4-pro", "off", {"thinking": {"type": "disabled"}}),
        (
            "deepseek",
            "deepseek-v4-pro",
            20_000,
            {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
        ),
        ("moonshot", "kimi-k2.5", "low", {"thinking": {"type": "enabled"}}),
        ("zai", "glm-4.7", "off", {"thinking": {"type": "disabled"}}),
        ("openrouter", "x/y", "medium", {"reasoning": {"effort": "medium"}}),
        ("openrouter", "x/y", 2000, {"reasoning": {"max_tokens": 2000}}),
        ("openrouter", "x/y", "off", {"reasoning": {"enabled": False}}),
        ("mistral", "magistral-medium", "low", {"reasoning_effort": "high"}),
        ("groq", "qwen/qwen3-32b", "high", {"reasoning_effort": "default"}),
        ("groq", "openai/gpt-oss-120b", "high", {"reasoning_effort": "high"}),
        ("qwen", "qwen3-max", 4000, {"enable_thinking": True, "thinking_budget": 4000}),
        ("qwen", "qwen3-max", "low", {"enable_thinking": True, "thinking_budget": 2048}),
        ("qwen", "qwen3-max", "off", {"enable_thinking": False}),
        ("vllm", "Qwen/Qwen3-8B", "off", {"chat_template_kwargs": {"enable_thinking": False}}),
        (
            "llamacpp",
            "any",
            "medium",
            {"chat_template_kwargs": {"enable_thinking": True}, "reasoning_effort": "medium"},
        ),
        ("of-my-own", "any", "medium", {"reasoning_effort": "medium"}),
    ],
)
def test_thinking_is_written_for_each_server(
    provider: str, model: str, thinking: Any, fields: dict[str, Any]
) -> None:
    style = find_dialect(provider, "http://127.0.0.1:1/v1").thinking
    assert write_thinking(style, thinking, model) == fields


@pytest.mark.parametrize(
    ("model", "thinks"),
    [
        *[(name, True) for name in ("o3", "o4-mini", "gpt-5", "gpt-5.6-terra", "gpt-6-astra", "codex-mini")],
        *[(name, True) for name in ("grok-4.3", "openai/gpt-5-nano")],
        *[
            (name, False)
            for name in ("gpt-4.1", "gpt-4o", "gpt-5-chat-latest", "gpt-5.2-chat", "gpt-oss-20b")
        ],
        *[(name, False) for name in ("grok-2", "grok-4.20-non-reasoning", "omni-moderation", "m")],
    ],
)
def test_models_that_think_are_known_by_name(model: str, thinks: bool) -> None:
    assert is_reasoning_model(model) == thinks


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("mistral", "magistral-medium"),
        ("moonshot", "kimi-k2"),
        ("zai", "glm-4.6"),
        ("groq", "qwen/qwen3-32b"),
    ],
)
def test_level_that_a_server_cannot_follow_has_one_warning(
    provider: str, model: str, caplog: pytest.LogCaptureFixture
) -> None:
    warn_once.cache_clear()
    style = find_dialect(provider, "http://127.0.0.1:1/v1").thinking
    for thinking in ("off", "high", "low", "low", 3000):
        write_thinking(style, thinking, model)
    assert [record.getMessage() for record in caplog.records] == [
        f"{model} can only think or not think; {thinking!r} lets it think as long as it wants."
        for thinking in ("low", 3000)
    ]


def test_level_that_a_server_can_follow_has_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    warn_once.cache_clear()
    for provider in ("deepseek", "qwen", "openrouter", "vllm", "openai"):
        write_thinking(find_dialect(provider, "http://127.0.0.1:1/v1").thinking, "low", "m")
    assert not caplog.records


def test_model_that_always_thinks_is_warned_about_once(caplog: pytest.LogCaptureFixture) -> None:
    warn_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert [name_effort("off", "o3") for _ in range(2)] == ["low", "low"]
    assert [record.getMessage() for record in caplog.records] == [
        "o3 always thinks; it is asked to think little."
    ]
