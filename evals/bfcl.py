"""Ask questions of the Berkeley Function Calling Leaderboard: `make bfcl`, or `python -m evals.bfcl --help`.

The same questions go to the same weights in several ways: Dovetail's chat (`native`) and its judging request
(`judge`), the bare engine with the tool format of the weights (`llamacpp`) and with the leaderboard's prompt
(`llamacpp-prompt`), and two peers on a server with that tool format, `pydantic-ai` and `langchain`. The
leaderboard's own checker compares names and arguments. Each category is split in two by a fixed seed:
wordings and margins may be tuned on `tuning`, figures come from `held-back`.

Every result is appended to `evals/results/bfcl.jsonl` together with a digest of the code that made it. A run
that was stopped continues where it was, and a change of the code asks again.
"""

import argparse
import asyncio
import json
import platform
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import zip_longest
from math import sqrt
from pathlib import Path

from dovetail.requesters.local.requester import LocalRequester
from dovetail.requesters.local.weights import require
from evals.bfcl_cases import FILES, SPLITS, Calls, Case, Leaderboard, read_cases
from evals.bfcl_peers import Peers
from evals.digest import compute_digest, list_model_parts
from evals.tool_choice import call, judge

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "evals" / "results" / "bfcl.jsonl"
PAGE = ROOT / "docs" / "models.md"
MARKS = "<!-- bfcl: written by `make bfcl` -->\n", "<!-- /bfcl -->"
OURS = ("native", "judge")
WAYS = {
    "native": "Dovetail, chat",
    "judge": "Dovetail, judging request",
    "llamacpp": "llama.cpp, the weights' tool format",
    "llamacpp-prompt": "llama.cpp, the leaderboard's prompt",
    "pydantic-ai": "pydantic-ai",
    "langchain": "LangChain",
}
NOT_ASKED = ("judge", "parallel")
"""A judging request plans one call at a time."""
_Z = 1.96
Ask = Callable[[Case], Awaitable[Calls]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one way made of one question; `problem` is empty if it was right."""

    model: str
    digest: str
    way: str
    category: str
    case_id: str
    calls: Calls
    problem: str
    seconds: float

    @property
    def key(self) -> tuple[str, ...]:
        """What makes this result the same as another."""
        return self.model, self.digest, self.way, self.case_id


def read_results() -> dict[tuple[str, ...], Result]:
    """Return the results so far."""
    if not RESULTS.exists():
        return {}
    rows = [Result(**json.loads(line)) for line in RESULTS.read_text().splitlines()]
    return {row.key: row for row in rows}


def digest_code(way: str) -> str:
    """Return a digest of the code that decides what a way answers."""
    return compute_digest(list_model_parts() if way in OURS else [ROOT / "evals" / "bfcl_peers.py"])


async def run(given: argparse.Namespace) -> None:
    """Ask what was not asked yet, question by question, so that load affects all ways alike."""
    leaderboard = Leaderboard.load()
    model = LocalRequester(require(given.model), f"local:{given.model}")
    peers = Peers(require(given.model), leaderboard)
    asks: dict[str, Ask] = {
        "native": lambda case: call(model, case.question, case.tools),
        "judge": lambda case: judge(model, case.question, case.tools),
        "llamacpp": peers.ask_bare,
        "llamacpp-prompt": peers.ask_in_words,
        "pydantic-ai": peers.ask_pydantic_ai,
        "langchain": peers.ask_langchain,
    }
    digests = {way: digest_code(way) for way in given.ways}
    results = read_results()
    samples = [read_cases(category, given.split, given.seed, given.size) for category in given.categories]
    cases = [case for row in zip_longest(*samples) for case in row if case is not None]
    wanted = [(case, way) for case in cases for way in given.ways if (way, case.category) != NOT_ASKED]
    todo = [
        (case, way) for case, way in wanted if (given.model, digests[way], way, case.case_id) not in results
    ]
    print(f"{len(wanted) - len(todo)} results are there, {len(todo)} to go", flush=True)
    begin = time.monotonic()
    for number, (case, way) in enumerate(todo):
        spent = time.monotonic() - begin
        if given.minutes is not None and spent >= given.minutes * 60:
            break
        result = await _ask(case, way, asks[way], (given.model, digests[way]), peers, leaderboard)
        results[result.key] = result
        RESULTS.parent.mkdir(exist_ok=True)
        with RESULTS.open("a") as file:
            file.write(json.dumps(asdict(result)) + "\n")
        _show(result, number + 1, len(todo), spent)
    await model.close()
    keys = [(given.model, digests[way], way, case.case_id) for case, way in wanted]
    rows = [results[key] for key in keys if key in results]
    table = write_table(rows, given, len(wanted))
    print(f"\n{table}")
    if given.docs:
        write_page(table)


async def _ask(
    case: Case, way: str, ask: Ask, made_by: tuple[str, str], peers: Peers, leaderboard: Leaderboard
) -> Result:
    begin = time.monotonic()
    calls = await ask(case)
    seconds = time.monotonic() - begin if way in OURS else peers.engine.seconds
    return Result(
        model=made_by[0],
        digest=made_by[1],
        way=way,
        category=case.category,
        case_id=case.case_id,
        calls=calls,
        problem=leaderboard.check(case, calls),
        seconds=round(seconds, 2),
    )


def _show(result: Result, number: int, total: int, spent: float) -> None:
    left = spent / number * (total - number) / 60
    mark = "ok   " if not result.problem else "WRONG"
    said = json.dumps(result.calls, ensure_ascii=False)[:200]
    print(
        f"{number}/{total} {mark} {result.seconds:5.1f} s  {result.way} {result.case_id}: "
        f"{result.problem} {said}  ({left:.0f} min left)",
        flush=True,
    )


def measure_interval(right: int, total: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson's method."""
    share, spread = right / total, _Z * _Z / total
    middle = share + spread / 2
    half = _Z * sqrt(share * (1 - share) / total + spread / (4 * total))
    return (middle - half) / (1 + spread), (middle + half) / (1 + spread)


def write_table(rows: Sequence[Result], given: argparse.Namespace, wanted: int) -> str:
    """Return the results as a table, with number and interval, and how they were made."""
    by_way = {way: [row for row in rows if row.way == way] for way in given.ways}
    lines = [
        f"| right of n, in % (95 % interval) | {' | '.join(given.categories)} | s per question |",
        "|---" * (len(given.categories) + 2) + "|",
    ]
    for way, results in by_way.items():
        cells = [_write_cell([row for row in results if row.category == each]) for each in given.categories]
        seconds = f"{sum(row.seconds for row in results) / len(results):.1f}" if results else ""
        lines.append(f"| {WAYS[way]} | {' | '.join(cells)} | {seconds} |")
    command = f"python -m evals.bfcl --split {given.split} --seed {given.seed} --size {given.size}"
    state = "" if len(rows) == wanted else f"**Partial: {len(rows)} of {wanted} results.** "
    made = f"{datetime.now(UTC):%Y-%m-%d}, `local:{given.model}`, {_list_versions()}: `{command}`."
    return "\n".join([*lines, "", state + made])


def _write_cell(results: Sequence[Result]) -> str:
    if not results:
        return ""
    right, total = sum(not row.problem for row in results), len(results)
    low, high = measure_interval(right, total)
    return f"{right} of {total}: {right / total:.0%} ({low:.0%} to {high:.0%})".replace("%", " %")


def _list_versions() -> str:
    packages = ("xllamacpp", "pydantic-ai-slim", "langchain-openai")
    names = [f"{name} {version(name)}" for name in packages]
    return ", ".join(["bfcl-eval 2026.3.23", *names, f"Python {platform.python_version()}"])


def write_page(table: str) -> None:
    """Write the table into the page about models, between its marks."""
    begin, end = MARKS
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    page = PAGE.read_text()
    if not pattern.search(page):
        raise SystemExit(f"{PAGE} has no place for the table: {begin}{end}")
    PAGE.write_text(pattern.sub(lambda _: f"{begin}\n{table}\n\n{end}", page))


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="evals.bfcl", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="good", help="an embedded model")
    parser.add_argument("--split", choices=SPLITS, default="held-back")
    parser.add_argument("--seed", type=int, default=1, help="of the sample within the split")
    parser.add_argument("--size", type=int, default=50, help="questions per category")
    parser.add_argument("--categories", nargs="+", choices=list(FILES), default=list(FILES))
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--minutes", type=float, help="stop after this time; the next run continues")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/models.md")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(run(read_options()))
