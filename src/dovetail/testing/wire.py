"""Write replies in the wire format of OpenAI-compatible servers, and read their requests."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.errors import ModelError
from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.events.delta import ReasoningDelta, TextDelta, ToolCallDelta
from dovetail.requesters.openai.format import write_usage
from dovetail.testing.replies import Reply, Step

DONE = b"data: [DONE]\n\n"

_REASONS = {"tool-calls": "tool_calls", "content-filter": "content_filter"}


def read_request(body: Mapping[str, Any]) -> ModelRequest:
    """Read a request from its JSON body."""
    known = {"messages", "model", "tools", "tool_choice", "stream"}
    functions = (tool["function"] for tool in body.get("tools") or ())
    choice = body.get("tool_choice")
    return ModelRequest(
        messages=body.get("messages", ()),
        model=body.get("model", ""),
        tools=[
            ToolSpec(
                name=function["name"],
                description=function.get("description", ""),
                parameters=function.get("parameters", {}),
            )
            for function in functions
        ],
        tool_choice=choice if choice in ("none", "required") else "auto",
        schema=_find_schema(body.get("response_format")),
        stream=bool(body.get("stream")),
        options={name: value for name, value in body.items() if name not in known},
    )


class ChunkWriter:
    """Convert the steps of one reply to server-sent events."""

    def __init__(self, reply: Reply, request_id: str) -> None:
        self._reply = reply
        self._role: dict[str, Any] = {"role": "assistant"}
        self._envelope = {
            "id": request_id,
            "object": "chat.completion.chunk",
            "created": 0,
            "model": reply.model,
        }

    def write_step(self, step: Step) -> bytes:
        """Return the bytes of a step with content."""
        if isinstance(step, bytes):
            return step
        if isinstance(step, Exception):
            return encode_event({"error": write_error(step)})
        role, self._role = self._role, {}  # the first delta of an answer has its role
        return self._write_choice({**role, **_describe_step(step)}, None)

    def write_end(self, *, include_usage: bool) -> Iterator[bytes]:
        """Yield the bytes that end the answer."""
        yield self._write_choice({}, wire_reason(self._reply))
        if include_usage:
            usage = write_usage(self._reply.finish().usage)
            yield encode_event({**self._envelope, "choices": [], "usage": usage})
        yield DONE

    def _write_choice(self, delta: dict[str, Any], reason: str | None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return encode_event({**self._envelope, "choices": [choice]})


def write_completion(reply: Reply, request_id: str) -> dict[str, Any]:
    """Return the whole reply as one JSON response, for requests that do not stream."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    for step in reply.plan():
        if isinstance(step, str | TextDelta):
            message["content"] = (message["content"] or "") + (step if isinstance(step, str) else step.text)
        elif isinstance(step, ReasoningDelta):
            message["reasoning_content"] = message.get("reasoning_content", "") + step.text
        elif isinstance(step, ToolCallDelta):
            _add_call(calls, step)
    if calls:
        message["tool_calls"] = list(calls.values())
    return {
        "id": request_id,
        "object": "chat.completion",
        "created": 0,
        "model": reply.model,
        "choices": [{"index": 0, "message": message, "finish_reason": wire_reason(reply)}],
        "usage": write_usage(reply.finish().usage),
    }


def wire_reason(reply: Reply) -> str:
    """Return the finish reason in the provider's terms."""
    reason = reply.finish().reason
    return _REASONS.get(reason, reason)


def write_error(error: Exception) -> dict[str, Any]:
    """An error in the provider's shape."""
    status = error.status if isinstance(error, ModelError) else None
    return {"message": str(error), "type": "scripted_error", "param": None, "code": status}


def encode_event(data: Mapping[str, Any]) -> bytes:
    """Encode one server-sent event; half a surrogate pair, which has no UTF-8, is escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        return b"data: " + text.encode() + b"\n\n"
    except UnicodeEncodeError:
        return b"data: " + json.dumps(data, separators=(",", ":")).encode() + b"\n\n"


def _describe_step(step: Step) -> dict[str, Any]:
    if isinstance(step, str):
        return {"content": step}
    if isinstance(step, TextDelta):
        return {"content": step.text}
    if isinstance(step, ReasoningDelta):
        return {"reasoning_content": step.text}
    if isinstance(step, ToolCallDelta):
        return {"tool_calls": [_describe_call(step)]}
    raise TypeError(f"{step!r} has no content")


def _describe_call(step: ToolCallDelta) -> dict[str, Any]:
    function: dict[str, Any] = {"arguments": step.arguments}
    if step.name is None:
        return {"index": step.index, "function": function}
    return {
        "index": step.index,
        "id": step.call_id,
        "type": "function",
        "function": {"name": step.name, **function},
    }


def _add_call(calls: dict[int, dict[str, Any]], step: ToolCallDelta) -> None:
    empty = {"id": step.call_id, "type": "function", "function": {"name": step.name, "arguments": ""}}
    calls.setdefault(step.index, empty)["function"]["arguments"] += step.arguments


def _find_schema(response_format: Any) -> Mapping[str, Any] | None:
    if not is_mapping(response_format) or response_format.get("type") != "json_schema":
        return None
    return response_format["json_schema"].get("schema")
