"""`dovetail store`: inspect, prune, back up and restore the database."""

import re
import time
from dataclasses import asdict
from pathlib import Path

import typer

from dovetail.app import Dovetail
from dovetail.cli.terminal import JSON, WORKSPACE, print_json, print_report
from dovetail.concurrency import run_sync
from dovetail.errors import ConfigError
from dovetail.requesters.local.weights import show_size
from dovetail.store.backup import back_up, is_in_use, restore
from dovetail.store.database import Database
from dovetail.store.retention import Counts, count_all, prune

app = typer.Typer(
    name="store", help="Inspect, prune, back up and restore the database.", no_args_is_help=True
)
_UNITS = {"h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}


@app.command("info")
def show_info(workspace: Path | None = WORKSPACE, as_json: bool = JSON) -> None:
    """Show the location, size and contents of the database."""
    database = find_database(workspace)
    if as_json:
        size = None if database.file is None else database.file.stat().st_size
        print_json({"database": str(database.shown), "bytes": size, **asdict(run_sync(_count(database)))})
        return
    typer.echo(f"Database: {database.shown}")
    if (path := database.file) is not None:
        typer.echo(f"Size: {show_size(path.stat().st_size)}, {'in use' if is_in_use(path) else 'not in use'}")
    for line in describe(run_sync(_count(database))):
        typer.echo(line)


@app.command("prune")
def prune_store(
    older_than: str = typer.Option(help="Age since the last change, as 12h, 30d or 8w."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Only show what would be deleted."),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """Delete old sessions with their messages, runs, events and artifacts; a server may keep running."""
    before = time.time() - read_age(older_than)
    counts = run_sync(_prune(find_database(workspace), before, dry_run))
    head = "Would delete:" if dry_run else "Deleted:"
    data = {"dry_run": dry_run, **asdict(counts)}
    print_report(data, head, *(f"  {line}" for line in describe(counts)), as_json=as_json)


@app.command("backup")
def back_up_store(
    file: Path = typer.Argument(help="The backup file to write; it must not exist."),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """Back up an SQLite database, even while it is in use; for PostgreSQL, show what to do."""
    back_up(find_database(workspace, must_exist=False), file)
    size = file.stat().st_size
    print_report(
        {"path": str(file), "bytes": size}, f"Backed up to {file} ({show_size(size)}).", as_json=as_json
    )


@app.command("restore")
def restore_store(
    file: Path = typer.Argument(help="A backup written by `dovetail store backup`."),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """Restore a backup; the previous database is moved aside. The server must be stopped."""
    database = find_database(workspace, must_exist=False)
    aside = restore(database, file)
    moved = None if aside is None else str(aside)
    print_report(
        {"database": str(database.shown), "path": str(file), "moved_to": moved},
        f"Restored {database.shown} from {file}.",
        *([] if moved is None else [f"The previous database was moved to {moved}."]),
        as_json=as_json,
    )


def find_database(workspace: Path | None, *, must_exist: bool = True) -> Database:
    """Return the database that a server of this workspace uses."""
    database = Database(Dovetail(workspace=workspace).store_url)
    path = database.file
    if must_exist and path is not None and not path.is_file():
        raise ConfigError(
            f"Database not found: {path}",
            hint="A server creates it at its first start; use --workspace or DATABASE_URL for another one.",
        )
    return database


def read_age(text: str) -> float:
    """Return an age in seconds."""
    found = re.fullmatch(r"(\d+)([hdw])", text.strip())
    if found is None:
        raise ConfigError(f"Invalid age {text!r}.", hint="Write a number and h, d or w, such as 30d.")
    return int(found[1]) * _UNITS[found[2]]


def describe(counts: Counts) -> list[str]:
    """Return the counts as lines of text."""
    return [
        f"sessions:  {counts.sessions} ({counts.messages} messages)",
        f"runs:      {counts.runs} ({counts.events} events)",
        f"artifacts: {counts.artifacts} ({show_size(counts.artifact_bytes)})",
    ]


async def _count(database: Database) -> Counts:
    async with database:
        return await count_all(database)


async def _prune(database: Database, before: float, is_trial: bool) -> Counts:
    async with database:
        return await prune(database, before=before, is_trial=is_trial)
