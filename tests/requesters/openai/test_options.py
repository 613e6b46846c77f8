"""Options that a server rejects are found in its words, and left out."""

from typing import Any

import pytest

from dovetail.requesters.openai.options import find_refused_option, leave_out
from dovetail.requesters.refusal import Refusal

BODY: dict[str, Any] = {
    "model": "m",
    "messages": [],
    "temperature": 0.2,
    "top_p": 0.9,
    "max_tokens": 100,
    "reasoning_effort": "low",
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "tools": [],
    "text": {"format": {}},
}


@pytest.mark.parametrize(
    ("message", "part"),
    [
        ("Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
        (
            "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default value "
            "is supported.",
            "temperature",
        ),
        ("Model grok-4 does not support parameter topP.", "top_p"),
        (
            "Unsupported parameter: 'max_tokens' is not supported with this one. Use 'max_completion_tokens' "
            "instead.",
            "max_tokens",
        ),
        ("Your organization must be verified to generate reasoning summaries.", "reasoning.summary"),
        ("Encrypted content is not supported with this model.", "encrypted_content"),
        ("Unsupported parameter: 'reasoning.effort' is not supported with this model.", "reasoning"),
        ("Model grok-4-1-fast does not support parameter reasoningEffort.", "reasoning_effort"),
        ('"llama3" does not support thinking', "reasoning_effort"),
        ("Reasoning is mandatory for this endpoint and cannot be disabled.", "reasoning"),
        ("reasoning_effort must be one of none or default", "reasoning_effort"),
        ("Invalid schema for function 'add': 'minimum' is not permitted.", "strict"),
        ("Invalid parameter: 'text.format' of type 'json_schema' is not supported", "response_format"),
        ("Invalid 'temperature': must be at most 2.", None),
        ("Unknown parameter: 'messages'.", None),
        ("This model is not supported.", None),
    ],
)
def test_rejected_option_is_found(message: str, part: str | None) -> None:
    assert find_refused_option(Refusal(400, message, ""), BODY) == part
    assert find_refused_option(Refusal(500, message, ""), BODY) is None
    assert find_refused_option(Refusal(400, message, ""), {"model": "m"}) is None


@pytest.mark.parametrize(
    ("body", "param", "part", "effort"),
    [
        ({"reasoning": {"effort": "low"}}, "reasoning.effort", "effort low medium", "medium"),
        ({"reasoning_effort": "low"}, "reasoning_effort", "effort low medium", "medium"),
        ({"reasoning_effort": "none"}, "reasoning_effort", "effort none medium", "medium"),
        ({"reasoning_effort": "low", "text": {"verbosity": "low"}}, "text.verbosity", None, "low"),
    ],
)
def test_effort_that_a_model_does_not_know_becomes_the_nearest_one(
    body: dict[str, Any], param: str, part: str | None, effort: str
) -> None:
    message = (
        "Unsupported value: 'low' is not supported. Supported values are: 'medium', 'high', and 'xhigh'."
    )
    assert find_refused_option(Refusal(400, message, "", param=param), body) == part
    parts: set[str] = {part} if part else set()
    sent = leave_out({"model": "m", **body}, parts)
    assert sent.get("reasoning_effort", sent.get("reasoning", {}).get("effort")) == effort
    assert leave_out({"reasoning_effort": "high"}, parts) == {"reasoning_effort": "high"}


def test_rejected_option_is_found_by_the_field_that_the_server_names() -> None:
    refusal = Refusal(400, "Unsupported value: 'low' is not supported here.", "", param="reasoning.effort")
    assert find_refused_option(refusal, {"reasoning": {"effort": "low"}}) == "reasoning"
    assert find_refused_option(refusal, {"temperature": 1}) is None


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "tool_choice 'required' is incompatible with thinking enabled"),
        (400, "deepseek-reasoner does not support this tool_choice"),
        (400, "The tool_choice parameter does not support being set to required or object in thinking mode"),
        (422, '"required" tool choice is not supported'),
        (404, "No endpoints found that support the provided 'tool_choice' value."),
    ],
)
def test_one_value_of_the_tool_choice_is_rejected_and_left_out(status: int, message: str) -> None:
    refusal, body = Refusal(status, message, ""), {"thinking": {}, "tools": [], "tool_choice": "required"}
    assert find_refused_option(refusal, body) == "tool_choice.required"
    assert leave_out(body, {"tool_choice.required"}) == {"thinking": {}, "tools": []}
    assert leave_out({"tool_choice": "none"}, {"tool_choice.required"}) == {"tool_choice": "none"}
    named = {"tool_choice": {"type": "function", "function": {"name": "add"}}}
    assert find_refused_option(refusal, named) == "tool_choice.specified"
    assert leave_out(named, {"tool_choice.specified"}) == {}
    assert find_refused_option(refusal, {"tools": []}) is None


def test_options_are_left_out_and_nothing_else() -> None:
    refused = {"temperature", "reasoning.summary", "reasoning_effort", "tools", "strict", "include"}
    assert leave_out(BODY, refused) == {
        **{name: value for name, value in BODY.items() if name not in ("temperature", "reasoning_effort")},
        "reasoning": {"effort": "low"},
    }


def test_option_with_two_names_is_sent_under_the_other_one() -> None:
    assert leave_out({"max_tokens": 5}, {"max_tokens"}) == {"max_completion_tokens": 5}
    assert leave_out({"max_completion_tokens": 5}, {"max_completion_tokens"}) == {"max_tokens": 5}
    assert leave_out({"max_tokens": 5}, {"max_tokens", "max_completion_tokens"}) == {}
