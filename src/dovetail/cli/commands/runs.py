"""`dovetail runs`: list and show stored runs; message and cancel runs of a running server.

Listing reads the database of the workspace. A message or a cancel has to reach the process that works on the
run, so these two go to the server.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from dovetail.cli.chat.plain import describe_result
from dovetail.cli.commands.store import find_database
from dovetail.cli.remote import KEY, URL, name_caller, post
from dovetail.cli.run_view import describe_usage
from dovetail.cli.terminal import JSON, WORKSPACE, print_json, print_report, show_time
from dovetail.concurrency import run_sync
from dovetail.data.text import to_text
from dovetail.data.visible import show_on_line
from dovetail.runs.ask_store import AskRecord, AskStore
from dovetail.runs.listing import ListedRun, RunFilter, list_requests, list_runs
from dovetail.runs.run import RunRecord
from dovetail.runs.store import RunStore

app = typer.Typer(
    name="runs",
    help="List, show, message and cancel runs, including background runs.",
    no_args_is_help=True,
)
_HINTS = {
    401: "Pass an API key with --key or DOVETAIL_SERVER_KEY.",
    404: "`dovetail runs list` shows the ids; a server with API keys has only the runs of that key.",
}


_TIMES = ("TURN", "MODEL", "FIRST TOKEN", "SECONDS", "WAITED", "RETRIES")


class Order(StrEnum):
    """Which runs are listed first: the newest, the most expensive, the longest, or those with most tokens."""

    time = "time"
    cost = "cost"
    duration = "duration"
    tokens = "tokens"


@app.command("list")
def show_list(  # noqa: PLR0913 - every option of the command is one
    is_all: bool = typer.Option(False, "--all", help="Also list runs that have ended."),
    session: str | None = typer.Option(None, help="Only list runs of this session."),
    owner: str | None = typer.Option(None, help="Only list runs of this owner."),
    limit: int = typer.Option(50, min=1, help="Maximum number of runs."),
    sort: Order = typer.Option(
        Order.time, help="Sort order: newest first, or highest cost, duration or tokens first."
    ),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """List the runs in progress, the newest first."""
    states = () if is_all else ("queued", "running", "waiting")
    wanted = RunFilter(states=states, session_id=session, owner=owner)
    found = run_sync(_list(workspace, wanted, sort, limit))
    if as_json:
        print_json({"runs": [asdict(run) for run in found]})
        return
    if not found:
        typer.echo("No runs." if is_all else "No runs in progress; `--all` also lists those that have ended.")
        return
    rows = [
        ("RUN", "SESSION", "OWNER", "AGENT", "STATE", "COST", "SECONDS", "WAITED", "BEGAN"),
        *map(_describe_row, found),
    ]
    _print_table(rows)


@app.command("show")
def show_run(run_id: str, workspace: Path | None = WORKSPACE, as_json: bool = JSON) -> None:
    """Show the state, the usage and the result of a run, and how long each request to its models took."""
    record, turns, asks = run_sync(_get(workspace, run_id))
    result = record.result
    if as_json:
        place = {"run_id": record.id, "session_id": record.spec.session_id, "owner": record.spec.owner}
        state = {
            "agent": record.spec.agent,
            "model": record.spec.model,
            "state": record.state,
            "asks": [{"ask_id": ask.id, "kind": ask.kind, "tool": ask.payload.get("tool")} for ask in asks],
            "created_at": record.created_at,
            "started_at": record.started_at,
            "turns": turns,
        }
        print_json({**place, **state, "result": None if result is None else describe_result(result, {})})
        return
    facts: dict[str, Any] = {
        "Run": record.id,
        "Session": record.spec.session_id,
        "Owner": record.spec.owner,
        "Agent": record.spec.agent,
        "Model": record.spec.model,
        "State": _describe_state(record),
        "Began": show_time(record.created_at),
        "Used": describe_usage(result.usage) if result else "",
        "Seconds": f"{result.duration:.1f}" if result else "",
        "Waited": _describe_wait(record),
        "Error": result.error.get("message") if result and result.error else None,
        "Notice": result.notice if result else None,
    }
    for name, value in facts.items():
        if value:
            typer.echo(f"{name}: {value}")
    for ask in asks:
        typer.echo(f"Waits for: {_describe_ask(ask)}")
    if turns:
        _print_table([_TIMES, *map(_list_times, turns)])
    if result is not None and result.value is not None:
        typer.echo(to_text(result.value))


@app.command("cancel")
def cancel_run(run_id: str, url: str = URL, key: str | None = KEY, as_json: bool = JSON) -> None:
    """Cancel a run of a running server."""
    reply = post(f"{url.rstrip('/')}/api/v1/runs/{run_id}/cancel", name_caller(key), {}, hints=_HINTS)
    print_report(reply, f"Run {run_id!r} was asked to stop.", as_json=as_json)


@app.command("message")
def send_message(
    run_id: str,
    message: list[str] = typer.Argument(help="The message; a run that has ended continues with it."),
    url: str = URL,
    key: str | None = KEY,
    as_json: bool = JSON,
) -> None:
    """Send a message to a run of a running server; it reads the message in its next turn."""
    place = f"{url.rstrip('/')}/api/v1/runs/{run_id}/messages"
    reply = post(place, name_caller(key), {"message": " ".join(message)}, hints=_HINTS)
    sent = "will be answered in a new run" if reply.get("mode") == "queue" else "reaches its next turn"
    print_report(reply, f"The message to run {run_id!r} {sent}.", as_json=as_json)


def _describe_row(run: ListedRun) -> tuple[str, ...]:
    words = {"ended": describe_end(run.reason), "running": "working"}
    state, cost = words.get(run.state, run.state), run.usage.cost
    shown = "-" if cost is None else f"{cost:.4f}"
    began = show_time(run.created_at)
    times = f"{run.duration:.1f}", f"{run.waited:.1f}"
    return run.id, run.session_id or "-", run.owner, run.agent, state, shown, *times, began


def _describe_state(record: RunRecord) -> str:
    return record.phase if record.result is None else describe_end(record.result.reason)


def describe_end(reason: str | None) -> str:
    """Return in plain words how a run has ended."""
    if reason is not None and reason.startswith("max-"):
        return f"limit of {reason.removeprefix('max-')} reached"
    words = {
        "goal": "done",
        "error": "failed",
        "timeout": "timed out",
        "no-completion": "ended without a result",
    }
    return words.get(reason or "", reason or "ended")


def _describe_ask(ask: AskRecord) -> str:
    """Return what an open ask is about, and the id to answer it by."""
    tool = show_on_line(str(ask.payload.get("tool") or "a tool"))
    words = {
        "approval": f"the approval of {tool}",
        "question": f"an answer to {tool}",
        "browser": f"a page that runs {tool}",
    }
    return f"{words[ask.kind]} ({ask.id}, POST /api/v1/asks/{ask.id})"


async def _list(workspace: Path | None, wanted: RunFilter, sort: Order, limit: int) -> list[ListedRun]:
    async with find_database(workspace) as database:
        return (await list_runs(database, wanted, sort=sort.value, limit=limit)).runs


def _describe_wait(record: RunRecord) -> str:
    """Return how long a run was in the queue, if that is worth a line."""
    waited = 0.0 if record.started_at is None else record.started_at - record.created_at
    return f"{waited:.1f} seconds in the queue" if waited >= 0.1 else ""


def _list_times(turn: Mapping[str, Any]) -> tuple[str, ...]:
    first = turn["first_token"]
    agent = "" if turn["depth"] == 0 else f" (agent below, level {turn['depth']})"
    return (
        str(turn["turn"]),
        turn["model"] + agent,
        "-" if first is None else f"{first:.1f}",
        f"{turn['seconds']:.1f}",
        f"{turn['waited']:.1f}",
        ", ".join(turn["retries"]) or "-",
    )


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows below each other; never cut: ids are copied from here."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


async def _get(
    workspace: Path | None, run_id: str
) -> tuple[RunRecord, list[dict[str, Any]], list[AskRecord]]:
    """Return a run, its requests to models, and the questions that it waits for."""
    async with find_database(workspace) as database:
        record = await RunStore(database, "").get(run_id)
        asks = await AskStore(database).list_open(record.spec.owner, run_id)
        return record, await list_requests(database, run_id), asks
