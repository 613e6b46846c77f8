"""The choice of an embedded model is described shortly and read however it is cut."""

import pytest

from dovetail.messages.request import ToolSpec
from dovetail.requesters.tool_choice import ChoiceReader, build_choice_schema, describe_tools, write_call

WEATHER = ToolSpec(
    name="weather",
    description="The weather of a city.\n\nA long second paragraph that costs time to read.",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "its name"},
            "unit": {"enum": ["celsius", "kelvin"]},
            "days": {"type": ["integer", "null"]},
            "odd": True,
        },
        "required": ["city"],
    },
)


def test_tool_is_one_line_with_its_parameters() -> None:
    line = (
        "- weather(city: string (its name), unit?: celsius|kelvin, days?: integer|null, odd?: any)"
        ": The weather of a city."
    )
    assert line in describe_tools([WEATHER]).splitlines()


def test_long_description_is_cut() -> None:
    tool = ToolSpec(name="talk", description="word " * 200, parameters={})
    line = next(line for line in describe_tools([tool]).splitlines() if line.startswith("- talk"))
    assert len(line) < 260
    assert line.endswith("…")


def test_answer_is_a_choice_unless_a_call_is_required() -> None:
    free = build_choice_schema([WEATHER], may_answer=True)
    held = build_choice_schema([WEATHER], may_answer=False)
    assert [branch["properties"]["tool"]["const"] for branch in free["anyOf"]] == ["answer", "weather"]
    assert [branch["properties"]["tool"]["const"] for branch in held["anyOf"]] == ["weather"]


@pytest.mark.parametrize("step", range(1, 12))
def test_call_is_read_however_it_is_cut(step: int) -> None:
    arguments = '{"city": "São \\"Paulo\\"", "note": "}, \\"arguments\\": {"}'
    text = write_call("weather", arguments)
    reader = ChoiceReader()
    pieces = [reader.feed(text[start : start + step]) for start in range(0, len(text), step)]
    assert reader.name == "weather"
    assert "".join(pieces) == arguments


@pytest.mark.parametrize("step", range(1, 8))
def test_answer_gives_no_call(step: int) -> None:
    text = '{"tool": "answer"}'
    reader = ChoiceReader()
    assert [reader.feed(text[start : start + step]) for start in range(0, len(text), step)][-1] == ""
    assert reader.name is None


def test_name_with_odd_characters_is_read() -> None:
    reader = ChoiceReader()
    reader.feed(write_call("größe", "{}"))
    assert reader.name == "größe"
