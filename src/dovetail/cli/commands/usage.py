"""`dovetail usage`: what runs have cost, by day, model, agent or owner."""

from dataclasses import asdict
from datetime import date
from enum import StrEnum
from pathlib import Path

import typer

from dovetail.cli.commands.store import find_database
from dovetail.cli.terminal import JSON, WORKSPACE, print_json
from dovetail.concurrency import run_sync
from dovetail.errors import ConfigError
from dovetail.runs.usage import UsageFilter, UsageRow, count_usage, read_period, sum_rows

app = typer.Typer()


class By(StrEnum):
    """What usage is summed up by."""

    day = "day"
    model = "model"
    agent = "agent"
    owner = "owner"


@app.command("usage")
def show_usage(
    by: By = typer.Option(By.day, help="Group by day, model, agent or owner."),
    first: str | None = typer.Option(None, "--from", help="The first day (UTC), as 2026-11-16."),
    last: str | None = typer.Option(None, "--to", help="The last day (UTC); by default today."),
    owner: str | None = typer.Option(None, help="Only count the runs of this owner."),
    workspace: Path | None = WORKSPACE,
    as_json: bool = JSON,
) -> None:
    """Show the cost and tokens of runs: today and the last 30 days, or a period."""
    start, end = read_period(_read_day(first), _read_day(last))
    wanted = UsageFilter(owner=owner, first=start, last=end)
    rows, days = run_sync(_count(workspace, by, wanted))
    if as_json:
        period = {"by": by.value, "from": str(start), "to": str(end)}
        total = {name: value for name, value in asdict(sum_rows(days)).items() if name != "key"}
        print_json({**period, "rows": [asdict(row) for row in rows], "total": total})
        return
    if not rows:
        typer.echo(f"No runs from {start} to {end} (UTC).")
        return
    total = sum_rows(days)
    shown = [_describe(row, row.key or "(no model)") for row in rows]
    table = [(by.value.upper(), "COST", "INPUT", "OUTPUT", "RUNS"), *shown, _describe(total, "total")]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for name, *figures in table:
        cells = (figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True))
        typer.echo("  ".join([name.ljust(widths[0]), *cells]))
    if total.unpriced_tokens:
        typer.echo(
            f"The costs leave out {total.unpriced_tokens} tokens of models without a known price; "
            "set it under model.prices."
        )


def _describe(row: UsageRow, name: str) -> tuple[str, ...]:
    cost = "-" if row.cost is None else f"{row.cost:.4f}"
    return name, cost, str(row.input_tokens), str(row.output_tokens), str(row.runs)


def _read_day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError as error:
        raise ConfigError(f"Invalid day {text!r}.", hint="Write it as 2026-11-16.") from error


async def _count(
    workspace: Path | None, by: By, wanted: UsageFilter
) -> tuple[list[UsageRow], list[UsageRow]]:
    async with find_database(workspace) as database:
        days = await count_usage(database, "day", wanted)
        return (days if by is By.day else await count_usage(database, by.value, wanted)), days
