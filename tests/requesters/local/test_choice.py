"""Tools and ways to answer are ranked by what the model would write next."""

import pytest

from dovetail.events.call import ToolSpec
from dovetail.requesters.local.choice import (
    build_choice_texts,
    choose_ways,
    describe_tools,
    find_leads,
    score_names,
)
from dovetail.requesters.local.fit import Token
from dovetail.requesters.local.messages import TextMessage

ADD = ToolSpec(name="add", description="Add numbers.", parameters={"type": "object", "properties": {}})
WEATHER = ToolSpec(
    name="weather",
    description="The weather of a city.\n\nA long second paragraph that costs time to read.",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "kelvin"]}, "odd": True},
        "required": ["city"],
    },
)


class Model:
    """A model that leans to these next tokens after each beginning of a reply."""

    def __init__(self, **tokens: dict[str, float]) -> None:
        self.tokens = tokens
        self.asked: list[str] = []

    async def score(self, texts: list[TextMessage]) -> list[Token]:
        begun = texts[-1]["content"].removeprefix('{"tool": "')
        self.asked.append(begun)
        return [Token("", tuple(self.tokens[begun or "begin"].items()))]


async def test_each_name_is_scored_by_the_token_that_begins_it() -> None:
    model = Model(begin={"ad": -0.5, "wea": -2.0, "xyz": -3.0})
    scores = await score_names([], ["add", "weather", "mail"], model.score)
    assert scores == {"add": -0.5, "weather": -2.0, "mail": -3.0}
    assert model.asked == [""]


async def test_names_that_begin_alike_are_distinguished_by_what_follows() -> None:
    model = Model(begin={"write": -0.1, "talk": -3.0}, write={"_file": -0.2, "_text": -4.0})
    scores = await score_names([], ["write_file", "write_text", "talk"], model.score)
    assert scores == {"write_file": pytest.approx(-0.3), "write_text": pytest.approx(-4.1), "talk": -3.0}
    assert model.asked == ["", "write"]


async def test_names_far_behind_are_not_distinguished() -> None:
    model = Model(begin={"talk": -0.1, "write": -9.0})
    scores = await score_names([], ["write_file", "write_text", "talk"], model.score)
    assert scores["write_file"] == scores["write_text"] == -9.0


async def test_name_that_is_the_beginning_of_another_is_known_by_its_closing_quote() -> None:
    model = Model(begin={"add": -0.1}, add={'"': -0.2, "_all": -2.0})
    assert await score_names([], ["add", "add_all"], model.score) == {
        "add": pytest.approx(-0.3),
        "add_all": pytest.approx(-2.1),
    }


def test_leads_are_measured_against_the_best_way_to_answer() -> None:
    scores = {"talk": -1.0, "know": -2.0, "weather": -3.0, "add": -0.5}
    assert list(find_leads(scores, ["talk", "know"]).items()) == [("add", 0.5), ("weather", -2.0)]


def test_tool_is_one_short_line() -> None:
    assert "- weather(city, unit, odd): The weather of a city." in describe_tools([WEATHER]).splitlines()


def test_defaults_are_shown_so_that_none_is_made_up() -> None:
    properties = {"text": {}, "path": {"default": "."}, "all": {"default": True}}
    tool = ToolSpec(name="find", description="Find.", parameters={"properties": properties})
    assert '- find(text, path=".", all=true): Find.' in describe_tools([tool]).splitlines()


def test_facts_stand_before_the_tools_and_talk_behind_them() -> None:
    lines = [line.split("(")[0] for line in describe_tools([WEATHER]).splitlines() if line.startswith("- ")]
    assert lines == [
        "- general_knowledge",
        "- weather",
        "- small_talk",
        "- write_text",
        "- write_code",
        "- tell_user",
    ]


def test_result_can_only_be_reported() -> None:
    assert choose_ways([ADD], has_result=True) == ["tell_user"]
    assert "small_talk" in choose_ways([ADD], has_result=False)


def test_tool_with_the_name_of_a_way_keeps_it() -> None:
    tool = ToolSpec(name="write_code", description="Write code.", parameters={})
    assert "write_code" not in choose_ways([tool], has_result=False)


def test_texts_before_the_question_are_the_same_in_every_chat() -> None:
    one, two = build_choice_texts("Be kind.", [ADD], "1 + 2?"), build_choice_texts("Be kind.", [ADD], "Hi")
    assert one[0] == two[0]
    assert one[0]["content"].startswith("Be kind.\n\n# Tools\n- general_knowledge(): ")
    assert one[1:] == [{"role": "user", "content": "1 + 2?"}]


def test_next_choice_reads_the_call_and_the_beginning_of_its_result() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    steps = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "3" * 1000},
    ]
    *_, written, result = build_choice_texts("", [ADD], "1 + 2?", steps)
    assert written == {"role": "assistant", "content": '{"tool": "add", "arguments": {"a": 1}}'}
    assert result == {"role": "user", "content": f"Result of add: {'3' * 300}"}
