"""A tool call as a model asked for it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from dovetail.data.clean import clean_data
from dovetail.data.text import brief_repr
from dovetail.settings.limits import AnswerLimits

CallStatus: TypeAlias = Literal["ok", "error", "denied", "timeout", "interrupted"]
"""How a call ended; every call ends in exactly one of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call: `arguments` is the model's text as it came, or a mapping if it is known already."""

    call_id: str
    name: str
    arguments: str | Mapping[str, Any]

    __repr__ = brief_repr

    @property
    def shown_arguments(self) -> Any:
        """The arguments as data for display; text that is not JSON is kept as it is.

        The pipeline reads them for itself, and may repair them.
        """
        if not isinstance(self.arguments, str):
            return dict(self.arguments)
        try:
            return clean_data(json.loads(self.arguments or "{}"))
        except (ValueError, RecursionError):
            return self.arguments


class Kind(StrEnum):
    """The kind of a tool. Read, Search, Think and Fetch leave the world as it was.

    >>> Kind.Read.is_read_only, Kind("write").is_read_only
    (True, False)
    """

    Read = "read"
    Write = "write"
    Edit = "edit"
    Delete = "delete"
    Move = "move"
    Search = "search"
    Execute = "execute"
    Think = "think"
    Fetch = "fetch"
    Communicate = "communicate"
    Other = "other"

    @property
    def is_read_only(self) -> bool:
        """Whether a tool of this kind changes nothing."""
        return self in READ_ONLY


READ_ONLY = (Kind.Read, Kind.Search, Kind.Think, Kind.Fetch)
"""The kinds that change nothing."""


ChatMessage: TypeAlias = Mapping[str, Any]
"""One message as chat models take it: `role` and `content` (text or a list of parts), an assistant's
`tool_calls` as `[{"id", "type": "function", "function": {"name", "arguments"}}]`, and a tool's answer as
`{"role": "tool", "tool_call_id", "content"}`. An assistant's `provider_parts` are for the provider that made
them: `[{"source", "data", "text", "calls"}]`, each after that many characters of text and that many calls."""


def write_answer(
    text: str | None, calls: Sequence[ToolCall] = (), provider_parts: Sequence[Mapping[str, Any]] = ()
) -> ChatMessage:
    """Return the assistant's message: its text, its calls, and the parts for its provider."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if provider_parts:
        message["provider_parts"] = [*provider_parts]
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
    """Return the message that carries the result of a call."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as it is described to a model."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    __repr__ = brief_repr

    @property
    def parameters_json_schema(self) -> Mapping[str, Any]:
        """The JSON Schema that arguments are checked against: `parameters` by its long name."""
        return self.parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request to a model.

    `schema` is the JSON Schema the answer's text must follow, if the model supports one.
    `options` go to the provider as they are (temperature, max_tokens, …). With a `pace`, text that comes
    faster may be delivered in steps of that many seconds: a page that shows it saves the cost of every token.
    `thinking` is how long the model may think: off, low, medium, high, or a number of tokens.
    `longest` are the output tokens of an answer, without its thinking, if the options do not limit them.
    `sizes` are the characters that the answer may have: it is cut off there, if its server never ends it.
    """

    messages: Sequence[ChatMessage]
    model: str = ""
    tools: Sequence[ToolSpec] = ()
    tool_choice: Literal["auto", "none", "required"] = "auto"
    schema: Mapping[str, Any] | None = None
    stream: bool = True
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    pace: float = 0.0
    thinking: str | int | None = None
    longest: int | None = None
    sizes: AnswerLimits = field(default_factory=AnswerLimits)

    __repr__ = brief_repr
