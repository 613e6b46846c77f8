"""Optional texts that nothing in the conversation calls for are left out of a call."""

from typing import Any

import pytest

from dovetail.events.call import ToolSpec
from dovetail.requesters.local.grounding import drop_invented, drop_invented_text, join_said, may_invent

TEXT = {"type": "string"}


def make(required: list[str], **properties: Any) -> ToolSpec:
    parameters = {"type": "object", "properties": properties, "required": required}
    return ToolSpec(name="route", description="Find a route.", parameters=parameters)


ROUTE = make(["to"], to=TEXT, unit=TEXT, days={"type": "integer"}, fast={"type": "boolean"})


def test_optional_text_of_which_no_word_was_said_is_left_out() -> None:
    arguments = {"to": "Rome", "unit": "miles"}
    assert drop_invented(arguments, ROUTE, "How far is it to the capital?") == {"to": "Rome"}


@pytest.mark.parametrize("said", ["How far in miles?", "How many MILE are it?", "miles/hour"])
def test_optional_text_that_was_said_stays(said: str) -> None:
    assert drop_invented({"to": "Rome", "unit": "miles"}, ROUTE, said)["unit"] == "miles"


def test_date_in_another_spelling_stays() -> None:
    assert drop_invented({"unit": "2024-05-01"}, ROUTE, "On May 1, please.") == {"unit": "2024-05-01"}


def test_codes_numbers_and_flags_stay() -> None:
    arguments = {"to": "Rome", "unit": "km", "days": 7, "fast": True}
    assert drop_invented(arguments, ROUTE, "How far is it next week?") == arguments


def test_nothing_is_left_out_where_values_may_be_translations() -> None:
    arguments = {"to": "Munich", "unit": "kilometres"}
    assert drop_invented(arguments, ROUTE, "Wie weit ist es nach München?") == arguments


def test_only_tools_with_optional_texts_wait_for_their_end() -> None:
    assert may_invent(ROUTE)
    assert not may_invent(make(["to"], to=TEXT, days={"type": "integer"}))
    assert not may_invent(None)


def test_arguments_that_were_cut_off_stay() -> None:
    assert drop_invented_text('{"to": "Ro', ROUTE, "hi") == '{"to": "Ro'
    assert drop_invented_text('{"to": "Rome", "unit": "miles"}', ROUTE, "hi") == '{"to": "Rome"}'


def test_everything_said_counts_also_results() -> None:
    said = join_said(
        [
            {"role": "user", "content": "How far?"},
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "tool", "tool_call_id": "c", "content": "in kilometres"},
        ]
    )
    assert drop_invented({"unit": "kilometres"}, ROUTE, said) == {"unit": "kilometres"}
