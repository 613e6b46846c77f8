"""The web client's types of events are those of the Python events, and it translates the built-in rules."""

import runpy
from pathlib import Path

import pytest

from dovetail.policy.policy import BUILT_IN_RULES

WEB = Path(__file__).parents[2] / "web"
SCRIPT = WEB / "scripts" / "generate_events.py"


def test_generated_event_types_are_fresh() -> None:
    made = runpy.run_path(str(SCRIPT))
    assert made["TARGET"].read_text("utf-8") == made["generate"](), (
        "the events have changed: run `python web/scripts/generate_events.py`"
    )


def test_an_annotation_that_is_not_known_is_named() -> None:
    write_type = runpy.run_path(str(SCRIPT))["write_type"]
    assert write_type(tuple[str, ...]) == "string[]"
    assert write_type(float | None) == "number | null"
    with pytest.raises(TypeError, match=r"set\[int\]"):
        write_type(set[int])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_reason_for_which_a_built_in_rule_asks_is_translated(language: str) -> None:
    text = (WEB / "src" / "text" / language / "approvals.ts").read_text("utf-8")
    reasons = [rule.reason for rule in BUILT_IN_RULES if rule.action == "ask"]
    assert reasons
    assert [reason for reason in reasons if f'"{reason}": ' not in text] == []
