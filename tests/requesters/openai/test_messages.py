"""Reasoning goes back over chat completions where its provider wants it, and nowhere else."""

import re
from typing import Any

import pytest

from dovetail.requesters.openai.dialects import find_dialect
from dovetail.requesters.openai.messages import build_chat_messages, refuses_reasoning
from dovetail.requesters.refusal import Refusal

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}


def part(source: str, data: dict[str, Any], text: int = 0, calls: int = 0) -> dict[str, Any]:
    return {"source": source, "text": text, "calls": calls, "data": data}


def talk(source: str, field: str = "reasoning_content") -> list[dict[str, Any]]:
    """A plain turn and a turn with a call, both with reasoning."""

    def think(text: str) -> list[dict[str, Any]]:
        return [part(source, {"field": field, "text": text})]

    return [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "Hi", "provider_parts": think("greet")},
        {"role": "user", "content": "1 + 2?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL], "provider_parts": think("add")},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
        {"role": "assistant", "content": "3", "provider_parts": think("done")},
    ]


def send(provider: str, messages: list[dict[str, Any]], base_url: str = "") -> list[dict[str, Any]]:
    return build_chat_messages(messages, provider, find_dialect(provider, base_url))


@pytest.mark.parametrize("provider", ["deepseek", "vllm", "ollama", "groq", "fireworks", "of-my-own"])
def test_reasoning_goes_back_in_turns_with_calls(provider: str) -> None:
    sent = send(provider, talk(provider))
    assert [message.get("reasoning_content") for message in sent] == [None, None, None, "add", None, "done"]


@pytest.mark.parametrize("provider", ["moonshot", "zai", "openrouter"])
def test_reasoning_always_goes_back_to_providers_that_keep_it(provider: str) -> None:
    sent = send(provider, talk(provider, "reasoning"))
    assert [message.get("reasoning") for message in sent] == [None, "greet", None, "add", None, "done"]


@pytest.mark.parametrize("provider", ["xai", "openai", "mistral", "deepseek", "openrouter"])
def test_another_provider_gets_nothing_of_it(provider: str) -> None:
    sent = send(provider, talk("anthropic"))
    assert not any("greet" in str(message) or "provider_parts" in message for message in sent)
    assert [message.get("reasoning_content") or None for message in sent] == [None] * 6


def test_xai_gets_none_over_chat_completions() -> None:
    assert not any("reasoning_content" in message for message in send("xai", talk("xai")))


@pytest.mark.parametrize("provider", ["deepseek", "moonshot"])
def test_message_with_calls_has_the_field_that_the_server_demands(provider: str) -> None:
    """A turn that another model has begun has no reasoning; the server refuses a missing field."""
    sent = send(provider, talk("anthropic"))
    assert [message.get("reasoning_content") for message in sent] == [None, None, None, "", None, None]


def test_provider_with_a_name_of_its_own_is_known_by_its_address() -> None:
    sent = send("mine", talk("anthropic"), "https://api.deepseek.com/v1")
    assert sent[3]["reasoning_content"] == ""


def test_reasoning_details_go_back_unchanged() -> None:
    details = [
        {
            "type": "reasoning.text",
            "text": "Hm",
            "signature": "s1",
            "format": "anthropic-claude-v1",
            "index": 0,
        },
        {"type": "reasoning.encrypted", "data": "xyz", "id": "r", "index": 1},
    ]
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [CALL],
        "provider_parts": [
            part("openrouter", {"reasoning_details": details[:1]}),
            part("openrouter", {"reasoning_details": details[1:]}, calls=1),
        ],
    }
    assert send("openrouter", [message])[0]["reasoning_details"] == details


def test_thinking_parts_of_mistral_stand_before_the_text() -> None:
    sent = send("mistral", talk("mistral", "content.thinking"))
    assert sent[1]["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "greet"}], "closed": True},
        {"type": "text", "text": "Hi"},
    ]
    assert [content["type"] for content in sent[3]["content"]] == ["thinking"]


def test_reasoning_in_tags_goes_back_in_tags() -> None:
    sent = send("lmstudio", talk("lmstudio", "content.think"))
    assert [message["content"] for message in sent if message["role"] == "assistant"] == [
        "Hi",
        "<think>add</think>",
        "<think>done</think>3",
    ]


def test_signature_of_a_call_goes_back_on_that_call() -> None:
    extra = {"google": {"thought_signature": "abc"}}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [CALL, {**CALL, "id": "c2"}],
        "provider_parts": [part("gemini-gateway", {"extra_content": extra}, calls=1)],
    }
    first, second = send("gemini-gateway", [message])[0]["tool_calls"]
    assert "extra_content" not in first
    assert second["extra_content"] == extra
    assert "extra_content" not in message["tool_calls"][1], "the message itself stays as it is"


@pytest.mark.parametrize(
    ("message", "refuses"),
    [
        ("'messages.2' : property 'reasoning_content' is unsupported", True),
        ("The `reasoning_content` in the thinking mode must be passed back to the API.", False),
        ("property 'seed' is unsupported", False),
    ],
)
def test_refused_reasoning_differs_from_other_refusals(message: str, refuses: bool) -> None:
    body = {"messages": send("groq", talk("groq"))}
    assert refuses_reasoning(Refusal(400, message, ""), body) == refuses


@pytest.mark.parametrize(
    ("provider", "pattern"),
    [("mistral", "[a-zA-Z0-9]{9}"), ("openai", ".{1,40}"), ("azure", ".{1,40}"), ("vllm", "toolu_.*")],
)
def test_ids_of_other_providers_are_written_as_the_server_accepts_them(provider: str, pattern: str) -> None:
    names = ["toolu_01", "toolu_" + "x" * 80]
    calls = [{**CALL, "id": name} for name in names]
    results = [{"role": "tool", "tool_call_id": name, "content": "3"} for name in names]
    sent = send(provider, [{"role": "assistant", "content": None, "tool_calls": calls}, *results])
    written = [call["id"] for call in sent[0]["tool_calls"]]
    assert [message["tool_call_id"] for message in sent[1:]] == written
    assert len(set(written)) == 2
    assert all(re.fullmatch(pattern, name) for name in written)
    assert [call["id"] for call in calls] == names, "the caller's message is left alone"
