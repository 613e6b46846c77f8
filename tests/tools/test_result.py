"""Whatever a tool returns becomes a result that models, people and journals can read."""

import datetime
import enum
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from dovetail.errors import ToolError
from dovetail.tools.result import make_error_result, make_result, to_dict
from dovetail.tools.tool import ToolFailure, ToolResult


class Wood(enum.Enum):
    OAK = "oak"


@dataclass
class Size:
    length: float


class Plank(BaseModel):
    wood: Wood
    size: Size


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        ("", "(no output)"),
        (None, "(no output)"),
        (3, "3"),
        (True, "true"),
        ({"grüß": ["😀", None]}, '{"grüß": ["😀", null]}'),
        (Plank(wood=Wood.OAK, size=Size(2)), '{"wood": "oak", "size": {"length": 2}}'),
        ([Size(1)], '[{"length": 1}]'),
        ({"when": datetime.date(2026, 3, 1), "where": Path("a/b")}, '{"when": "2026-03-01", "where": "a/b"}'),
        ({3, 1, 2}, "[1, 2, 3]"),
        ({("a", "b"): 1}, "{\"('a', 'b')\": 1}"),
        (b"bytes", '"bytes"'),
    ],
)
def test_value_becomes_text_for_the_model(value: Any, text: str) -> None:
    result = make_result(value)
    assert result.llm_content == text
    json.dumps(to_dict(result))


def test_value_that_holds_itself_is_still_a_result() -> None:
    value: list[Any] = []
    value.append(value)
    assert make_result(value).llm_content == '"a list that cannot be shown as JSON"'


def test_result_of_its_own_passes_through() -> None:
    result = ToolResult("for the model", return_display="for people", data=[1])
    assert make_result(result) is result
    assert to_dict(result) == {"llm_content": "for the model", "return_display": "for people", "data": [1]}


def test_error_of_a_tool_keeps_its_type_and_data() -> None:
    result = make_error_result(ToolError("blunt", type="saw_blunt", data={"teeth": 3}))
    assert result == ToolResult("Error: blunt", error=ToolFailure("blunt", "saw_blunt"), data={"teeth": 3})
    assert make_error_result(KeyError()).llm_content == "Error: KeyError"


def test_text_and_data_that_no_store_could_hold_are_clean_in_a_result() -> None:
    result = make_result({"caf\udce9": ["a\0b", float("nan"), "\ud83d\ude00"]})
    assert to_dict(result)["data"] == {"caf\ufffd": ["a\ufffdb", None, "😀"]}
    assert make_result("caf\udce9").llm_content == "caf\ufffd"
    assert ToolResult([{"type": "text", "text": "\0"}]).llm_content == [{"type": "text", "text": "\ufffd"}]
    failed = make_error_result(ValueError("\ud83d"))
    assert (failed.error and failed.error.message, failed.llm_content) == (
        "ValueError: \ufffd",
        "Error: ValueError: \ufffd",
    )


def test_data_that_is_nested_too_deeply_for_an_event_is_shown_by_its_size() -> None:
    deep: list[Any] = []
    for _ in range(400):
        deep = [deep]
    assert to_dict(make_result({"deep": deep}))["data"] == {"characters": 812}
