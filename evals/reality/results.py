"""The results so far, in .reality/results.jsonl: the last one of a question and a run counts."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evals.reality.pages import ROOT
from evals.reality.visit import Visit

FILE = ROOT / ".reality" / "results.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One answer, and what is wrong with it."""

    visit: str
    question: str
    run: int
    fault: str
    seconds: float
    text: str
    calls: Sequence[str]
    commit: str


class Results:
    """Results by visit, question and run."""

    def __init__(self, file: Path = FILE) -> None:
        self._file = file
        self._found: dict[tuple[str, str, int], Result] = {}
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        for line in lines:
            self._keep(Result(**json.loads(line)))

    def add(self, result: Result) -> None:
        """Keep a result, also in the file."""
        self._keep(result)
        self._file.parent.mkdir(exist_ok=True)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")

    def has(self, visit: Visit, run: int) -> bool:
        """Whether all questions of a visit have a result of this run."""
        return all((visit.name, each.text, run) in self._found for each in visit.questions)

    def of(self, visit: Visit, question: str | None = None) -> list[Result]:
        """Return the results of a visit, or of one of its questions, by run."""
        known = {each.text for each in visit.questions} if question is None else {question}
        found = [each for each in self._found.values() if each.visit == visit.name and each.question in known]
        return sorted(found, key=lambda each: each.run)

    def _keep(self, result: Result) -> None:
        self._found[(result.visit, result.question, result.run)] = result


def find_commit() -> str:
    """Return the short name of the commit that is asked."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
