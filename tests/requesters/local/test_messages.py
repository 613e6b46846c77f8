"""A conversation reaches an embedded model as plain texts; its choice of a tool is read however it is cut."""

import pytest

from dovetail.errors import ModelError
from dovetail.events.call import ToolSpec
from dovetail.requesters.local.messages import (
    ChoiceReader,
    begin_answer,
    build_choice_schema,
    build_texts,
    choose_ways,
    describe_tools,
    write_call,
)

TOOL = ToolSpec(name="add", description="Add numbers.", parameters={"type": "object", "properties": {}})

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
TALK = [
    {"role": "system", "content": "Be kind."},
    {"role": "developer", "content": "Be short."},
    {"role": "user", "content": [{"type": "text", "text": "1"}, {"type": "text", "text": "2"}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "3"},
    {"role": "assistant", "content": "It is 3."},
]


def test_turns_without_tools_stay_plain() -> None:
    assert build_texts(TALK, [])[0] == {"role": "system", "content": "Be kind.\n\nBe short."}
    assert build_texts(TALK, [])[-1] == {"role": "assistant", "content": "It is 3."}


def test_turns_with_tools_begin_with_their_choice() -> None:
    system, user, call, result, answer = build_texts(TALK, [TOOL])
    assert system["content"].startswith("Be kind.\n\n# Tools\n- general_knowledge(): ")
    assert system["content"].endswith("\n\nBe short.")
    assert user == {"role": "user", "content": "1\n2"}
    assert call == {"role": "assistant", "content": '{"tool": "add", "arguments": {"a": 1}}'}
    assert result == {"role": "user", "content": "Result of add: 3\n\nNow answer my question with it."}
    assert answer == {"role": "assistant", "content": '{"tool": "tell_user"}\nIt is 3.'}


def test_result_is_followed_by_a_question_only_when_it_is_answered() -> None:
    again = [*TALK[:-1], {"role": "assistant", "content": None, "tool_calls": [CALL]}]
    assert build_texts(again, [TOOL])[3] == {"role": "user", "content": "Result of add: 3"}


def test_answer_begins_as_it_is_shown_later_on() -> None:
    begun = begin_answer(build_texts(TALK[:-1], [TOOL]), TALK[:-1], [TOOL])
    whole = build_texts(TALK, [TOOL])
    assert begun[:-1] == whole[:-1]
    assert whole[-1]["content"] == begun[-1]["content"] + "It is 3."


@pytest.mark.parametrize("question", ["Which tools do you have?", "你有哪些工具"])
def test_question_about_tools_is_answered_with_their_names_alone(question: str) -> None:
    talk = [{"role": "user", "content": question}, {"role": "assistant", "content": "I can add."}]
    begun = begin_answer(build_texts(talk[:1], [TOOL]), talk[:1], [TOOL])
    assert begun[1]["content"] == f"{question}\n\n(Your only tools: add.)"
    assert build_texts(talk, [TOOL])[1] == begun[1]
    assert build_texts(talk[:1], [TOOL])[1]["content"] == question
    assert build_texts(talk, [])[0]["content"] == question


def test_beginning_stays_the_same_when_the_conversation_grows() -> None:
    for length in range(2, len(TALK) - 1):
        assert build_texts(TALK[:length], [TOOL]) == build_texts(TALK, [TOOL])[: length - 1]


def test_data_as_content_becomes_text() -> None:
    assert build_texts([{"role": "user", "content": {"a": [1]}}], []) == [
        {"role": "user", "content": "a:\n- 1\n"}
    ]


def test_picture_is_refused_clearly() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    with pytest.raises(ModelError, match=r"^local:good reads text only, but the message contains: image_url"):
        build_texts([{"role": "user", "content": [picture]}], [], "local:good")


def test_chat_continues_after_a_picture_that_another_model_has_seen() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    talk = [{"role": "user", "content": [picture]}, {"role": "user", "content": "thanks"}]
    assert build_texts(talk, [])[0]["content"] == (
        "(An attachment of type image/png was here; this model cannot read it.)"
    )


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


def test_tool_is_one_short_line() -> None:
    assert (
        "- weather(city, unit, days, odd): The weather of a city." in describe_tools([WEATHER]).splitlines()
    )


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


def test_long_description_is_cut() -> None:
    tool = ToolSpec(name="talk", description="word " * 200, parameters={})
    line = next(line for line in describe_tools([tool]).splitlines() if line.startswith("- talk"))
    assert len(line) < 120
    assert line.endswith("…")


def test_result_can_only_be_reported() -> None:
    assert choose_ways([WEATHER], has_result=True) == ["tell_user"]
    assert "tell_user" not in choose_ways([WEATHER], has_result=False)


def test_tool_with_the_name_of_a_way_keeps_it() -> None:
    coder = ToolSpec(name="write_code", description="Write code.", parameters={})
    teller = ToolSpec(name="tell_user", description="Send a message.", parameters={})
    assert "write_code" not in choose_ways([coder], has_result=False)
    assert choose_ways([teller], has_result=True) == ["answer"]


def test_choice_is_closed_over_ways_and_tools() -> None:
    schema = build_choice_schema([WEATHER], ["small_talk"])
    assert [branch["properties"]["tool"]["const"] for branch in schema["anyOf"]] == ["small_talk", "weather"]


@pytest.mark.parametrize("step", range(1, 12))
def test_call_is_read_however_it_is_cut(step: int) -> None:
    arguments = '{"city": "São \\"Paulo\\"", "note": "}, \\"arguments\\": {"}'
    text = write_call("weather", arguments)
    reader = ChoiceReader()
    pieces = [reader.feed(text[start : start + step]) for start in range(0, len(text), step)]
    assert reader.name == "weather"
    assert "".join(pieces) == arguments


@pytest.mark.parametrize("step", range(1, 8))
def test_answer_makes_no_call(step: int) -> None:
    text = '{"tool": "small_talk"}'
    reader = ChoiceReader()
    assert [reader.feed(text[start : start + step]) for start in range(0, len(text), step)][-1] == ""
    assert reader.name is None


def test_name_with_odd_characters_is_read() -> None:
    reader = ChoiceReader()
    reader.feed(write_call("größe", "{}"))
    assert reader.name == "größe"
