"""Dovetail's results equal the original's in the recorded cases, except for intended deviations."""

import json
from typing import Any

import pytest

from conformance.cases import make_case
from conformance.comparison import compare
from conformance.deviations import DEVIATIONS, REWRITES
from conformance.sample import SEED, read_sample
from conformance.sides import run_ours

SAMPLE = read_sample()
GROUP = 50


@pytest.mark.parametrize("start", range(0, len(SAMPLE), GROUP))
def test_recorded_cases_give_the_same(start: int) -> None:
    for number, case, theirs, removed in SAMPLE[start : start + GROUP]:
        for finding in compare(case, theirs, run_ours(case), removed):
            difference = finding.difference
            assert finding.settled_by, (
                number,
                case,
                difference.view,
                difference.their_view,
                difference.our_view,
            )


def test_case_of_a_number_is_always_the_same() -> None:
    assert len(SAMPLE) >= 500
    for number, case, *_ in SAMPLE[:100]:
        assert make_case(SEED, number) == case, f"case {number} has changed; record the sample again"


def test_every_deviation_has_a_name_and_a_reason() -> None:
    names = [deviation.name for deviation in (*REWRITES, *DEVIATIONS)]
    assert len(names) == len(set(names))
    assert all(deviation.reason for deviation in (*REWRITES, *DEVIATIONS))


def test_unsettled_difference_is_found() -> None:
    case: dict[str, Any] = {"layers": [[["set", "input", "q"]]]}
    theirs = run_ours(case)
    theirs["text"] = {"result": "user:\nq\nassistant:"}
    (finding,) = compare(case, theirs, run_ours(case))
    assert finding.difference.view == "text"
    assert not finding.settled_by


@pytest.mark.parametrize(
    ("name", "view"),
    [
        ("history-log", "messages rich=True strict=True"),
        ("assignment", "text"),
        ("pydantic-class", "model"),
        ("export", "json"),
        ("set-mapping", "text"),
        ("default", "text"),
        ("odd-breaks", "yaml"),
    ],
)
def test_regression_is_found_where_an_intended_difference_was(name: str, view: str) -> None:
    broken = [
        compare(case, theirs, {**ours, view: {"result": "wrong"}}, removed)
        for _, case, theirs, removed in SAMPLE
        if name in removed and "result" in theirs.get(view, ()) and (ours := run_ours(case))
    ]
    found = [any(not finding.settled_by for finding in findings) for findings in broken]
    assert found, f"no case of the sample is recorded without {name!r}"
    assert found.count(True) >= len(found) / 2  # others differ for one more reason


def test_schema_that_names_the_module_of_a_model_is_compared() -> None:
    fields = {"dict": [["wood", {"dict": []}], ["Wood", {"dict": [["name", "a text"]]}]]}
    output = {"dict": [["name", fields]]}
    case: dict[str, Any] = {"layers": [[["set", "output", output]]]}
    ours = run_ours(case)
    module = "agently__builtins__plugins__PromptGenerator__AgentlyPromptGenerator__"
    text = json.dumps(ours["model schema"])
    assert "dovetail__schema__output_model__" in text
    theirs = {**ours, "model schema": json.loads(text.replace("dovetail__schema__output_model__", module))}
    assert [finding.settled_by for finding in compare(case, theirs, ours)] == [("module-name",)]
