"""Requests have the fields that Gemini expects, with options under OpenAI's names or its own."""

from typing import Any

import pytest

from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.requesters.google.body import build_body, write_thinking

HI = {"role": "user", "content": "hi"}
CONTENTS = [{"role": "user", "parts": [{"text": "hi"}]}]
ADD = ToolSpec(
    name="add", description="Add.", parameters={"type": "object", "properties": {"a": {"type": "integer"}}}
)


def build(
    extra: dict[str, Any] | None = None, without: set[str] | None = None, **request: Any
) -> dict[str, Any]:
    given = {"messages": [HI], "model": "gemini-2.5-flash", **request}
    return build_body(ModelRequest(**given), extra=extra or {}, without=without or set())


def test_a_plain_request_has_contents_only() -> None:
    assert build() == {"contents": CONTENTS}


def test_system_messages_at_the_beginning_are_the_instruction() -> None:
    messages = [{"role": "system", "content": "a"}, {"role": "developer", "content": "b"}, HI]
    late = {"role": "system", "content": "c"}

    assert build(messages=[*messages, late]) == {
        "systemInstruction": {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}, {"text": "c"}]}],
    }


def test_an_instruction_alone_is_sent_as_a_question() -> None:
    assert build(messages=[{"role": "system", "content": "a"}]) == {
        "contents": [{"role": "user", "parts": [{"text": "a"}]}]
    }


@pytest.mark.parametrize(("choice", "mode"), [("auto", None), ("required", "ANY"), ("none", "NONE")])
def test_tools_are_declared_as_functions(choice: str, mode: str | None) -> None:
    bare = ToolSpec(name="now", description="", parameters={"type": "object", "properties": {}})

    body = build(tools=[ADD, bare], tool_choice=choice)

    assert body["tools"] == [
        {
            "functionDeclarations": [
                {"name": "add", "description": "Add.", "parametersJsonSchema": ADD.parameters},
                {"name": "now", "description": ""},
            ]
        }
    ]
    assert body.get("toolConfig") == (mode and {"functionCallingConfig": {"mode": mode}})


def test_options_are_accepted_under_both_names() -> None:
    options = {
        "temperature": 0,
        "max_tokens": 5,
        "top_p": 0.5,
        "stop": "END",
        "topK": 3,
        "seed": None,
        "safety_settings": [{"category": "x"}],
    }

    assert build(options=options) == {
        "contents": CONTENTS,
        "generationConfig": {
            "temperature": 0,
            "maxOutputTokens": 5,
            "topP": 0.5,
            "stopSequences": ["END"],
            "topK": 3,
        },
        "safetySettings": [{"category": "x"}],
    }


def test_built_in_tools_are_added_to_the_functions() -> None:
    body = build(
        tools=[ADD],
        options={"tools": [{"googleSearch": {}}]},
        extra={"tools": [{"codeExecution": {}}], "generationConfig": {"seed": 1}, "cachedContent": "c"},
    )

    assert [list(tool) for tool in body["tools"]] == [
        ["codeExecution"],
        ["googleSearch"],
        ["functionDeclarations"],
    ]
    assert body["generationConfig"] == {"seed": 1}
    assert body["cachedContent"] == "c"


def test_a_schema_is_sent_unless_it_is_unwanted() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "$schema": "x"}

    assert build(schema=schema)["generationConfig"] == {
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
    }
    assert build(schema=schema, without={"response_format"}) == {"contents": CONTENTS}


@pytest.mark.parametrize(
    ("model", "thinking", "config"),
    [
        ("gemini-2.5-flash", "off", {"thinkingBudget": 0}),
        ("gemini-2.5-pro", "off", {"thinkingBudget": 128}),
        ("gemini-2.5-pro", "high", {"includeThoughts": True, "thinkingBudget": 24576}),
        ("gemini-2.5-flash", 2000, {"includeThoughts": True, "thinkingBudget": 2000}),
        ("gemini-3-flash-preview", "off", {"includeThoughts": False, "thinkingLevel": "MINIMAL"}),
        ("gemini-3.1-pro-preview", "off", {"includeThoughts": False, "thinkingLevel": "LOW"}),
        ("gemini-3-pro-preview", "medium", {"includeThoughts": True, "thinkingLevel": "MEDIUM"}),
        ("gemini-3-pro-preview", 500, {"includeThoughts": True, "thinkingBudget": 500}),
        ("gemini-2.0-flash", "high", {}),
        ("gemma-3-27b-it", "low", {}),
    ],
)
def test_thinking_is_a_budget_before_gemini_3_and_a_level_since(
    model: str, thinking: Any, config: dict[str, Any]
) -> None:
    assert write_thinking(thinking, model) == config


@pytest.mark.parametrize(
    ("model", "asked", "budget"),
    [
        ("gemini-2.5-flash", 100_000, 24_576),
        ("gemini-2.5-flash", 1, 1),
        ("gemini-2.5-flash-lite", 1, 512),
        ("gemini-2.5-pro", 100_000, 32_768),
        ("gemini-2.5-pro", 1, 128),
    ],
)
def test_a_budget_stays_within_the_range_of_the_model(model: str, asked: int, budget: int) -> None:
    assert write_thinking(asked, model)["thinkingBudget"] == budget
