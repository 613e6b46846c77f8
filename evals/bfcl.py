"""Ask questions of the Berkeley Function Calling Leaderboard: `make bfcl`, or `python -m evals.bfcl --help`.

The same questions go to the same weights in several ways: Dovetail's judging request (`judge`) and its chat
(`native`), the bare server with a plain prompt and a JSON schema (`llamacpp`), and two peers on that server,
`pydantic-ai` and `langchain`. The leaderboard's own checker compares names and arguments. Each category is
split in two by a fixed seed: wordings and margins may be tuned on `tuning`, figures come from `held-back`.
"""

import argparse
import asyncio
import contextlib
import importlib
import json
import random
import sys
import time
import types
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from dovetail.events.call import ToolSpec
from dovetail.requesters.local.requester import LocalRequester
from dovetail.requesters.local.weights import require
from evals.bfcl_peers import Peers
from evals.tool_choice import choose, judge

HOME = Path(__file__).parents[1] / ".bfcl"
FILES = {"simple": "simple_python", "multiple": "multiple", "irrelevance": "irrelevance"}
SPLIT_SEED = "dovetail"
SPLITS = ("tuning", "held-back")
_TYPES = {"dict": "object", "float": "number", "tuple": "array"}
Ask = Callable[[str, list[ToolSpec]], Awaitable[tuple[str | None, str]]]


@dataclass(frozen=True, slots=True)
class Case:
    """One question with its functions, and the calls that count as right."""

    case_id: str
    category: str
    question: str
    functions: list[dict[str, Any]]
    answer: Any

    @property
    def tools(self) -> list[ToolSpec]:
        """The functions as tools; a dot is not allowed in names everywhere."""
        return [
            ToolSpec(
                name=function["name"].replace(".", "_"),
                description=function["description"],
                parameters=convert(function["parameters"]),
            )
            for function in self.functions
        ]


def convert(schema: Any) -> Any:
    """Return a schema of the leaderboard as JSON Schema."""
    if isinstance(schema, list):
        return [convert(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    converted = {key: _convert_value(key, value) for key, value in schema.items() if key != "optional"}
    if converted.get("type") == "any":
        del converted["type"]
    return converted


def _convert_value(key: str, value: Any) -> Any:
    if key == "type" and isinstance(value, str):
        return _TYPES.get(value, value)
    if key == "properties":
        return {name: convert(each) for name, each in value.items()}
    return value if key in ("default", "enum", "required") else convert(value)


def read_cases(category: str, split: str, seed: int, size: int) -> list[Case]:
    """Return a sample of one half of a category."""
    data = HOME / "bfcl_eval" / "data"
    file = f"BFCL_v4_{FILES[category]}.json"
    rows = _read_lines(data / file)
    answers = {row["id"]: row["ground_truth"] for row in _read_lines(data / "possible_answer" / file)}
    random.Random(SPLIT_SEED).shuffle(rows)
    half = len(rows) // 2
    chosen = rows[:half] if split == "tuning" else rows[half:]
    sample = random.Random(seed).sample(chosen, min(size, len(chosen)))
    return [
        Case(row["id"], category, row["question"][0][0]["content"], row["function"], answers.get(row["id"]))
        for row in sample
    ]


def _read_lines(path: Path) -> list[Any]:
    if not path.exists():  # no call is right where none is needed
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def load_checker() -> Callable[[Case, str | None, str], bool]:
    """Return the leaderboard's check of a call, without the packages of the models that it knows."""
    if not HOME.is_dir():
        raise SystemExit("The leaderboard is not installed. Run: make bfcl")
    sys.path.append(str(HOME))
    stub: Any = types.ModuleType("bfcl_eval.constants.model_config")
    stub.MODEL_CONFIG_MAPPING = {"any": types.SimpleNamespace(underscore_to_dot=True)}
    sys.modules[stub.__name__] = stub
    checker = importlib.import_module("bfcl_eval.eval_checker.ast_eval.ast_checker")
    python = importlib.import_module("bfcl_eval.constants.enums").Language.PYTHON

    def check(case: Case, name: str | None, arguments: str) -> bool:
        if case.category == "irrelevance" or name is None:
            return case.category == "irrelevance" and name is None
        with contextlib.suppress(ValueError):
            call = [{name: json.loads(arguments or "{}")}]
            file = FILES[case.category]
            return checker.ast_checker(case.functions, call, case.answer, python, file, "any")["valid"]
        return False

    return check


async def run(given: argparse.Namespace) -> None:
    """Ask all questions in all ways, question by question, so that load affects all ways alike."""
    check = load_checker()
    model = LocalRequester(require(given.model), f"local:{given.model}")
    peers = Peers(require(given.model))
    ways: dict[str, Ask] = {
        "judge": lambda question, tools: judge(model, question, tools),
        "native": lambda question, tools: choose(model, question, tools),
        "llamacpp": peers.ask_bare,
        "pydantic-ai": peers.ask_pydantic_ai,
        "langchain": peers.ask_langchain,
    }
    right: Counter[tuple[str, str]] = Counter()
    seconds: Counter[str] = Counter()
    samples = [read_cases(category, given.split, given.seed, given.size) for category in given.categories]
    cases = [case for row in zip_longest(*samples) for case in row if case is not None]
    for number, case in enumerate(cases, 1):
        for way in given.ways:
            begin = time.monotonic()
            name, arguments = await ways[way](case.question, case.tools)
            seconds[way] += time.monotonic() - begin
            is_right = check(case, name, arguments)
            right[way, case.category] += is_right
            mark = "ok   " if is_right else "WRONG"
            print(f"{number}/{len(cases)} {mark} {way} {case.case_id}: {name} {arguments[:200]}", flush=True)
    await model.close()
    show(given, right, seconds, Counter(case.category for case in cases))


def show(
    given: argparse.Namespace,
    right: Counter[tuple[str, str]],
    seconds: Counter[str],
    totals: Counter[str],
) -> None:
    """Print the table."""
    print(f"\n{given.split}, seed {given.seed}; right of {', '.join(map(str, totals.values()))}")
    print("| way | " + " | ".join(given.categories) + " | s per question |")
    print("|---" * (len(given.categories) + 2) + "|")
    for way in given.ways:
        counts = " | ".join(str(right[way, category]) for category in given.categories)
        print(f"| {way} | {counts} | {seconds[way] / max(1, totals.total()):.1f} |")


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="evals.bfcl", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="good", help="an embedded model")
    parser.add_argument("--split", choices=SPLITS, default="held-back")
    parser.add_argument("--seed", type=int, default=1, help="of the sample within the split")
    parser.add_argument("--size", type=int, default=25, help="questions per category")
    parser.add_argument("--categories", nargs="+", choices=list(FILES), default=list(FILES))
    every = ["judge", "native", "llamacpp", "pydantic-ai", "langchain"]
    parser.add_argument("--ways", nargs="+", choices=every, default=every)
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(run(read_options()))
