"""A conversation reaches an embedded model as plain texts, without a word about tools."""

import pytest

from dovetail.errors import ModelError
from dovetail.events.call import ChatMessage, ToolSpec
from dovetail.requesters.local.messages import (
    ANSWER_IN_FORM,
    ANSWER_WITH_SKILL,
    TextMessage,
    introduce,
    read_conversation,
)

TOOL = ToolSpec(name="add", description="Add numbers.", parameters={"type": "object", "properties": {}})
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
TALK: list[ChatMessage] = [
    {"role": "system", "content": "Be kind."},
    {"role": "developer", "content": "Be short."},
    {"role": "user", "content": [{"type": "text", "text": "1"}, {"type": "text", "text": "2"}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "3"},
    {"role": "assistant", "content": "It is 3."},
]
WISH = "Answer my question with this result, in one or two sentences."


def build(messages: list[ChatMessage], tools: list[ToolSpec] | None = None) -> list[TextMessage]:
    return read_conversation(messages).build_texts(tools or [])


def test_system_texts_are_joined() -> None:
    assert build(TALK)[0] == {"role": "system", "content": "Be kind.\n\nBe short."}


def test_tools_do_not_change_what_the_model_reads() -> None:
    assert build(TALK, [TOOL]) == build(TALK)


def test_result_stands_below_its_question_and_the_call_is_left_out() -> None:
    _, question, answer = build(TALK)
    assert question == {"role": "user", "content": f"1\n2\n\nResult of add:\n3\n\n{WISH}"}
    assert answer == {"role": "assistant", "content": "It is 3."}


def test_beginning_stays_the_same_when_the_conversation_grows() -> None:
    asked, answered = build(TALK[:-1]), build(TALK)
    assert asked == answered[:-1]
    assert build([*TALK, {"role": "user", "content": "Sure?"}])[:-1] == answered


def test_result_that_is_an_error_is_explained() -> None:
    failed: list[ChatMessage] = [*TALK[:4], {"role": "tool", "tool_call_id": "c1", "content": "Error: no"}]
    assert build(failed)[-1]["content"].endswith("Error: no\n\nTell me in one sentence what went wrong.")


def test_a_result_is_reported_in_the_form_that_the_question_asks_for() -> None:
    wishes = {
        "Show both in a table.": ANSWER_IN_FORM,
        "<skill name='brief'>Three parts in a table.</skill>\nShould it rain?": ANSWER_WITH_SKILL,
        "List the files.": WISH,
        "What is there?": WISH,
    }
    for question, wish in wishes.items():
        answered = build([{"role": "user", "content": question}, *TALK[3:5]])
        assert answered[-1]["content"].endswith(wish)


def test_a_skill_that_the_model_has_loaded_is_followed_and_not_reported() -> None:
    loaded = [*TALK[2:4], {"role": "tool", "tool_call_id": "c1", "content": '<skill name="x">Rhyme.</skill>'}]
    assert build(loaded)[-1]["content"].endswith("as this skill says.")


def test_a_skill_of_an_earlier_message_counts_where_it_is_named_again() -> None:
    skill = '<skill name="brief">\nTools for this skill: add\n</skill>'
    talk: list[ChatMessage] = [
        {"role": "user", "content": f"{skill}\n/skill/brief One?"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "/skill/brief Two?"},
    ]
    assert read_conversation(talk).wish == f"/skill/brief Two?\n{skill}"
    assert read_conversation([*talk, {"role": "user", "content": "Three?"}]).wish == "Three?"


def test_introduction_stands_where_no_system_text_is_also_with_a_question_about_the_model() -> None:
    for system in ([], [{"role": "system", "content": "Be kind."}]):
        for question, told in (("Who are you?", ["You are Q."]), ("Hello", [])):
            talk: list[ChatMessage] = [*system, {"role": "user", "content": question}]
            texts = [
                each["content"] for each in introduce(talk, "Help.", "You are Q.") if each["role"] != "user"
            ]
            assert texts == ["Be kind." if system else "Help.", *told]


def test_question_for_arguments_does_not_ask_for_an_answer() -> None:
    turns = read_conversation(TALK[:-1]).build_turns(asks=False)
    assert turns == [{"role": "user", "content": "1\n2\n\nResult of add:\n3"}]


@pytest.mark.parametrize("question", ["Which tools do you have?", "你有哪些工具"])
def test_question_about_tools_brings_their_names(question: str) -> None:
    talk: list[ChatMessage] = [{"role": "user", "content": question}]
    assert build(talk, [TOOL])[0]["content"] == f"{question}\n\n(Your tools: add.)"
    assert build(talk)[0]["content"] == question


def test_time_and_place_are_named_only_to_a_question_about_them() -> None:
    preface = "This conversation began on Monday.\nThe folder you work in is called 'shop'.\n\nRhyme."
    head: list[ChatMessage] = [
        {"role": "system", "content": "Be kind."},
        {"role": "system", "content": preface},
    ]

    def read(question: str) -> str:
        return build([*head, {"role": "user", "content": question}])[0]["content"]

    assert read("Who wrote Hamlet?") == "Be kind.\n\nRhyme."
    assert read("What day is it?") == "Be kind.\n\nThis conversation began on Monday.\n\nRhyme."
    assert "'shop'" in read("What is this folder called?")


def test_data_as_content_becomes_text() -> None:
    assert build([{"role": "user", "content": {"a": [1]}}]) == [{"role": "user", "content": "a:\n- 1\n"}]


def test_picture_is_refused_clearly() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    with pytest.raises(ModelError, match=r"^local:good reads text only, but the message contains: image_url"):
        read_conversation([{"role": "user", "content": [picture]}], "local:good")


def test_chat_continues_after_a_picture_that_another_model_has_seen() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    talk: list[ChatMessage] = [
        {"role": "user", "content": [picture]},
        {"role": "user", "content": "thanks"},
    ]
    assert build(talk)[0]["content"].startswith(
        "(An attachment of type image/png was here; this model cannot read it.)"
    )
