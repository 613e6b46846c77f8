"""`dovetail schedules`: list, add, show, pause, resume, run and remove schedules.

A server on the same database notices changes within seconds.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.table import Table

from dovetail.agents.schedule import Missed
from dovetail.app import Dovetail
from dovetail.cli.chat.plain import Form, PlainAnswer
from dovetail.cli.first_model import FirstModel
from dovetail.cli.output import Console
from dovetail.cli.terminal import (
    JSON,
    JSON_RESULT,
    WORKSPACE,
    open_record,
    print_json,
    print_report,
    shorten,
    without_logs,
)
from dovetail.concurrency import run_sync
from dovetail.data.cron import parse_cron
from dovetail.data.text import expected_one_of
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.schedules.schedule import Schedule, Tick
from dovetail.schedules.service import Schedules
from dovetail.settings import Settings
from dovetail.settings.sections import ScheduleSettings, ServerSettings

auth = lazy("dovetail.server.auth", extra="server")

T = TypeVar("T")
app = typer.Typer(
    name="schedules", help="List, add, show, pause, resume, run and remove schedules.", no_args_is_help=True
)
console = Console(highlight=False, soft_wrap=True)
ID = typer.Argument(help="The schedule's id, as listed.")
_MOST_TICKS = 20


@app.command("list")
def list_schedules(workspace: Path | None = WORKSPACE, as_json: bool = JSON) -> None:
    """List the schedules of all owners, with their next and last tick."""
    found = run_sync(_do(workspace, lambda schedules: schedules.store.find()))
    if as_json:
        print_json({"schedules": [_describe(schedule) for schedule in found]})
        return
    table = Table(box=None, header_style="bold")
    for name in ("id", "schedule", "agent", "asks", "next", "last", "owner"):
        table.add_column(name, no_wrap=name == "id", overflow="fold")  # ids are copied from here
    for schedule in found:
        question = shorten(schedule.title or schedule.message, 40)
        last = _describe_tick(schedule.last) if schedule.last is not None else "never"
        name = (schedule.id, str(schedule.cron), schedule.agent, question)
        table.add_row(*name, _show_time(schedule.next_at) or "paused", last, schedule.owner)
    console.print(table)


@app.command("add")
def add_schedule(  # noqa: PLR0913 - every option of the command is one
    schedule: str = typer.Argument(help='A cron line and a time zone: "0 9 * * 1-5 Europe/Berlin".'),
    message: str = typer.Argument(help="What the agent is asked each time."),
    agent: str = typer.Option("master", help="The agent."),
    title: str = typer.Option("", help="The title of the sessions."),
    model: str | None = typer.Option(None, help="The model; by default that of the agent."),
    mode: str | None = typer.Option(None, help="The policy mode; by default the one in the settings."),
    session: str | None = typer.Option(None, help="The session of all runs; by default each has its own."),
    missed: str = typer.Option("latest", help="What happens to missed ticks: latest or skip."),
    owner: str | None = typer.Option(
        None,
        help="The owner of the sessions: the name of an API key; by default the setting schedules.owner.",
    ),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """Add a schedule."""
    new = Schedule(
        id="",
        owner=_choose_owner(owner, Dovetail(workspace=workspace).settings),
        agent=agent,
        cron=parse_cron(schedule),
        message=message,
        title=title,
        model=model,
        mode=mode,
        session_id=session,
        missed=_read_missed(missed),
    )
    added = run_sync(_do(workspace, lambda schedules: schedules.add(new)))
    text = f"Added {added.id}: {added.cron}, next at {_show_time(added.next_at)}, for {added.owner}."
    print_report(_describe(added), text, as_json=as_json)


@app.command("show")
def show_schedule(schedule_id: str = ID, workspace: Path | None = WORKSPACE, as_json: bool = JSON) -> None:
    """Show a schedule and its last ticks."""

    async def fetch(schedules: Schedules) -> tuple[Schedule, list[Tick]]:
        schedule = await schedules.store.get(schedule_id)
        return schedule, await schedules.store.find_ticks(schedule_id, _MOST_TICKS)

    schedule, ticks = run_sync(_do(workspace, fetch))
    if as_json:
        print_json({**_describe(schedule), "ticks": [asdict(tick) for tick in ticks]})
        return
    table = Table.grid(padding=(0, 2))
    for name in ("id", "cron", "agent", "message", "title", "model", "mode", "session_id", "missed", "owner"):
        if (value := getattr(schedule, name)) not in (None, ""):
            table.add_row("schedule" if name == "cron" else name.partition("_")[0], str(value))
    table.add_row("from", "the agent's file" if schedule.source == "file" else "a person")
    table.add_row("next", _show_time(schedule.next_at) or "paused")
    console.print(table, markup=False)
    for tick in ticks:
        console.print(_describe_tick(tick), tick.session_id or "", tick.detail or "", markup=False)


@app.command("pause")
def pause_schedule(schedule_id: str = ID, workspace: Path | None = WORKSPACE, as_json: bool = JSON) -> None:
    """Pause a schedule; ticks that are missed are not repeated later."""
    paused = _switch(schedule_id, workspace, enabled=False)
    print_report(_describe(paused), f"Paused {schedule_id}.", as_json=as_json)


@app.command("resume")
def resume_schedule(schedule_id: str = ID, workspace: Path | None = WORKSPACE, as_json: bool = JSON) -> None:
    """Resume a paused schedule."""
    resumed = _switch(schedule_id, workspace, enabled=True)
    text = f"Resumed {schedule_id}, next at {_show_time(resumed.next_at)}."
    print_report(_describe(resumed), text, as_json=as_json)


@app.command("remove")
def remove_schedule(schedule_id: str = ID, workspace: Path | None = WORKSPACE, as_json: bool = JSON) -> None:
    """Remove a schedule; the sessions of its runs stay."""
    run_sync(_do(workspace, lambda schedules: schedules.remove(schedule_id, owner=None)))
    print_report({"id": schedule_id}, f"Removed {schedule_id}.", as_json=as_json)


@app.command("run")
def run_schedule(
    schedule_id: str = ID, workspace: Path | None = WORKSPACE, as_json: bool = JSON_RESULT
) -> None:
    """Run a schedule now in this process and show its answer; exit code 1 if it fails."""
    dovetail = _make_app(workspace)
    FirstModel(dovetail.settings).prepare()
    raise typer.Exit(asyncio.run(_run(dovetail, schedule_id, "json" if as_json else "text")))


async def _run(dovetail: Dovetail, schedule_id: str, form: Form) -> int:
    async with dovetail:
        schedules = await dovetail.open_schedules()
        schedule = await schedules.store.get(schedule_id)
        tick, started = await schedules.run_now(schedule_id, owner=None)
        typer.echo(f"Session {tick.session_id}.", err=True)
        return await PlainAnswer(dovetail, form, schedule.owner).follow(started)


def _switch(schedule_id: str, workspace: Path | None, *, enabled: bool) -> Schedule:
    changes = {"enabled": enabled}
    return run_sync(_do(workspace, lambda schedules: schedules.change(schedule_id, changes, owner=None)))


async def _do(workspace: Path | None, work: Callable[[Schedules], Awaitable[T]]) -> T:
    async with _make_app(workspace) as dovetail:
        await dovetail.open_chat(works=False)
        return await work(await dovetail.open_schedules())


def _choose_owner(given: str | None, settings: Settings) -> str:
    """Return the owner of a new schedule; with API keys, one of them has to open its sessions."""
    owner, keys = given or settings.section(ScheduleSettings).owner, settings.section(ServerSettings).api_keys
    if not keys:
        return owner
    with without_logs("dovetail.server.auth"):
        known = sorted(set(auth.parse_api_keys(keys).values()))
    if owner not in known:
        raise ConfigError(
            f"Owner {owner!r} has no API key, so no one could open the sessions. {expected_one_of(known)}",
            hint="Pass --owner, or set schedules.owner.",
        )
    return owner


def _make_app(workspace: Path | None) -> Dovetail:
    """Return the app of a workspace; agent files count as they do for its server."""
    dovetail = Dovetail(workspace=workspace)
    if dovetail.settings.section(ServerSettings).api_keys:
        dovetail.agents.trust = open_record(dovetail.workspace)
    return dovetail


def _describe(schedule: Schedule) -> dict[str, Any]:
    return {**asdict(schedule), "cron": str(schedule.cron)}


def _read_missed(word: str) -> Missed:
    if word == "latest" or word == "skip":
        return word
    raise typer.BadParameter(f"{word!r} is not one of: latest, skip.", param_hint="--missed")


def _describe_tick(tick: Tick) -> str:
    return f"{_show_time(tick.tick_at)} {tick.state}"


def _show_time(moment: float | None) -> str:
    """Return a moment in the time zone of this machine."""
    return "" if moment is None else f"{datetime.fromtimestamp(moment).astimezone():%a %d %b %Y %H:%M %Z}"
