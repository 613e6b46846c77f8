"""Bodies of the Responses API, as far as a conversation does not show them."""

from typing import Any

from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.openai.responses_body import build_body

CLOSED: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
TOOL = ToolSpec(name="f", description="", parameters=CLOSED)


def build(without: set[str] | None = None, body: Any = None, **fields: Any) -> dict[str, Any]:
    request = ModelRequest(**{"messages": [], "model": "gpt-5", "stream": False, **fields})
    return build_body(request, Endpoint(model="gpt-5", body=body or {}), without or set(), "own")


def test_nothing_is_stored_unless_it_is_asked_for() -> None:
    assert build(model="gpt-4.1") == {"model": "gpt-4.1", "input": [], "store": False}
    assert build(options={"store": True})["store"] is True


def test_options_of_chat_completions_are_translated() -> None:
    schema = {"name": "x", "schema": CLOSED}
    body = build(
        options={
            "max_completion_tokens": 5,
            "reasoning_effort": "high",
            "verbosity": "low",
            "response_format": {"type": "json_schema", "json_schema": schema},
            "top_p": 0.5,
        }
    )
    assert body["max_output_tokens"] == 5
    assert body["reasoning"] == {"effort": "high"}
    assert body["text"] == {"verbosity": "low", "format": {"type": "json_schema", **schema}}
    assert body["top_p"] == 0.5
    assert not {"max_completion_tokens", "reasoning_effort", "verbosity", "response_format"} & body.keys()


def test_tools_of_the_provider_are_added_to_ours() -> None:
    body = build(tools=[TOOL], options={"tools": [{"type": "web_search"}], "include": ["x.sources"]})
    assert [tool["type"] for tool in body["tools"]] == ["function", "web_search"]
    assert body["include"] == ["reasoning.encrypted_content", "x.sources"]


def test_own_choice_of_reasoning_goes_over_ours() -> None:
    body = build(thinking="low", options={"reasoning": {"summary": "detailed"}})
    assert body["reasoning"] == {"effort": "low", "summary": "detailed"}


def test_thinking_can_be_switched_off() -> None:
    assert build(thinking="off")["reasoning"] == {"effort": "minimal"}
    assert build(thinking="off", model="gpt-5.1")["reasoning"] == {"effort": "none"}


def test_body_of_the_settings_goes_over_everything() -> None:
    assert build(body={"store": True, "tools": []}, tools=[TOOL])["tools"] == []


def test_what_a_server_refused_is_left_out() -> None:
    refused = {"strict", "encrypted_content", "response_format", "reasoning.summary"}
    body = build(refused, tools=[TOOL], schema=CLOSED, thinking="low")
    assert body["tools"][0]["strict"] is False
    assert body["reasoning"] == {"effort": "low"}
    assert not {"include", "text"} & body.keys()
