"""The words of a message decide which short instruction a small model reads."""

import pytest

from dovetail.requesters.local.wishes import (
    asks_about_tool,
    asks_for_tools,
    asks_who,
    find_mentions,
    find_skills,
    names_tool,
    wants_form,
)


@pytest.mark.parametrize(
    "text",
    [
        "Show both in a table.",
        "Summarise notes.txt in six sentences.",
        "Tell me in one word.",
        "Put the files into a list.",
        "Write a haiku about the weather in Rome.",
        "List the files, one per line.",
        "Answer in JSON.",
        "/skill/brief Should it rain?",
        "用表格比较橡木和白蜡木",
        "用三句话解释",
    ],
)
def test_message_that_wants_another_form_than_sentences(text: str) -> None:
    assert wants_form(text)


@pytest.mark.parametrize(
    "text",
    [
        "Do we have an oak table in stock?",
        "How many coats of varnish does a table need?",
        "What does config.json say?",
        "How many rows does stock.csv have?",
        "List the files.",
        "库存里有多少把刨子",
    ],
)
def test_message_that_a_sentence_or_two_answer(text: str) -> None:
    assert not wants_form(text)


@pytest.mark.parametrize(
    "text",
    [
        "Hello, who are you?",
        "Who developed you?",
        "Which company made you?",
        "What is your name?",
        "Are you ChatGPT?",
        "What are you?",
        "Which model are you?",
        "你是谁",
        "你是哪家公司的模型",
        "你叫什么名字",
    ],
)
def test_message_that_asks_who_the_model_is(text: str) -> None:
    assert asks_who(text)


@pytest.mark.parametrize(
    "text", ["Which phone model is best?", "What data model is used in PostgreSQL?", "Who wrote Hamlet?"]
)
def test_message_that_asks_about_others(text: str) -> None:
    assert not asks_who(text)


def test_only_a_question_about_the_tools_of_the_model_brings_their_names() -> None:
    assert asks_for_tools("List your tools.")
    assert asks_for_tools("你有哪些工具")
    assert not asks_for_tools("Are our garden tools sold out?")
    assert not asks_for_tools("<skill name='x'>\nTools for this skill: your tools\n</skill>\nWhat is oak?")


def test_tools_are_wanted_by_a_verb_or_by_a_skill() -> None:
    assert names_tool("Then call researcher.", "researcher")
    assert names_tool("<skill name='x'>\nTools for this skill: a, open-url\n</skill>", "open-url")
    assert not names_tool("Have the researchers answered?", "researcher")
    assert not names_tool("Call find_facts_twice.", "find_facts")
    assert not names_tool("How do I use write_file?", "write_file")


def test_question_about_a_tool_does_not_request_it() -> None:
    assert asks_about_tool("How does write_file work?", "write_file")
    assert not asks_about_tool("Write it with write_file.", "write_file")
    assert not asks_about_tool("What is in the calendar?", "calendar")


def test_skills_are_found_by_the_names_that_messages_use() -> None:
    text = '<skill name="brief" folder="x">\nThree parts.\n</skill>\n/skill/brief. Should we?'
    assert [name for name, _ in find_skills(text)] == find_mentions(text) == ["brief"]
    assert find_mentions("see src/skill/brief and https://x/skill/y") == []
