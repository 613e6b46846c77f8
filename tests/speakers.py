"""Model APIs in the words of their providers: answers with signed thoughts and calls, and checked requests.

A `Speaker` writes an answer as its provider streams it, and checks a request with the types of the official
package, as strictly as these allow.
"""

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter

from anthropic_events import stream as stream_messages
from aws_frames import write_answer as write_frames


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: what the model thought, what it says, and the id of its call of the tool `look`."""

    thought: str
    text: str = ""
    call: str = ""

    @property
    def mark(self) -> str:
        """What only the provider can read: a signature, or an encrypted thought."""
        return base64.b64encode(f"signed {self.thought}".encode()).decode()


@dataclass(frozen=True, slots=True)
class Speaker:
    """One model of one provider; `path` is that of its base URL."""

    model: str
    path: str
    write: Callable[[Answer], bytes]
    check: Callable[[Any], None]
    content_type: str = "text/event-stream"

    @property
    def provider(self) -> str:
        """The word before the colon of the model's name."""
        return self.model.partition(":")[0]


def _encode(events: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def _write_chat(answer: Answer) -> bytes:
    detail = {"type": "reasoning.text", "text": answer.thought, "signature": answer.mark, "index": 0}
    deltas: list[dict[str, Any]] = [{"reasoning": answer.thought, "reasoning_details": [detail]}]
    if answer.text:
        deltas.append({"content": answer.text})
    if answer.call:
        function = {"name": "look", "arguments": "{}"}
        deltas.append(
            {"tool_calls": [{"index": 0, "id": answer.call, "type": "function", "function": function}]}
        )
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta} for delta in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if answer.call else "stop"}
    return _encode({"choices": [choice]} for choice in [*choices, end])


def _write_responses(answer: Answer) -> bytes:
    summary = [{"type": "summary_text", "text": answer.thought}]
    thought = {"type": "reasoning", "id": f"rs_{answer.mark}", "summary": summary}
    items: list[dict[str, Any]] = [{**thought, "encrypted_content": answer.mark}]
    if answer.text:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        items.append({"type": "message", "id": "msg_1", "role": "assistant", "content": content})
    if answer.call:
        call = {"type": "function_call", "id": f"fc_{answer.call}", "call_id": answer.call}
        items.append({**call, "name": "look", "arguments": "{}"})
    done = [
        {"type": "response.output_item.done", "output_index": index, "item": item}
        for index, item in enumerate(items)
    ]
    return _encode([*done, {"type": "response.completed", "response": {"status": "completed"}}])


def _write_messages(answer: Answer) -> bytes:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": answer.thought, "signature": answer.mark}
    ]
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    if answer.call:
        blocks.append({"type": "tool_use", "id": answer.call, "name": "look", "input": {}})
    return stream_messages(*blocks)


def _write_gemini(answer: Answer) -> bytes:
    signature = {"thoughtSignature": answer.mark}
    parts: list[dict[str, Any]] = [{"text": answer.thought, "thought": True}]
    if answer.text:
        parts.append({"text": answer.text, **({} if answer.call else signature)})
    if answer.call:
        parts.append({"functionCall": {"id": answer.call, "name": "look", "args": {}}, **signature})
    candidates: list[dict[str, Any]] = [{"content": {"role": "model", "parts": [part]}} for part in parts]
    candidates[-1]["finishReason"] = "STOP"
    return _encode({"candidates": [one], "modelVersion": "gemini-3-flash-preview"} for one in candidates)


def _write_converse(answer: Answer) -> bytes:
    reasoning = {"reasoningText": {"text": answer.thought, "signature": answer.mark}}
    blocks: list[dict[str, Any]] = [{"reasoningContent": reasoning}]
    if answer.text:
        blocks.append({"text": answer.text})
    if answer.call:
        blocks.append({"toolUse": {"toolUseId": answer.call, "name": "look", "input": {}}})
    return write_frames(*blocks, stop="tool_use" if answer.call else "end_turn")


@lru_cache(maxsize=20)
def _adapt(module: str, name: str) -> TypeAdapter[Any]:
    return TypeAdapter(getattr(import_module(module), name))


