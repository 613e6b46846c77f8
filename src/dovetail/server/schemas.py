"""Request bodies, and the dependencies that routes share: the app and the caller."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from dovetail.app import Dovetail
from dovetail.data.shapes import is_mapping
from dovetail.data.text import explain_unknown
from dovetail.runs.ask_store import LONGEST_LEASE
from dovetail.runs.asks import LEASE_SECONDS
from dovetail.sessions.options import LONGEST_INSTRUCTIONS, SessionChanges
from dovetail.sessions.part_shape import check_file, check_part
from dovetail.settings import LOCAL_OWNER

Id = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9._:~-]+$")]
"""An id that a client may choose: it must fit into a path."""

GivenId = Annotated[str, Field(max_length=200)]
"""An id that a client names; it is checked when it is looked up."""

Title = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]
"""The title of a session."""
Folder = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
"""The name of a folder of sessions."""


class Body(BaseModel):
    """A request body that rejects unknown fields, so that a misspelt name is noticed."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _know_all_names(cls, given: Any) -> Any:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for name in given if is_mapping(given) else ():
            if name not in known and name not in cls.model_fields:
                raise ValueError(explain_unknown("field", name, known))
        return given


class OptionsBody(Body):
    """The options of a chat; null removes one."""

    model: GivenId | None = None
    mode: GivenId | None = None
    instructions: str | None = Field(default=None, max_length=LONGEST_INSTRUCTIONS)
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1, le=10**7)
    thinking: Literal["off", "low", "medium", "high"] | None = None
    time_zone: GivenId | None = None

    def to_dict(self) -> dict[str, Any]:
        """The options that were named, and None for those to be removed; an empty text is none."""
        given = self.model_dump(exclude_unset=True)
        return {name: None if value == "" else value for name, value in given.items()}


MOST_PARTS = 1000
"""Parts of one message of a user; each is checked, stored and sent to the model."""
MOST_MESSAGES = 5000
"""Messages in one request."""


class ClientMessage(BaseModel):
    """A message as AI SDK clients send it."""

    model_config = ConfigDict(extra="ignore")
    id: GivenId | None = None
    role: Literal["user", "assistant", "system"]
    parts: list[dict[str, Any]] = []
    metadata: dict[str, Any] | None = None


class ChatBody(Body):
    """One message: in the AI SDK's form (`id`, `messages`, `trigger`) or as `message` and `session_id`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"message": "Hello", "session_id": "s1"},
                {"id": "s1", "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hello"}]}]},
            ]
        },
        populate_by_name=True,
    )
    id: Id | None = None
    messages: list[ClientMessage] | None = Field(default=None, max_length=MOST_MESSAGES)
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    message_id: GivenId | None = Field(default=None, alias="messageId")
    message: str | None = None
    session_id: Id | None = None
    parent_id: GivenId | None = None
    agent: GivenId | None = None
    model: GivenId | None = None
    tab_id: GivenId | None = None
    background: bool = False
    skills: list[GivenId] = Field(default=[], max_length=100)
    mode: GivenId | None = None
    options: OptionsBody | None = None

    @property
    def last(self) -> ClientMessage | None:
        """The last of the client's messages; the others are stored here and not read."""
        return self.messages[-1] if self.messages else None

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The parts of the user's message."""
        if self.last is not None and self.last.role == "user":
            return self.last.parts
        return [{"type": "text", "text": self.message}] if self.message else []

    @property
    def is_continuation(self) -> bool:
        """Whether the client's last message is an answer in progress that waits for the client."""
        return self.trigger == "submit-message" and self.last is not None and self.last.role == "assistant"

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        _refuse_parts(self.parts, "the last message")
        says_something = self.is_continuation or any(map(_says_something, self.parts))
        if self.trigger == "submit-message" and not says_something:
            raise ValueError(
                "Missing message; send `message`, or `messages` whose last one has `parts` "
                'such as {"type": "text", "text": "Hello"}'
            )
        return self


def _refuse_parts(parts: Sequence[Mapping[str, Any]], where: str) -> None:
    """Raise if a part of a user's message cannot be read, or there are too many."""
    if len(parts) > MOST_PARTS:
        raise ValueError(f"{where} has {len(parts)} parts; at most {MOST_PARTS} are allowed.")
    for place, part in enumerate(parts):
        is_file = part.get("type") == "file"
        if problem := check_file(part) if is_file else check_part(part):
            raise ValueError(f"part {place} of {where}: {problem}")


