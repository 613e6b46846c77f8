"""The results so far, in evals/results/reality.jsonl: the last one of a question and a run counts.

A result has the digest of what decided it. After a change of that it is older: it stays in the file, but the
question is asked again.
"""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evals.reality.digest import digest_visit
from evals.reality.pages import ROOT
from evals.reality.visit import Visit

FILE = ROOT / "evals" / "results" / "reality.jsonl"


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
    digest: str = ""


class Results:
    """Results by visit, question and run."""

    def __init__(self, file: Path = FILE) -> None:
        self._file = file
        self._found: dict[tuple[str, str, int], Result] = {}
        self._digests: dict[str, str] = {}
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
        """Whether all questions of a visit have a result of this run that counts."""
        asked = {each.question for each in self.of(visit) if each.run == run}
        return asked >= {each.text for each in visit.questions}

    def of(self, visit: Visit, question: str | None = None) -> list[Result]:
        """Return the results of a visit, or of one of its questions, by run; older ones are left out."""
        known = {each.text for each in visit.questions} if question is None else {question}
        found = [each for each in self._found.values() if each.visit == visit.name and each.question in known]
        counting = [each for each in found if each.digest == self.digest_of(visit)]
        return sorted(counting, key=lambda each: each.run)

    def digest_of(self, visit: Visit) -> str:
        """Return the digest that a result of the visit must have to count."""
        if visit.name not in self._digests:
            self._digests[visit.name] = digest_visit(visit)
        return self._digests[visit.name]

    def _keep(self, result: Result) -> None:
        self._found[(result.visit, result.question, result.run)] = result


def find_commit() -> str:
    """Return the short name of the commit that is asked."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
