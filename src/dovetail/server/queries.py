"""What the routes of the control room are asked for: filters of runs and usage, and changes of the policy."""

from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from dovetail.events.run_events import EndReason
from dovetail.policy.rule import Action
from dovetail.runs.listing import ListedState, Sort
from dovetail.runs.usage import By
from dovetail.server.schemas import Body, GivenId

_Text = Annotated[str, Field(max_length=500)]


def _read_moment(value: Any, *, is_end: bool) -> float | None:
    """Return an ISO 8601 time as seconds since 1970; a date is its beginning, or its end."""
    if value is None:
        return None
    try:
        if len(str(value)) <= len("2026-11-16"):
            day = date.fromisoformat(str(value)) + timedelta(days=is_end)
            return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
        moment = datetime.fromisoformat(str(value))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise ValueError(f"Invalid time {str(value)[:40]!r}; use 2026-11-16 or 2026-11-16T09:30Z") from error


_MOMENT = WithJsonSchema({"type": "string", "description": "An ISO 8601 date or time, in UTC by default."})
Since = Annotated[float | None, BeforeValidator(partial(_read_moment, is_end=False)), _MOMENT]
Before = Annotated[float | None, BeforeValidator(partial(_read_moment, is_end=True)), _MOMENT]


class RunQuery(BaseModel):
    """Which runs are listed, and in which order."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)
    state: list[ListedState] = []
    reason: list[EndReason] = []
    agent: _Text | None = None
    model: _Text | None = None
    session_id: GivenId | None = None
    since: Since = Field(default=None, alias="from")
    before: Before = Field(default=None, alias="to")
    query: _Text = Field(default="", alias="q")
    sort: Sort = "time"
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str, Field(max_length=500)] | None = None


class UsageQuery(BaseModel):
    """Which usage is summed up, by what; without days it is that of the last thirty."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)
    by: By = "day"
    first: date | None = Field(default=None, alias="from")
    last: date | None = Field(default=None, alias="to")


class PolicyFileBody(Body):
    """A new text of the workspace's policy file; `version` is that of the text that was read."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"text": '[[rule]]\naction = "deny"\ntool = "delete_file"\n', "version": "9f86d081"}]
        },
    )
    text: Annotated[str, Field(max_length=1_000_000)]
    version: GivenId


class RuleBody(Body):
    """A rule to be added to the workspace's policy file."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"action": "allow", "tool": "run_shell_command", "arguments": {"command": "git status.*"}}
            ]
        },
    )
    action: Action
    tool: Annotated[str, Field(min_length=1, max_length=500)] = "*"
    kinds: list[_Text] = Field(default_factory=list[str])
    arguments: dict[str, _Text] = Field(default_factory=dict[str, str])
    agent: Annotated[str, Field(min_length=1, max_length=500)] = "*"
    modes: list[_Text] = Field(default_factory=list[str])
    priority: Annotated[int, Field(ge=0, le=999)] = 0
    name: _Text = ""
    reason: _Text = ""
    version: GivenId | None = None


class TryBody(Body):
    """A call whose decision is explained; it is not made."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"tool": "run_shell_command", "arguments": {"command": "df -h"}, "mode": "default"}]
        },
    )
    tool: GivenId
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    agent: _Text | None = None
    mode: Literal["plan", "default", "auto", "yolo"] | None = None