def _validate(module: str, name: str, values: Iterable[Any]) -> None:
    """Check values with a type of an official package; its lazy iterators are read to their end."""
    for value in values:
        _exhaust(_adapt(module, name).validate_python(value))


def _exhaust(value: Any) -> None:
    if isinstance(value, Mapping):
        value = value.values()
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for item in value:
            _exhaust(item)


def _check_chat(body: Any) -> None:
    _validate("openai.types.chat", "ChatCompletionMessageParam", body["messages"])
    _validate("openai.types.chat", "ChatCompletionToolParam", body["tools"])
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting, "every call is followed by its result"
            waiting = [call["id"] for call in message.get("tool_calls", ())]


def _check_responses(body: Any) -> None:
    _validate("openai.types.responses", "ResponseInputItemParam", body["input"])
    _validate("openai.types.responses", "ToolParam", body["tools"])
    kinds = [(item.get("type"), item.get("call_id")) for item in body["input"]]
    made = [call_id for kind, call_id in kinds if kind == "function_call"]
    assert [call_id for kind, call_id in kinds if kind == "function_call_output"] == made


def _check_messages(body: Any) -> None:
    _validate("anthropic.types", "MessageParam", body["messages"])
    _validate("anthropic.types", "ToolUnionParam", body["tools"])
    _check_turns([(message["role"], message["content"]) for message in body["messages"]])
    for message in body["messages"]:
        if message["role"] == "assistant":
            kinds = [block["type"] for block in message["content"]]
            assert "tool_use" not in kinds[:-1] or set(kinds[kinds.index("tool_use") :]) == {"tool_use"}
    loop = _find_loop(body["messages"])
    if loop and body.get("thinking", {}).get("type") == "enabled":
        assert loop[0]["content"][0]["type"] in ("thinking", "redacted_thinking"), (
            "a loop begins with a thought"
        )


def _find_loop(messages: list[Any]) -> list[Any]:
    """The answers since the user's last own words: a tool loop that is still open."""
    asked = [
        place
        for place, message in enumerate(messages)
        if message["role"] == "user" and any(block["type"] != "tool_result" for block in message["content"])
    ]
    return [message for message in messages[asked[-1] :] if message["role"] == "assistant"]


def _check_gemini(body: Any) -> None:
    _validate("google.genai.types", "Content", [*body["contents"], body["systemInstruction"]])
    _validate("google.genai.types", "Tool", body["tools"])
    _validate("google.genai.types", "GenerationConfig", [body.get("generationConfig", {})])
    _check_turns([(content["role"], content["parts"]) for content in body["contents"]])
    before: list[str] = []
    for content in body["contents"]:
        results = [part["functionResponse"]["id"] for part in content["parts"] if "functionResponse" in part]
        assert results == before, "every call is followed by its result"
        calls = [part for part in content["parts"] if "functionCall" in part]
        assert not calls or "thoughtSignature" in calls[0], "Gemini 3 demands a signature"
        before = [part["functionCall"]["id"] for part in calls]


def _check_converse(body: Any) -> None:
    model = import_module("botocore.session").get_session().get_service_model("bedrock-runtime")
    shape = model.operation_model("ConverseStream").input_shape
    report = import_module("botocore.validate").ParamValidator().validate({"modelId": "m", **body}, shape)
    assert not report.has_errors(), report.generate_report()
    _check_turns([(message["role"], message["content"]) for message in body["messages"]])


def _check_turns(turns: list[tuple[str, Any]]) -> None:
    """Check that the roles alternate, beginning with the user's, and that no turn is empty."""
    roles = [role for role, _ in turns]
    assert roles[0] == "user"
    assert all(first != second for first, second in pairwise(roles)), roles
    assert all(content for _, content in turns)


SPEAKERS = {
    "chat": Speaker("openrouter:some/model", "/v1", _write_chat, _check_chat),
    "responses": Speaker("openai:gpt-5-mini", "/v1", _write_responses, _check_responses),
    "anthropic": Speaker("anthropic:claude-sonnet-4-5", "/v1", _write_messages, _check_messages),
    "google": Speaker("google:gemini-3-flash-preview", "/v1beta", _write_gemini, _check_gemini),
    "bedrock": Speaker(
        "bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0",
        "",
        _write_converse,
        _check_converse,
        "application/vnd.amazon.eventstream",
    ),
}
