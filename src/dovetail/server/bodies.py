"""The bodies that requests carry."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Id = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9._:~-]+$")]
"""An id that a client may choose: it must fit into a path."""


class ClientMessage(BaseModel):
    """A message as AI SDK clients send it."""

    model_config = ConfigDict(extra="ignore")
    id: str | None = None
    role: Literal["user", "assistant", "system"]
    parts: list[dict[str, Any]] = []
    metadata: dict[str, Any] | None = None


class ChatBody(BaseModel):
    """One message: in the AI SDK's form (`id`, `messages`, `trigger`) or as `message` and `session_id`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"message": "Hello", "session_id": "s1"},
                {"id": "s1", "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hello"}]}]},
            ]
        },
        extra="ignore",
        populate_by_name=True,
    )
    id: Id | None = None
    messages: list[ClientMessage] | None = None
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    message_id: str | None = Field(default=None, alias="messageId")
    message: str | None = None
    session_id: Id | None = None
    parent_id: str | None = None
    agent: str = "master"
    model: str | None = None
    tab_id: str | None = None
    skills: list[str] = []


class CancelBody(BaseModel):
    """How soon a run shall stop."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"mode": "now"}]})
    mode: Literal["now", "after_tool", "after_turn"] = "now"


class SessionBody(BaseModel):
    """A new session."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": "s1", "title": "Plans"}]})
    id: Id | None = None
    title: str = Field(default="", max_length=500)


class SessionChange(BaseModel):
    """What changes in a session; with `version`, only if it has not changed since."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"title": "Better plans"}, {"head": "msg_1", "version": 3}]}
    )
    title: str | None = Field(default=None, max_length=500)
    head: str | None = None
    version: int | None = None


class AnswerBody(BaseModel):
    """The answer to an ask."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"approved": True, "remember": "once"}, {"approved": False, "reason": "not today"}]
        }
    )
    approved: bool | None = None
    value: Any = None
    edited_args: dict[str, Any] | None = None
    remember: Literal["once", "run", "always"] | None = None
    reason: str | None = None


class ClaimBody(BaseModel):
    """The tab that wants to act alone."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tab_id": "tab-1"}]})
    tab_id: str = Field(min_length=1, max_length=200)


class AckBody(BaseModel):
    """What a browser tool did (document 004)."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"toolCallId": "call_1", "status": "success", "output": {"opened": True}}]
        },
        populate_by_name=True,
    )
    call_id: str = Field(alias="toolCallId", min_length=1, max_length=200)
    status: Literal["success", "failed"]
    output: Any = None
    error_text: str | None = Field(default=None, alias="errorText")
    tab_id: str | None = Field(default=None, alias="tabId")


class CallBody(BaseModel):
    """The arguments of a tool call."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"arguments": {"expression": "6 * 7"}}]})
    arguments: dict[str, Any] = {}


class SignInBody(BaseModel):
    """The API key of somebody who uses the page."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"key": "a-long-random-key"}]})
    key: str = Field(min_length=1, max_length=1000)
