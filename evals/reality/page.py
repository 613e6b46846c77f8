"""Write docs/reality.md from the results."""

import datetime
import os
import platform
import re
import statistics
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from dovetail.requesters.local.weights import CATALOGUE
from evals.reality.outcome import shorten
from evals.reality.pages import ROOT
from evals.reality.results import Result, Results
from evals.reality.visit import Visit

RUNS = 3
"""How often each question is asked."""
PAGE = ROOT / "docs" / "reality.md"
HEAD = (Path(__file__).parent / "page.md").read_text(encoding="utf-8")
GROUPS = [
    ("README", r"README|docs/index"),
    ("Tours", r"docs/tour/"),
    ("Templates", r"templates/"),
    ("First screen of the page", r"web/"),
    ("Examples", r"examples/"),
    ("How-to", r"docs/howto/"),
    ("Printed by commands", r"src/"),
]
_PLAIN = re.compile(r"^## Plain questions\n.*", re.MULTILINE | re.DOTALL)


def write_page(results: Results, visits: Sequence[Visit]) -> None:
    """Write the page; what `make plain` has written stays."""
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    plain = _PLAIN.search(old)
    rows = [
        (visit, question.text, results.of(visit, question.text))
        for visit in visits
        for question in visit.questions
    ]
    asked = [row for row in rows if row[2]]
    parts = [
        HEAD,
        *([describe_set_up([each for row in asked for each in row[2]]), _sum_up(asked)] if asked else []),
        _count(rows),
    ]
    for title, pattern in GROUPS:
        found = [row for row in asked if re.match(pattern, row[0].place)]
        if found:
            parts.append("\n".join([f"## {title}\n", *_table(found)]) + "\n")
    PAGE.write_text("\n".join(parts) + (f"\n{plain[0]}" if plain else ""), encoding="utf-8")


def describe_set_up(results: Sequence[Result]) -> str:
    """Return the date, the versions and the machine as a sentence."""
    commits = ", ".join(sorted({f"`{each.commit}`" for each in results}))
    return (
        f"**{datetime.date.today().isoformat()}.** Commit {commits}; xllamacpp {version('xllamacpp')}; "
        f"{CATALOGUE['good'].title}, {CATALOGUE['good'].sampling}; Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"load average {os.getloadavg()[2]:.0f}.\n"
    )


def _count(rows: Sequence[tuple[Visit, str, list[Result]]]) -> str:
    full = sum(len(results) >= RUNS for _, _, results in rows)
    some = sum(0 < len(results) < RUNS for _, _, results in rows)
    if full == len(rows):
        return f"Each of the {full} questions was asked {RUNS} times.\n"
    return (
        f"Of {len(rows)} questions, {full} were asked {RUNS} times, {some} less often, "
        f"and {len(rows) - full - some} have no answer that counts yet.\n"
    )


def _sum_up(rows: Sequence[tuple[Visit, str, list[Result]]]) -> str:
    lines = ["| Place | Questions | Right each time | Right answers | Median |", "|---|---|---|---|---|"]
    for title, pattern in [*GROUPS, ("All", "")]:
        found = [row[2] for row in rows if re.match(pattern, row[0].place)]
        if not found:
            continue
        answers = [each for results in found for each in results]
        whole = sum(not any(each.fault for each in results) for results in found)
        right = sum(not each.fault for each in answers)
        median = statistics.median(each.seconds for each in answers)
        lines.append(f"| {title} | {len(found)} | {whole} | {right} of {len(answers)} | {median:.0f} s |")
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[tuple[Visit, str, list[Result]]]) -> list[str]:
    lines = ["| Place | Face | Question | Right | Seconds | What went wrong |", "|---|---|---|---|---|---|"]
    for visit, question, results in rows:
        right = sum(not each.fault for each in results)
        faults = "; ".join(dict.fromkeys(shorten(each.fault, 140) for each in results if each.fault))
        seconds = statistics.median(each.seconds for each in results)
        place = re.sub(r"^(docs|web/src/text|templates/projects)/", "", visit.place)
        face = " ".join(filter(None, (visit.face, visit.note)))
        cells = [place, face, question, f"{right} of {len(results)}", f"{seconds:.0f}", faults]
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return lines


def _cell(text: str) -> str:
    return re.sub(r"([|*_`<>\[\]])", r"\\\1", " ".join(text.split()))
