"""Schedules: list, add, view, change, delete and run them."""

from typing import Annotated, Any, Self

from fastapi import APIRouter
from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator
from starlette.responses import Response

from dovetail.agents.schedule import Missed
from dovetail.data.cron import parse_cron
from dovetail.errors import ConfigError
from dovetail.schedules.schedule import Schedule, Tick
from dovetail.schedules.service import MOST_SHOWN
from dovetail.server.chat_options import refuse_model
from dovetail.server.schemas import App, Body, GivenId, Id, Owner, Title, to_iso

router = APIRouter(prefix="/api/v1/schedules", tags=["schedules"])


def _check_line(text: str) -> str:
    try:
        parse_cron(text)
    except ConfigError as error:
        raise ValueError(f"{error.message} {error.hint or ''}".strip()) from error
    return text


ScheduleLine = Annotated[str, AfterValidator(_check_line)]
"""A cron line with a time zone."""

Question = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100_000)]
"""What a schedule asks."""


class ScheduleBody(Body):
    """A new schedule."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"schedule": "0 9 * * 1-5 Europe/Berlin", "message": "What is new?"},
                {"agent": "master", "schedule": "0 18 * * 5", "message": "Sum up.", "session_id": "s1"},
            ]
        }
    )
    schedule: ScheduleLine
    message: Question
    agent: GivenId = "master"
    title: Title = ""
    model: GivenId | None = None
    mode: GivenId | None = None
    session_id: Id | None = None
    missed: Missed = "latest"
    enabled: bool = True


class ScheduleChange(Body):
    """Changes to a schedule."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"enabled": False}, {"schedule": "0 8 * * *", "title": "Early"}]}
    )
    schedule: ScheduleLine = ""
    message: Question = Field(default_factory=str)  # the schema shows no default that it would refuse
    agent: GivenId = ""
    title: Title = ""
    model: GivenId | None = None
    mode: GivenId | None = None
    session_id: Id | None = None
    missed: Missed = "latest"
    enabled: bool = True

    @model_validator(mode="after")
    def _change_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("Nothing to change; send at least one field, such as `enabled`.")
        return self


@router.get("")
async def list_schedules(app: App, owner: Owner) -> dict[str, Any]:
    """List schedules, the oldest first, with their next and last tick."""
    found = await app.schedules.store.find(owner=owner)
    return {"schedules": [_describe(schedule) for schedule in found]}


@router.post("", status_code=201)
async def add_schedule(body: ScheduleBody, app: App, owner: Owner) -> dict[str, Any]:
    """Add a schedule: an agent is asked `message` at every time of the cron line `schedule`."""
    refuse_model(body.model, app)
    given = body.model_dump(exclude={"schedule"})
    schedule = Schedule(id="", owner=owner, cron=parse_cron(body.schedule), **given)
    return _describe(await app.schedules.add(schedule))


@router.get("/{schedule_id}")
async def view_schedule(schedule_id: str, app: App, owner: Owner) -> dict[str, Any]:
    """Return a schedule with its last ticks, the newest first."""
    schedule = await app.schedules.store.get(schedule_id, owner=owner)
    ticks = await app.schedules.store.find_ticks(schedule_id, MOST_SHOWN)
    return {**_describe(schedule), "ticks": [_describe_tick(tick) for tick in ticks]}


@router.patch("/{schedule_id}")
async def change_schedule(schedule_id: str, body: ScheduleChange, app: App, owner: Owner) -> dict[str, Any]:
    """Change, pause or resume a schedule; its next tick is computed again."""
    refuse_model(body.model, app)
    changes = body.model_dump(include=body.model_fields_set - {"schedule"})
    if "schedule" in body.model_fields_set:
        changes["cron"] = parse_cron(body.schedule)
    return _describe(await app.schedules.change(schedule_id, changes, owner=owner))


@router.delete("/{schedule_id}", status_code=204, response_class=Response)
async def remove_schedule(schedule_id: str, app: App, owner: Owner) -> None:
    """Delete a schedule; the sessions of its runs stay."""
    await app.schedules.remove(schedule_id, owner=owner)


@router.post("/{schedule_id}/run", status_code=202)
async def run_schedule(schedule_id: str, app: App, owner: Owner) -> dict[str, Any]:
    """Start a run of a schedule now; its next tick stays as it is."""
    tick, started = await app.schedules.run_now(schedule_id, owner=owner)
    return {"schedule_id": schedule_id, **_describe_tick(tick), "message_id": started.message_id}


def _describe(schedule: Schedule) -> dict[str, Any]:
    return {
        "id": schedule.id,
        "agent": schedule.agent,
        "schedule": str(schedule.cron),
        "message": schedule.message,
        "title": schedule.title,
        "model": schedule.model,
        "mode": schedule.mode,
        "session_id": schedule.session_id,
        "missed": schedule.missed,
        "enabled": schedule.enabled,
        "source": schedule.source,
        "next_at": to_iso(schedule.next_at),
        "created_at": to_iso(schedule.created_at),
        "last": _describe_tick(schedule.last) if schedule.last is not None else None,
    }


def _describe_tick(tick: Tick) -> dict[str, Any]:
    return {
        "tick_at": to_iso(tick.tick_at),
        "state": tick.state,
        "run_id": tick.run_id,
        "session_id": tick.session_id,
        "detail": tick.detail,
    }
