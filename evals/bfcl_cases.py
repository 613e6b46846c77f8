"""Questions, prompt and checker of the Berkeley Function Calling Leaderboard, without its models."""

import importlib
import json
import random
import sys
import types
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from dovetail.events.call import ToolSpec

HOME = Path(__file__).parents[1] / ".bfcl"
FILES = {
    "simple": "simple_python",
    "multiple": "multiple",
    "parallel": "parallel",
    "irrelevance": "irrelevance",
}
SPLITS = ("tuning", "held-back")
SPLIT_SEED = "dovetail"
_TYPES = {"dict": "object", "float": "number", "tuple": "array"}
Calls = Sequence[tuple[str, Any]]
"""The calls of one turn: name and arguments."""


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
    """Return a sample of one half of a category; a larger one begins with the smaller one."""
    data = HOME / "bfcl_eval" / "data"
    file = f"BFCL_v4_{FILES[category]}.json"
    rows = _read_lines(data / file)
    answers = {row["id"]: row["ground_truth"] for row in _read_lines(data / "possible_answer" / file)}
    random.Random(SPLIT_SEED).shuffle(rows)
    half = len(rows) // 2
    chosen = rows[:half] if split == "tuning" else rows[half:]
    random.Random(seed).shuffle(chosen)
    return [
        Case(row["id"], category, row["question"][0][0]["content"], row["function"], answers.get(row["id"]))
        for row in chosen[:size]
    ]


def _read_lines(path: Path) -> list[Any]:
    if not path.exists():  # no call is right where none is needed
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The leaderboard's own code, loaded without the packages of the models that it knows."""

    checker: Any
    handlers: Any
    python: Any

    @classmethod
    def load(cls) -> Self:
        """Load the installed package."""
        if not HOME.is_dir():
            raise SystemExit("The leaderboard is not installed. Run: make bfcl")
        sys.path.append(str(HOME))
        stub: Any = types.ModuleType("bfcl_eval.constants.model_config")
        stub.MODEL_CONFIG_MAPPING = {"any": types.SimpleNamespace(underscore_to_dot=True)}
        sys.modules[stub.__name__] = stub
        return cls(
            importlib.import_module("bfcl_eval.eval_checker.ast_eval.ast_checker"),
            importlib.import_module("bfcl_eval.model_handler.utils"),
            importlib.import_module("bfcl_eval.constants.enums").Language.PYTHON,
        )

    def check(self, case: Case, calls: Calls) -> str:
        """Return what is wrong with the calls in the checker's words; empty if they are right."""
        if case.category == "irrelevance":
            return "called" if calls else ""
        if not calls:
            return "no call"
        if not all(isinstance(arguments, dict) for _, arguments in calls):
            return "arguments are not an object"
        output = [{name: arguments} for name, arguments in calls]
        file = FILES[case.category]
        verdict = self.checker.ast_checker(case.functions, output, case.answer, self.python, file, "any")
        return "" if verdict["valid"] else str(verdict.get("error_type") or verdict)

    def write_prompt(self, case: Case) -> list[dict[str, str]]:
        """Return the messages that the leaderboard sends to a model without a tool format of its own."""
        asked = [{"role": "user", "content": case.question}]
        return self.handlers.system_prompt_pre_processing_chat_model(asked, case.functions, case.case_id)

    def read_reply(self, text: str) -> Calls:
        """Return the calls of a reply to that prompt; none if the leaderboard cannot read it."""
        try:
            decoded = self.handlers.default_decode_ast_prompting(text)
        except Exception:  # whatever a reply makes of Python's parser, it is not a call
            return []
        return [(name.replace(".", "_"), arguments) for call in decoded for name, arguments in call.items()]