def _says_something(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "file" or (
        part.get("type") == "text" and bool(str(part.get("text", "")).strip())
    )


class MessageBody(Body):
    """A message to a run: read in its next turn (`steer`), or answered after it (`queue`)."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"id": "m7", "message": "Use metres, please.", "mode": "steer"},
                {"parts": [{"type": "text", "text": "Then translate it."}], "mode": "queue"},
            ]
        }
    )
    id: Id | None = None
    message: str | None = None
    parts: list[dict[str, Any]] = []
    mode: Literal["steer", "queue"] = "steer"

    @property
    def all_parts(self) -> list[dict[str, Any]]:
        """The parts of the message."""
        return [{"type": "text", "text": self.message}] if self.message else self.parts

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        if self.message and self.parts:
            raise ValueError("Send either `message` or `parts`.")
        _refuse_parts(self.parts, "the message")
        if not any(map(_says_something, self.all_parts)):
            raise ValueError(
                'Missing message; send `message`, or `parts` such as {"type": "text", "text": "Hello"}'
            )
        return self


class CancelBody(Body):
    """When a run is to stop."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"mode": "now"}]})
    mode: Literal["now", "after_tool", "after_turn"] = "now"


class SessionBody(Body):
    """A new session."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": "s1", "title": "Plans", "options": {"mode": "plan"}}]}
    )
    id: Id | None = None
    title: Title = ""
    agent: GivenId | None = None
    options: OptionsBody = OptionsBody()


class SessionQuery(Body):
    """Which sessions are listed; an empty `folder` lists those in no folder."""

    q: Annotated[str, Field(max_length=100)] = ""
    parent: str | None = None
    pinned: bool | None = None
    folder: Annotated[str, Field(max_length=100)] | None = None
    cursor: str | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class FolderChange(Body):
    """The new name of a folder; without one its sessions are in no folder."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Wood"}]})
    name: Folder | None


class ShareBody(Body):
    """A new link to a session."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"with_work": True}]})
    with_work: bool = False


class SessionChange(Body):
    """Changes to a session; with `version`, only if it has not changed since."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"title": "Better plans"},
                {"head": "msg_1", "version": 3},
                {"pinned": True, "folder": "Wood"},
                {"agent": "master", "options": {"model": "openai:gpt-4.1", "mode": None}},
            ]
        }
    )
    title: Title | None = None
    head: GivenId | None = None
    agent: GivenId | None = None
    options: OptionsBody | None = None
    pinned: bool | None = None
    folder: Folder | None = None
    version: int | None = None

    @property
    def changes(self) -> SessionChanges:
        """What is to be changed; without an agent the session gets the usual one."""
        changes = SessionChanges()
        if self.title is not None:
            changes["title"] = self.title
        if self.head is not None:
            changes["head_id"] = self.head
        if "agent" in self.model_fields_set:
            changes["agent"] = self.agent
        if self.options is not None:
            changes["options"] = self.options.to_dict()
        if self.pinned is not None:
            changes["pinned"] = self.pinned
        if "folder" in self.model_fields_set:
            changes["folder"] = self.folder
        return changes

    @model_validator(mode="after")
    def _change_something(self) -> Self:
        if not self.changes:
            raise ValueError(
                "Nothing to change; send `title`, `head`, `agent`, `options`, `pinned` or `folder`."
            )
        return self


class AnswerBody(Body):
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


class ClaimBody(Body):
    """The tab that claims a browser question, and for how many seconds."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tab_id": "tab-1"}]})
    tab_id: str = Field(min_length=1, max_length=200)
    seconds: float = Field(default=LEASE_SECONDS, ge=5, le=LONGEST_LEASE)


class AckBody(BaseModel):
    """The result of a browser tool (rule C90)."""

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
    tab_id: GivenId | None = Field(default=None, alias="tabId")


class RenderBody(Body):
    """The values of a prompt's variables."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"variables": {"language": "French"}}]})
    variables: dict[str, str | int | float | bool] = {}


class SignInBody(BaseModel):
    """The API key of a user of the page."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"key": "a-long-random-key"}]})
    key: str = Field(min_length=1, max_length=1000)


async def get_app(request: Request) -> Dovetail:
    """Return the app of this server."""
    return request.app.state.dovetail


async def get_owner(request: Request) -> str:
    """Return the caller; a route shows and changes only what belongs to them."""
    return request.scope.get("owner", LOCAL_OWNER)


App = Annotated[Dovetail, Depends(get_app)]
Owner = Annotated[str, Depends(get_owner)]


def to_iso(seconds: float | None) -> str | None:
    """Return seconds since 1970 as ISO 8601 in UTC."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
