"""The messages of a prompt, rule by rule (docs/specification.md, chapter "Prompt")."""

import datetime
from typing import Any

import pytest

from dovetail.prompt import Prompt

PICTURE = {"type": "image_url", "image_url": {"url": "http://h.example/p.png"}}
NOTE = {"type": "text", "text": "a note"}


def messages(slots: dict[str, Any], /, **arguments: Any) -> list[dict[str, Any]]:
    return Prompt(slots).to_messages(**arguments)


def said(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_system_and_developer_are_messages_of_their_own_under_mapped_roles() -> None:
    slots = {"developer": "be brief", "system": {"b": 1, "a": "木"}, "input": "q"}
    assert messages(slots) == [
        said("system", "a: 木\nb: 1\n"),
        said("developer", "be brief"),
        said("user", "q"),
    ]
    assert [message["role"] for message in messages(slots, role_mapping={"developer": "system"})] == [
        "system",
        "system",
        "user",
    ]


def test_neighbours_of_one_role_are_joined_in_strict_order() -> None:
    history = [said("user", "a"), said("user", [part("b"), part("c")]), said("assistant", "d")]
    slots = {"chat_history": history, "input": "q"}
    assert messages(slots)[:-1] == [said("user", "a\n\nb\n\nc"), said("assistant", "d")]
    assert messages(slots, rich_content=True)[:-1] == [
        said("user", [part("a"), part("b"), part("c")]),
        said("assistant", [part("d")]),
    ]


def test_history_that_does_not_begin_with_the_user_gets_an_opening() -> None:
    slots = {"chat_history": [said("assistant", "hello")], "input": "q"}
    assert messages(slots)[:2] == [said("user", "[CHAT HISTORY]"), said("assistant", "hello")]
    assert messages(slots, rich_content=True)[0] == said("user", [part("[CHAT HISTORY]")])
    titled = Prompt(slots, settings={"prompt.prompt_title_mapping": {"chat_history": "BEFORE"}})
    assert titled.to_messages()[0] == said("user", "[BEFORE]")


def test_history_that_does_not_end_with_the_assistant_gets_an_ending() -> None:
    slots = {"chat_history": [said("user", "hello")], "input": "q"}
    assert messages(slots) == [
        said("user", "hello"),
        said("assistant", "[User continue input]"),
        said("user", "q"),
    ]
    assert messages(slots, rich_content=True)[1] == said("assistant", [part("[User continue input]")])


def test_without_strict_order_nothing_is_joined_or_added() -> None:
    history = [said("assistant", "a"), said("assistant", "b"), said("user", "c")]
    slots = {"chat_history": history, "input": "q"}
    for loose in (False, None):
        assert messages(slots, strict_role_orders=loose)[:-1] == history


def test_history_roles_are_mapped_with_the_fallback() -> None:
    slots = {"chat_history": [said("user", "a"), said("tool", "b")], "input": "q"}
    assert [message["role"] for message in messages(slots)] == ["user", "assistant", "user"]
    mapped = messages(slots, role_mapping={"tool": "assistant", "user": "user"}, strict_role_orders=False)
    assert [message["role"] for message in mapped] == ["user", "assistant", "user"]


def test_plain_history_keeps_text_parts_joined_by_a_blank_line() -> None:
    slots = {"chat_history": [said("user", [part("a"), PICTURE, part("b")])], "input": "q"}
    assert messages(slots)[0] == said("user", "a\n\nb")


def test_rich_history_keeps_every_part() -> None:
    slots = {"chat_history": [said("user", [part("a"), PICTURE]), said("assistant", "b")], "input": "q"}
    assert messages(slots, rich_content=True)[:2] == [
        said("user", [part("a"), PICTURE]),
        said("assistant", [part("b")]),
    ]


def test_history_stays_in_parts_when_rich_content_is_none() -> None:
    slots = {"chat_history": [said("user", "a"), said("assistant", "b")], "input": "q"}
    assert messages(slots, rich_content=None) == [
        said("user", [part("a")]),
        said("assistant", [part("b")]),
        said("user", "q"),
    ]


def test_input_alone_is_the_content_itself() -> None:
    assert messages({"input": "q"}) == [said("user", "q")]
    assert messages({"input": "q"}, rich_content=True) == [said("user", "q")]
    assert messages({"input": {"b": [1], "a": None}}) == [said("user", {"b": [1], "a": None})]
    assert messages({"input": datetime.date(2026, 1, 2)}) == [said("user", "2026-01-02")]
    assert messages({"input": "q"}, role_mapping={"user": "human"}) == [said("human", "q")]


@pytest.mark.parametrize(
    "more",
    [
        {"system": "s"},
        {"developer": "d"},
        {"examples": ["e"]},
        {"options": {"top_p": 1}},
        {"output_format": "json"},
    ],
)
def test_slots_that_do_not_leave_the_branch_of_the_input_alone(more: dict[str, Any]) -> None:
    assert messages({"input": "q", **more})[-1] == said("user", "q")


@pytest.mark.parametrize(
    "more",
    [
        {"tools": [{"name": "n", "desc": "d", "kwargs": {}}]},
        {"action_results": "r"},
        {"info": "i"},
        {"instruct": "i"},
        {"output": {"a": (str,)}},
        {"memo": "m"},
    ],
)
def test_slots_that_lead_to_the_main_prompt(more: dict[str, Any]) -> None:
    content = messages({"input": "q", **more})[-1]["content"]
    assert "[INPUT]:\nq\n" in content
    assert content.endswith("[OUTPUT]:")
    notes = messages({"attachment": [NOTE], **more})
    assert notes[0] == said("user", "a note")
    assert notes[1]["content"].endswith("[OUTPUT]:")


def test_attachment_alone_in_parts_is_one_message() -> None:
    slots = {"attachment": [NOTE, PICTURE], "system": "s", "examples": ["e"]}
    assert messages(slots, rich_content=True) == [said("system", "s"), said("user", [NOTE, PICTURE])]


def test_attachment_alone_as_text_is_a_message_for_each_text() -> None:
    slots = {"attachment": [NOTE, PICTURE, part("b")]}
    assert messages(slots) == [said("user", "a note"), said("user", "b")]


def test_main_prompt_in_parts_comes_before_the_attachment() -> None:
    slots = {"input": "q", "info": "i", "attachment": [NOTE, PICTURE]}
    text = "[INFO]:\ni\n\n[INPUT]:\nq\n\n[OUTPUT]:"
    assert messages(slots, rich_content=True) == [said("user", [part(text), NOTE, PICTURE])]
    assert messages({"input": "q", "info": "i"}, rich_content=True) == [said("user", [part(text)])]


def test_main_prompt_as_text_comes_after_the_texts_of_the_attachment() -> None:
    slots = {"input": "q", "info": "i", "attachment": [NOTE, PICTURE]}
    assert messages(slots) == [said("user", "a note"), said("user", "[INFO]:\ni\n\n[INPUT]:\nq\n\n[OUTPUT]:")]


def test_input_with_an_attachment_is_a_main_prompt() -> None:
    assert messages({"input": "q", "attachment": [NOTE]}) == [
        said("user", "a note"),
        said("user", "[INPUT]:\nq\n\n[OUTPUT]:"),
    ]


@pytest.mark.parametrize("rich", [False, True])
def test_no_message_of_the_assistant_is_added_at_the_end(rich: bool) -> None:
    for slots in ({"input": "q"}, {"info": "i"}, {"attachment": [NOTE]}):
        assert messages(slots, rich_content=rich)[-1]["role"] == "user"
