"""The arguments of a tool are asked for with that tool alone, and read while they are written."""

import json
from typing import Any

import pytest

from dovetail.events.call import ToolSpec
from dovetail.requesters.local.arguments import CallReader, build_argument_grammar, build_argument_texts
from dovetail.requesters.local.messages import read_conversation

TOOL = ToolSpec(
    name="order",
    description="Order pieces\nof an item.",
    parameters={
        "type": "object",
        "properties": {
            "item": {"enum": ["oak", "ash"], "description": "the wood"},
            "pieces": {"type": "integer", "default": 1},
            "sizes": {"type": "array", "items": {"type": "number"}},
            "to": {
                "type": "object",
                "properties": {"city": {"type": "string", "description": "a town"}},
                "required": ["city"],
            },
        },
        "required": ["item"],
    },
)


def test_prompt_describes_every_parameter_of_this_tool() -> None:
    talk = read_conversation([{"role": "user", "content": "Two ash."}])
    system, question = build_argument_texts(TOOL, talk)
    assert "Function order: Order pieces of an item." in system["content"]
    assert system["content"].split("Parameters:\n")[1].split("\n\n")[0].splitlines() == [
        '- item (one of "oak", "ash"): the wood',
        "- pieces (integer, optional): Default: 1.",
        "- sizes (list of number, optional)",
        "- to (object, optional)",
        "  - to.city (text): a town",
    ]
    assert question == {"role": "user", "content": "Two ash."}


def test_prompt_has_the_end_of_a_long_conversation_and_the_date_if_it_is_asked_for() -> None:
    system = {"role": "system", "content": "Be kind."}
    preface = {"role": "system", "content": "This conversation began on Monday."}
    talk = [{"role": role, "content": f"{n}"} for n in range(9) for role in ("user", "assistant")]
    last = {"role": "user", "content": "Order oak for tomorrow."}
    first, *turns = build_argument_texts(TOOL, read_conversation([system, preface, *talk, last]))
    assert first["content"].endswith("This conversation began on Monday.")
    assert "Be kind" not in first["content"]
    assert [turn["content"] for turn in turns] == ["7", "7", "8", "8", "Order oak for tomorrow."]


def test_grammar_allows_a_line_for_each_call() -> None:
    grammar = build_argument_grammar(TOOL, 3)
    assert "item){0,2}" in grammar
    assert '"additionalProperties": false' in grammar


def test_tool_without_parameters_has_a_grammar() -> None:
    tool = ToolSpec(name="roll", description="Roll a die.", parameters={})
    assert '"properties": {}' in build_argument_grammar(tool)


CALLS: list[dict[str, Any]] = [
    {"item": "oak, or ash", "note": "one\ntwo"},
    {"item": "[", "pieces": 2},
    {},
]


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_calls_are_read_however_they_are_cut(step: int, count: int) -> None:
    items = [json.dumps(call) for call in CALLS[:count]]
    text = "[\n  " + ",\n  ".join(items) + "\n]"
    reader = CallReader()
    first = "".join(reader.feed(text[start : start + step]) for start in range(0, len(text), step))
    assert first == items[0]
    assert reader.finish() == items


def test_call_that_is_cut_off_keeps_what_was_written() -> None:
    reader = CallReader()
    assert reader.feed('[\n  {"item": "oa') == '{"item": "oa'
    assert reader.finish() == ['{"item": "oa']
