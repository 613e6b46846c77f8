"""The end of a soak: wait until nothing is open any more, and if it does not come, say what is."""

import asyncio
import re
from typing import Any

from patience import PATIENCE
from resume.machine import Machine
from resume.world import World
from soak.checks import list_runs, read_journal
from soak.planner import make_due

_LEVEL = re.compile(r"time=\S+ level=(\w+) ")
_LONGEST_LINE = 600
_MOST_RECORDS = 12
OPEN = ("waiting", "running", "queued")


async def wait_for_end(world: World) -> None:
    """Wait until every schedule has had its tick and every run has ended."""

    async def has_ended() -> bool:
        schedules = (await world.get("/api/v1/schedules"))["schedules"]
        late = [schedule for schedule in schedules if schedule["last"] is None]
        await make_due(world, late)
        return not late and not await _list_open(world)

    await world.wait_until(has_ended, "the end of all runs")


async def describe_open(world: World) -> list[str]:
    """Return what has not ended and what it waits for, as far as the servers still answer."""
    lines = list[str]()
    try:
        async with asyncio.timeout(PATIENCE):
            for run in await _list_open(world):
                lines.append(f"open: {run} after {(await read_journal(world, run['id']))[-4:]}")
            lines += [f"open: {ask}" for ask in (await world.get("/api/v1/asks"))["asks"]]
    except TimeoutError:
        lines.append("no server answers")
    return lines


def read_log(machine: Machine) -> str:
    """Return the log of a process: its last errors with their tracebacks, its last warnings, its end.

    What is not a line of the log, such as the traceback of a crash, counts as an error.
    """
    records: list[str] = []
    for line in machine.text.splitlines():
        if line.startswith("    ") and records:
            records[-1] += f"\n{line[:_LONGEST_LINE]}"
        elif "logger=dovetail.access" not in line:
            records.append(line[:_LONGEST_LINE])
    levels = {record: _read_level(record) for record in records}
    errors = [record for record in records if levels[record] not in ("debug", "info", "warning")]
    warnings = [record for record in records if levels[record] == "warning"]
    shown = [*errors[-_MOST_RECORDS:], *warnings[-_MOST_RECORDS:]]
    rest = [record for record in records[-_MOST_RECORDS:] if record not in shown]
    count = f"{len(errors)} errors, {len(warnings)} warnings"
    return "\n    ".join(
        [f"{machine.words}, process {machine.process_id}: {count}", *shown, "its end:", *rest]
    )


def _read_level(record: str) -> str:
    found = _LEVEL.match(record)
    return found[1] if found else ""


async def _list_open(world: World) -> list[dict[str, Any]]:
    return await list_runs(world, OPEN)
