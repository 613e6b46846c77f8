"""Blocks print what they are given, and warn once of what they leave out."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from dovetail.prompt import Prompt


def render(**slots: Any) -> str:
    return Prompt(slots).to_text()


@pytest.mark.parametrize(
    ("info", "lines"),
    [
        (7, "7"),
        (True, "True"),
        ({7}, "{7}"),
        (0, "0"),
        ({"a": {"n": [1, None]}}, "- a : {'n': [1, None]}"),
        ([("x", 1)], "- ('x', 1)"),
    ],
)
def test_info_of_any_kind_is_printed(info: Any, lines: str) -> None:
    assert render(info=info) == f"user:\n[INFO]:\n{lines}\n\n[OUTPUT]:\nassistant:"


def test_unknown_output_format_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    text = render(input="q", output={"a": (str,)}, output_format="xml")
    assert "REQUIREMENT" not in text
    assert [record.getMessage() for record in caplog.records] == [
        "Unknown output_format 'xml' is ignored. Expected one of: json, markdown, text."
    ]


def test_each_part_that_is_left_out_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    picture = {"type": "image_url", "image_url": "u"}
    prompt = Prompt(
        {
            "input": "q",
            "chat_history": [{"role": "user", "content": [picture, {"type": "text", "text": "t"}]}],
            "attachment": [picture],
        }
    )
    prompt.to_messages()
    assert [record.getMessage() for record in caplog.records] == [
        "Omitted a part of type 'image_url' in chat_history: only text can be rendered here.",
        "Omitted a part of type 'image_url' in attachment: only text can be rendered here.",
    ]
    caplog.clear()
    prompt.to_messages(rich_content=True)
    assert not caplog.records


def test_history_content_given_as_one_part_is_a_list_of_one() -> None:
    prompt = Prompt(
        {"input": "q", "chat_history": [{"role": "user", "content": {"type": "text", "text": "t"}}]}
    )
    assert "[user]:t\n" in prompt.to_text()
    assert prompt.to_messages(strict_role_orders=False)[0] == {"role": "user", "content": "t"}
    assert prompt.to_messages(rich_content=True)[0]["content"] == [{"type": "text", "text": "t"}]


def test_history_content_of_another_kind_is_printed_as_text() -> None:
    prompt = Prompt(
        {"input": "q", "chat_history": [{"role": "user", "content": 5}, {"role": "a", "content": {"k": 1}}]}
    )
    assert "[user]:5\n[assistant]:{'k': 1}\n" in prompt.to_text()


def requirement(output: Any) -> str:
    text = render(input="q", output=output)
    return text.split("Data Structure:\n")[1].removesuffix("\n\n[OUTPUT]:\nassistant:")


def test_list_as_root_is_a_json_array() -> None:
    assert requirement([{"a": (str, "x")}]) == '[\n  {\n    "a": <str> // x\n  },\n  ...\n]'
    assert requirement([(int, "n")]) == "[\n  <int>, // n\n  ...\n]"


def test_tuple_as_root_is_one_leaf() -> None:
    assert requirement((str, "what to say")) == requirement((str,)) == "<str>"


def test_list_of_several_schemas_ends_each_with_a_comma() -> None:
    assert (
        requirement({"l": [(int, "n"), (str,)]})
        == '{\n  "l": [\n    <int>, // n\n    <str>,\n    ...\n  ]\n}'
    )


def test_empty_containers_stay_on_the_line() -> None:
    assert requirement({"a": {}, "b": [], "c": ({}, "d")}) == '{\n  "a": {},\n  "b": [],\n  "c": {} // d\n}'


class Line(BaseModel):
    what: str = Field(description="a name")
    kind: Literal["big", "small"] = "big"


class Invoice(BaseModel):
    lines: list[Line]
    first: Line | None = None


def test_class_shows_its_fields() -> None:
    assert requirement({"invoice": Invoice, "line": (Line, "the best")}) == (
        "{\n"
        '  "invoice": {\n'
        "    \"lines\": <list[{'what': ('str', 'a name'), 'kind': ('Literal[big, small]',)}]>,\n"
        f'    "first": <{Line.__module__}.Line | None>\n'
        "  },\n"
        '  "line": {\n'
        '      "what": <str>, // a name\n'
        '      "kind": <Literal[big, small]>\n'
        "    } // the best\n"
        "}"
    )


def test_generic_alias_as_the_whole_output_is_not_a_structure() -> None:
    prompt = Prompt({"input": "q", "output": list[int]})
    assert prompt.to_prompt_object().output_format == "markdown"
    assert prompt.to_text().endswith(
        "[OUTPUT REQUIREMENT]:\nData Format: markdown text\n[OUTPUT]:\nassistant:"
    )
    with pytest.raises(TypeError):
        prompt.to_output_model()


def test_any_class_as_the_whole_output_is_asked_for_as_a_value() -> None:
    assert requirement(dict).startswith('{\n  "value": <dict>,\n  "reply": <str>')


def test_empty_output_asks_for_nothing() -> None:
    assert render(input="q", output={}) == render(input="q")
