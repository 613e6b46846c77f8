"""Options under OpenAI's names are translated for other APIs, or left out with a warning."""

from typing import Any

import pytest

from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.requesters.anthropic.protocol import Messages
from dovetail.requesters.bedrock.protocol import Converse
from dovetail.requesters.google.protocol import GenerateContent
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.protocol import ChatProtocol
from dovetail.requesters.options import OPENAI_ONLY, translate_options

ADD = ToolSpec(name="add", description="Add.", parameters={"type": "object", "properties": {}})
APIS: dict[type[ChatProtocol], str] = {
    Messages: "claude-sonnet-4-5",
    GenerateContent: "gemini-2.5-flash",
    Converse: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}
GENERAL: dict[str, Any] = {
    "frequency_penalty": 0.1,
    "logit_bias": {"1": 2},
    "n": 1,
    "parallel_tool_calls": False,
    "presence_penalty": 0.1,
    "reasoning_effort": "low",
    "response_format": {"type": "text"},
    "seed": 1,
    "store": False,
    "user": "u1",
    "verbosity": "low",
}


def ask(options: dict[str, Any], **fields: Any) -> ModelRequest:
    return ModelRequest(messages=[{"role": "user", "content": "hi"}], options=options, model="m", **fields)


def build(api: type[ChatProtocol], options: dict[str, Any], **fields: Any) -> dict[str, Any]:
    name = APIS[api]
    address = "https://bedrock-runtime.us-east-1.amazonaws.com" if api is Converse else "http://127.0.0.1:1"
    protocol = api(Endpoint(model=name, base_url=address))
    request = ModelRequest(
        messages=[{"role": "user", "content": "hi"}], options=options, model=name, **fields
    )
    return protocol.build_body(request, frozenset())


@pytest.mark.parametrize("api", APIS)
def test_options_of_another_provider_are_not_sent(
    api: type[ChatProtocol], caplog: pytest.LogCaptureFixture
) -> None:
    body = build(api, {**GENERAL, "max_tokens": 9000, "temperature": None})
    further = body.get("additionalModelRequestFields", {})
    assert not OPENAI_ONLY & {*body, *further}
    google = {"frequencyPenalty", "presencePenalty", "seed", "candidateCount", "maxOutputTokens"}
    assert set(body.get("generationConfig", ())) <= google | {"thinkingConfig"}
    assert "user, verbosity; left out." in caplog.text


@pytest.mark.parametrize("api", APIS)
def test_effort_sets_how_long_any_model_thinks(api: type[ChatProtocol]) -> None:
    assert build(api, {"reasoning_effort": "medium"}) == build(api, {}, thinking="medium")
    assert build(api, {"reasoning": {"effort": "none"}}) == build(api, {}, thinking="off")


def test_options_that_an_api_knows_are_kept() -> None:
    request = ask({"seed": 1, "top_k": 3, "temperature": 0})
    assert translate_options(request, known={"seed"}).options == request.options
    assert translate_options(request, known=set()).options == {"top_k": 3, "temperature": 0}


def test_option_that_changes_nothing_has_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    options = {"n": 1, "parallel_tool_calls": True, "seed": None, "store": False, "presence_penalty": 0}
    assert translate_options(ask(options), known=set()).options == {}
    assert not caplog.records


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", {"type": "auto", "disable_parallel_tool_use": True}),
        ("required", {"type": "any", "disable_parallel_tool_use": True}),
        ("none", {"type": "none"}),
    ],
)
def test_claude_makes_one_call_at_a_time_if_asked_to(choice: Any, sent: dict[str, Any]) -> None:
    body = build(Messages, {"parallel_tool_calls": False}, tools=[ADD], tool_choice=choice)
    assert body["tool_choice"] == sent
    assert "tool_choice" not in build(Messages, {"parallel_tool_calls": True}, tools=[ADD])
    assert "tool_choice" not in build(Messages, {"parallel_tool_calls": False})


def test_probabilities_are_asked_for_in_the_words_of_gemini() -> None:
    config = build(GenerateContent, {"logprobs": True, "top_logprobs": 3})["generationConfig"]
    assert config == {"responseLogprobs": True, "logprobs": 3}
    assert build(GenerateContent, {"logprobs": 5})["generationConfig"] == {"logprobs": 5}
