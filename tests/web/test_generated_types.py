"""The web client's types of events are those of the Python events, and it translates rules and errors."""

import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail.data.text import INTERNAL_ERROR, report_error
from dovetail.errors import DovetailError
from dovetail.policy.policy import BUILT_IN_RULES
from dovetail.server.errors import RUN_STATUSES, AccessError

WEB = Path(__file__).parents[2] / "web"
SCRIPT = WEB / "scripts" / "generate_events.py"
HOMES = ("dovetail.errors", "dovetail.server.errors")
WITHOUT_A_CLASS = ("http_error", "method_not_allowed", "not_found", "rate_limited", "too_large")


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


def test_every_error_code_of_the_server_is_translated() -> None:
    text = (WEB / "src" / "text" / "zh" / "page.ts").read_text("utf-8")
    own = [each for each in _list_subclasses(DovetailError) if each.__module__ in HOMES]
    assert AccessError in own
    codes = {*map(_find_code, own), INTERNAL_ERROR["type"], *RUN_STATUSES, *WITHOUT_A_CLASS}
    assert sorted(code for code in codes if f"    {code}: " not in text) == []


def _find_code(kind: type[DovetailError]) -> str:
    error = kind.__new__(kind)
    DovetailError.__init__(error, "")
    return report_error(error)["type"]


def _list_subclasses(of: type[DovetailError]) -> Iterator[type[DovetailError]]:
    for each in of.__subclasses__():
        yield each
        yield from _list_subclasses(each)
