"""Import of exported sessions."""

from datetime import UTC, datetime
from typing import Any, Literal, Self

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, model_validator

from dovetail.errors import ConfigError
from dovetail.events.delta import Usage
from dovetail.server.chat_options import keep_usable
from dovetail.server.errors import InvalidRequest
from dovetail.server.routes.sessions import describe_session
from dovetail.server.schemas import App, GivenId, Id, OptionsBody, Owner
from dovetail.sessions.message import Message
from dovetail.sessions.part_shape import check_part
from dovetail.sessions.transfer import MOST_MESSAGES, make_content, read_markdown

router = APIRouter(prefix="/api/v1/sessions", tags=["sessions"])
_LATEST = 4e9
_LONGEST_TITLE = 500


class ImportedProviderPart(BaseModel):
    """A part of an answer that goes back to the provider that made it."""

    model_config = ConfigDict(extra="ignore")
    answer: int = Field(default=0, ge=0, le=10**6)
    source: str = Field(max_length=200)
    data: dict[str, Any]
    text: int = Field(default=0, ge=0, le=10**9)
    calls: int = Field(default=0, ge=0, le=10**6)


class ImportedMessage(BaseModel):
    """A message of an export."""

    model_config = ConfigDict(extra="ignore")
    id: Id
    parent_id: Id | None = None
    role: Literal["user", "assistant", "system"]
    parts: list[dict[str, Any]] = []
    provider_parts: list[ImportedProviderPart] = []
    metadata: dict[str, Any] = {}
    created_at: datetime | None = None

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        for place, part in enumerate(self.parts):
            if problem := check_part(part):
                raise ValueError(f"part {place} of message {self.id!r}: {problem}")
        return self

    def to_message(self) -> Message:
        """The message as it is stored."""
        return Message(
            id=self.id,
            parent_id=self.parent_id,
            role=self.role,
            parts=self.parts,
            content=make_content(self.role, self.parts, [part.model_dump() for part in self.provider_parts]),
            metadata=self.metadata,
            created_at=_to_seconds(self.created_at),
        )


class ImportedUsage(BaseModel):
    """The usage of the session so far."""

    model_config = ConfigDict(extra="ignore")
    input_tokens: int = Field(default=0, ge=0, le=10**12)
    output_tokens: int = Field(default=0, ge=0, le=10**12)
    cached_tokens: int = Field(default=0, ge=0, le=10**12)
    reasoning_tokens: int = Field(default=0, ge=0, le=10**12)
    cache_write_tokens: int = Field(default=0, ge=0, le=10**12)
    cost: float | None = Field(default=None, ge=0, le=10**12)


class ImportBody(BaseModel):
    """A file of `GET /api/v1/sessions/{session_id}/export`: `messages`, parents before their children, or the
    Markdown as `markdown`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "title": "Plans",
                    "head": "m1",
                    "messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}],
                },
                {"markdown": "# Plans\n\n## You\n\nHello\n\n## Assistant\n\nHello to you.\n"},
            ]
        },
        extra="ignore",
    )
    title: str = Field(default="", max_length=_LONGEST_TITLE)
    head: Id | None = None
    usage: ImportedUsage = ImportedUsage()
    agent: GivenId | None = None
    options: OptionsBody = OptionsBody()
    messages: list[ImportedMessage] | None = Field(default=None, max_length=MOST_MESSAGES)
    markdown: str | None = None

    @model_validator(mode="after")
    def check(self) -> Self:
        """Raise unless exactly one of the two is there."""
        if (self.messages is None) == (self.markdown is None):
            raise ValueError("Send either `messages` or `markdown`.")
        return self

    def read(self) -> tuple[str, list[Message]]:
        """The title and the messages."""
        if self.markdown is None:
            return self.title, [message.to_message() for message in self.messages or ()]
        title, messages = read_markdown(self.markdown)
        return (self.title or title)[:_LONGEST_TITLE], messages


@router.post("/import", status_code=201)
async def import_session(body: ImportBody, app: App, owner: Owner) -> dict[str, Any]:
    """Create a session from an export; it gets a new id, its messages keep theirs.

    It keeps its agent and its options, except for names that this server does not have or allow.
    """
    agent, options = await keep_usable(app, body.agent, body.options.to_dict())
    try:
        title, messages = body.read()
        session = await app.sessions.add(
            messages,
            owner=owner,
            title=title,
            head=body.head,
            usage=Usage(**body.usage.model_dump()),
            choice=(agent, options),
        )
    except ConfigError as error:
        raise InvalidRequest(error.message, hint=error.hint) from error
    return describe_session(session)


def _to_seconds(moment: datetime | None) -> float:
    if moment is None:
        return 0.0
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return min(max(aware.timestamp(), 0.0), _LATEST)
