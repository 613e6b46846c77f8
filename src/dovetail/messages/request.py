"""What is asked of a model: one request, whatever the provider."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from dovetail.messages.call import ToolCall

ChatMessage: TypeAlias = Mapping[str, Any]
"""One message as chat models take it: `role` and `content` (text or a list of parts), an assistant's
`tool_calls` as `[{"id", "type": "function", "function": {"name", "arguments"}}]`, and a tool's answer as
`{"role": "tool", "tool_call_id", "content"}`."""


def write_answer(text: str | None, calls: Sequence[ToolCall] = ()) -> ChatMessage:
    """What the assistant said and wants to call, as a message."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ]
    return message


def write_result(call_id: str, content: Any) -> ChatMessage:
    """What a call gave, as a message."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """What a model is told of a tool."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    @property
    def parameters_json_schema(self) -> Mapping[str, Any]:
        """The JSON Schema that arguments are checked against: `parameters` by its long name."""
        return self.parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request to a model.

    `schema` is the JSON Schema the answer's text must follow, where the model can be held to one.
    `options` go to the provider as they are (temperature, max_tokens, …). With a `pace`, text that comes
    faster may be given in steps of so many seconds: who shows it to people saves the cost of every token.
    """

    messages: Sequence[ChatMessage]
    model: str = ""
    tools: Sequence[ToolSpec] = ()
    tool_choice: Literal["auto", "none", "required"] = "auto"
    schema: Mapping[str, Any] | None = None
    stream: bool = True
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    pace: float = 0.0
