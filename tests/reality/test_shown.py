"""Everything that a newcomer is shown has a checker, and the real model is asked a few of the questions."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from evals.reality.digest import describe, digest_visit, list_parts
from evals.reality.faces import ask
from evals.reality.outcome import Call, Outcome, calls, find_fault, is_text, says, writes
from evals.reality.pages import find_shown
from evals.reality.results import Result, Results
from evals.reality.shown import NOT_ASKED, VISITS
from evals.reality.visit import Visit

from dovetail.requesters.local.weights import CATALOGUE, cache_folder

IS_THERE = (cache_folder() / CATALOGUE["good"].file_name).exists()
FEW = {
    "README.md program": 2,
    "docs/tour/team.md terminal": 1,
    "web/src/text/en/chat.ts http empty folder": 1,
}
"""Visits with how many of their first questions: a program, a command, and a click on the page."""
ENOUGH = 180.0
"""Seconds after which none of them is begun: a slow machine asks fewer, and says which it left out."""
LONGEST = 1500.0
"""Seconds of one visit, against hangs only: the model may share its cores with other work."""
SEED = 1
"""Of all runs, so that an unlucky sample does not fail the tests."""


@pytest.fixture(scope="module")
def spent() -> list[float]:
    """The seconds of the visits so far."""
    return []


def list_checked() -> Iterator[tuple[str, str]]:
    for visit in VISITS:
        yield from ((visit.place, question.text) for question in visit.questions if question.checks)


def test_every_question_that_is_shown_has_a_checker() -> None:
    checked = {*list_checked(), *NOT_ASKED}
    missing = [shown for shown in find_shown() if shown not in checked]
    assert missing == [], "add a checker in evals/reality/shown, before you ask the model"


def test_every_checker_belongs_to_something_that_is_shown() -> None:
    shown = set(find_shown())
    places = {place for place, _ in shown}
    assert [each for each in list_checked() if each[0] not in places or each not in shown] == []


def test_every_visit_has_a_name_of_its_own() -> None:
    names = Counter(visit.name for visit in VISITS)
    assert [name for name, count in names.items() if count > 1] == []


def test_checks_find_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "packing.md").write_text("- socks\n- map\n")
    count = Call(tool="count_stock", arguments={"item": "Chisel"}, status="ok")
    outcome = Outcome(text="There are **3** chisels, for 6,223 euros.", calls=[count], folder=tmp_path)
    right = [calls("count_stock", item="chisel"), says("3", "6223"), writes("packing.md", lines=2), is_text()]
    assert find_fault(outcome, right) is None
    assert "does not say 6" in str(find_fault(outcome, [says("6")]))
    assert "count_stock" in str(find_fault(outcome, [calls("count_stock", item="plane")]))
    assert "fewer than 3" in str(find_fault(outcome, [writes("packing.md", lines=3)]))
    assert "repeats" in str(is_text()(Outcome(text="Pack a blanket: it is cold.\n" * 5)))
    assert find_fault(Outcome(text="3", problem="no answer"), [says("3")]) == "no answer"


def test_result_counts_only_for_what_it_was_made_of(tmp_path: Path) -> None:
    visit = next(each for each in VISITS if each.name == "docs/tour/team.md terminal")
    results = Results(tmp_path / "reality.jsonl")
    made = Result(
        visit=visit.name, question=visit.questions[0].text, run=1, fault="", seconds=1.0, text="3", calls=[],
        commit="c", digest=digest_visit(visit),
    )  # fmt: skip
    results.add(made)
    results.add(replace(made, run=2, digest="of another prompt"))
    again = Results(tmp_path / "reality.jsonl")
    assert again.has(visit, 1)
    assert not again.has(visit, 2)
    assert again.of(visit) == [made]


def test_digest_changes_with_question_and_check_alone() -> None:
    visit = next(each for each in VISITS if each.note == "run")
    [question] = visit.questions
    other_words = replace(visit, questions=[replace(question, words=["run", "buyer", "More?", "-p"])])
    other_check = replace(visit, questions=[replace(question, checks=[says("4")])])
    digests = [digest_visit(each) for each in (visit, other_words, other_check)]
    assert len(set(digests)) == 3
    assert digest_visit(replace(visit, seconds=1.0)) == digests[0]
    assert "_read_amount" in "".join(describe(question.checks[1])), "a check has its helpers with it"


def test_digest_is_the_same_in_each_process() -> None:
    assert [part for visit in VISITS for part in list_parts(visit) if " at 0x" in str(part)] == []


@pytest.mark.slow
@pytest.mark.timeout(2 * LONGEST)
@pytest.mark.skipif(
    not IS_THERE and os.environ.get("CI") != "true",
    reason="the real model is not asked: its weights are not in the cache (`make run` or "
    "`dovetail models pull good` brings them)",
)
@pytest.mark.parametrize("visit", [each for each in VISITS if each.name in FEW], ids=lambda visit: visit.name)
def test_good_model_answers_what_a_newcomer_asks_first(visit: Visit, spent: list[float]) -> None:
    if sum(spent) > ENOUGH:
        pytest.skip(f"not asked: the questions before took {sum(spent):.0f} s; `make reality` asks it")
    questions = visit.questions[: FEW[visit.name]]
    patient = replace(visit, questions=questions, seconds=LONGEST / len(questions))
    begin = time.monotonic()
    faults = {question.text: find_fault(outcome, question.checks) for question, outcome in ask(patient, SEED)}
    spent.append(time.monotonic() - begin)
    assert faults == dict.fromkeys(faults)
    assert len(faults) == len(questions)
