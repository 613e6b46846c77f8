"""Everything that a newcomer is shown has a checker, and the real model is asked a few of the questions."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from evals.reality.faces import ask
from evals.reality.outcome import Call, Outcome, calls, find_fault, is_text, says, writes
from evals.reality.pages import find_shown
from evals.reality.shown import NOT_ASKED, VISITS
from evals.reality.visit import Visit

from dovetail.requesters.local.weights import CATALOGUE, cache_folder

IS_THERE = (cache_folder() / CATALOGUE["good"].file_name).exists()
FEW = ["README.md program", "docs/tour/team.md terminal"]
"""Visits that two cores answer within three minutes."""
LONGEST = 1500.0
"""Seconds of one visit, against hangs only: the model may share its cores with other work."""


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


@pytest.mark.slow
@pytest.mark.timeout(2 * LONGEST)
@pytest.mark.skipif(
    not IS_THERE and os.environ.get("CI") != "true",
    reason="the real model is not asked: its weights are not in the cache (`make run` or "
    "`dovetail models pull good` brings them)",
)
@pytest.mark.parametrize("visit", [each for each in VISITS if each.name in FEW], ids=lambda visit: visit.name)
def test_good_model_answers_what_a_newcomer_asks_first(visit: Visit) -> None:
    patient = replace(visit, seconds=LONGEST / len(visit.questions))
    faults = {question.text: find_fault(outcome, question.checks) for question, outcome in ask(patient, 1)}
    assert faults == dict.fromkeys(faults)
    assert len(faults) == len(visit.questions)
