"""`PromptModel`: a prompt's slots as a pydantic model."""

from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from dovetail.data.shapes import is_dict, is_list, is_mapping
from dovetail.prompt.parts import read_attachment, read_history
from dovetail.prompt.slots import order_tool, read_options, read_output, read_tools


class ChatMessage(BaseModel):
    """One entry of the chat history; extra keys are kept."""

    model_config = ConfigDict(extra="allow")
    role: str = "user"
    content: str | list[dict[str, Any]]


class ChatMessageContent(BaseModel):
    """One part of a message: its type and, under the type's name, its content."""

    model_config = ConfigDict(extra="allow")
    type: str


class TextMessageContent(BaseModel):
    """A part that carries text."""

    type: str = "text"
    text: str


class PromptModel(BaseModel):
    """The slots of a prompt, validated and normalized; extra keys are kept in their order.

    >>> Prompt({"input": "A wood?"}).to_prompt_object().input
    'A wood?'
    """

    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)

    system: Any = None
    developer: Any = None
    chat_history: list[ChatMessage] = []
    info: Any = None
    tools: list[dict[str, Any]] | None = None
    action_results: Any = None
    instruct: Any = None
    examples: Any = None
    input: Any = None
    attachment: list[TextMessageContent | ChatMessageContent] = []
    output: Any = None
    output_format: str = "markdown"
    options: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _normalize_output(cls, data: Any) -> Any:
        if not is_mapping(data):
            return data
        output, output_format = read_output(data.get("output"), data.get("output_format"))
        return {**data, "output": output, "output_format": output_format}

    @field_validator("chat_history", mode="before")
    @classmethod
    def _read_history(cls, value: Any) -> Any:
        entries = value if is_list(value) else [value]
        return [
            {**(entry if is_dict(entry) else {}), "role": role, "content": content}
            for entry, (role, content) in zip(entries, read_history(value), strict=False)
        ]

    @field_validator("tools", mode="before")
    @classmethod
    def _read_tools(cls, value: Any) -> Any:
        return None if value is None else [dict(order_tool(tool)) for tool in read_tools(value)]

    @field_validator("attachment", mode="before")
    @classmethod
    def _read_attachment(cls, value: Any) -> Any:
        return [_to_part(part) for part in read_attachment(value)]

    @field_validator("options", mode="before")
    @classmethod
    def _read_options(cls, value: Any) -> Any:
        return read_options(value)


def _to_part(part: dict[str, Any]) -> BaseModel:
    if part["type"] == "text" and isinstance(part["text"], str):
        return TextMessageContent(**part)
    return ChatMessageContent(**part)
