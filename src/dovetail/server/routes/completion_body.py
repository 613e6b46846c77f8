"""The body of a chat completion, as OpenAI's clients send it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from dovetail.sessions.message import Message
from dovetail.store.ids import new_id

_OPTIONS = (
    "frequency_penalty",
    "max_completion_tokens",
    "max_tokens",
    "presence_penalty",
    "reasoning_effort",
    "seed",
    "stop",
    "temperature",
    "top_p",
)


class CompletionMessage(BaseModel):
    """One message of the conversation: text, or a list of parts with text and pictures."""

    model_config = ConfigDict(extra="ignore")
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """The text of the message, without pictures."""
        if isinstance(self.content, list):
            return "\n\n".join(str(part["text"]) for part in self.content if part.get("type") == "text")
        return self.content or ""

    @field_validator("content")
    @classmethod
    def _check_parts(cls, value: str | list[dict[str, Any]] | None) -> str | list[dict[str, Any]] | None:
        for part in value if isinstance(value, list) else ():
            if part.get("type") not in ("text", "image_url") or part["type"] not in part:
                raise ValueError("a part of a message is {type: text, text} or {type: image_url, image_url}")
        return value


class StreamOptions(BaseModel):
    """What a stream tells beside the answer."""

    include_usage: bool = False


class CompletionBody(BaseModel):
    """A conversation to be answered by an agent, which is named as the model."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"model": "master", "messages": [{"role": "user", "content": "Hello"}], "stream": True}
            ]
        },
        extra="ignore",
    )
    model: str
    messages: list[CompletionMessage] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = 1
    tools: list[Any] | None = None
    response_format: dict[str, Any] | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, ge=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    seed: int | None = None
    stop: str | list[str] | None = None
    reasoning_effort: str | None = None

    @field_validator("tools")
    @classmethod
    def _refuse_tools(cls, value: list[Any] | None) -> list[Any] | None:
        if value:
            raise ValueError("an agent has its own tools, which run on the server; leave `tools` out")
        return value

    @field_validator("response_format")
    @classmethod
    def _refuse_formats(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value and value.get("type") != "text":
            raise ValueError(
                "an agent answers with text, or with the output its definition names; leave it out"
            )
        return value

    @property
    def tells_usage(self) -> bool:
        """Whether a stream ends with a chunk of usage."""
        return self.stream_options is not None and self.stream_options.include_usage

    def read_options(self) -> dict[str, Any]:
        """What goes to the model as it is."""
        return {name: value for name in _OPTIONS if (value := getattr(self, name)) is not None}

    def read_history(self) -> list[Message]:
        """The conversation as messages of ours."""
        return [
            Message(
                id=new_id("msg"),
                role=message.role if message.role != "developer" else "system",
                parts=[{"type": "text", "text": message.text}],
                content=[{"role": message.role, "content": message.content or ""}],
            )
            for message in self.messages
        ]
