"""The schedules of an agent file: when the agent runs by itself, and what it is asked then."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, get_args

from dovetail.data.cron import Cron, parse_cron
from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import explain_choices, explain_unknown, shorten
from dovetail.errors import ConfigError

Missed: TypeAlias = Literal["latest", "skip"]
"""What happens to ticks that no process was there for: the newest one runs, or none."""

MOST_SCHEDULES = 50
"""Schedules of one agent file."""
_FORM = 'Write `schedule: "0 9 * * 1-5 Europe/Berlin"`, or a list of tables with `schedule` and `message`.'


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSchedule:
    """One schedule of an agent; without `session_id` each tick opens a new session.

    `owner` sees the sessions; None is the setting `schedules.owner`.
    """

    cron: Cron
    message: str
    title: str = ""
    model: str | None = None
    mode: str | None = None
    session_id: str | None = None
    missed: Missed = "latest"
    owner: str | None = None


_TEXTS = [field.name for field in fields(AgentSchedule) if field.name not in ("cron", "missed")]
_KEYS = ["schedule", *_TEXTS, "missed"]


def read_schedules(value: Any, query: str) -> tuple[AgentSchedule, ...]:
    """Return the schedules of a file; `query` is asked where a schedule has no message.

    Raises:
        ConfigError: a schedule is invalid, or has nothing to ask.
    """
    if value is None:
        return ()
    if is_list(value):
        if len(value) > MOST_SCHEDULES:
            raise ConfigError(f"`schedule` has {len(value)} entries, at most {MOST_SCHEDULES} are read.")
        return tuple(_read_one(each, query, f"`schedule[{place}]`") for place, each in enumerate(value))
    return (_read_one(value, query, "`schedule`"),)


def _read_one(value: Any, query: str, place: str) -> AgentSchedule:
    table = value if is_mapping(value) else {"schedule": value}
    if unknown := [key for key in table if key not in _KEYS]:
        raise ConfigError(f"{place}: {explain_unknown('key', unknown[0], _KEYS)}")
    if "schedule" not in table:
        raise ConfigError(f"{place}: Missing `schedule`.", hint=_FORM)
    try:
        cron = parse_cron(table["schedule"])
    except ConfigError as error:
        raise ConfigError(f"{place}: {error.message}", hint=error.hint) from error
    texts = {"message": query, **_read_texts(table, place)}
    if not texts["message"].strip():
        hint = "Write a list: `schedule: [{schedule: …, message: What to do.}]`, or a `query`."
        raise ConfigError(f"{place}: Missing `message`; the agent would have nothing to answer.", hint=hint)
    return AgentSchedule(cron=cron, missed=_read_missed(table, place), **texts)


def _read_texts(table: Mapping[str, Any], place: str) -> dict[str, str]:
    texts = {key: table[key] for key in _TEXTS if table.get(key) is not None}
    for key, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise ConfigError(f"{place}: `{key}` must be text, got {shorten(text)}.")
    return {key: text.strip() for key, text in texts.items()}


def _read_missed(table: Mapping[str, Any], place: str) -> Missed:
    missed = table.get("missed", "latest")
    if missed not in get_args(Missed):
        raise ConfigError(f"{place}: {explain_choices('value of `missed`', missed, get_args(Missed))}")
    return missed
