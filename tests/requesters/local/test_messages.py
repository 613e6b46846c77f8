"""A conversation reaches an embedded model as plain texts."""

import pytest

from dovetail.errors import ModelError
from dovetail.events.call import ToolSpec
from dovetail.requesters.local.messages import begin_answer, build_texts

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
    begun = begin_answer(build_texts(TALK[:-1], [TOOL]), TALK[:-1])
    whole = build_texts(TALK, [TOOL])
    assert begun[:-1] == whole[:-1]
    assert whole[-1]["content"] == begun[-1]["content"] + "It is 3."


def test_beginning_stays_the_same_when_the_conversation_grows() -> None:
    for length in range(2, len(TALK) - 1):
        assert build_texts(TALK[:length], [TOOL]) == build_texts(TALK, [TOOL])[: length - 1]


def test_data_as_content_becomes_text() -> None:
    assert build_texts([{"role": "user", "content": {"a": [1]}}], []) == [
        {"role": "user", "content": "a:\n- 1\n"}
    ]


def test_picture_is_refused_clearly() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    with pytest.raises(ModelError, match="read text only, and a message holds: image_url"):
        build_texts([{"role": "user", "content": [picture]}], [])
