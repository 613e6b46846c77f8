"""The unchanging beginning of a request is marked for the cache."""

import copy
import json
from typing import Any

from dovetail.requesters.anthropic.caching import SHORTEST, mark_prefixes

LONG = "x" * SHORTEST


def block(text: str = "short") -> dict[str, Any]:
    return {"type": "text", "text": text}


def make_body(text: str = LONG, messages: int = 1, tools: int = 2) -> dict[str, Any]:
    said = [
        {"role": "assistant" if place % 2 else "user", "content": [block(f"{place}"), block(f"{place}b")]}
        for place in range(messages)
    ]
    return {
        "tools": [{"name": f"tool{number}", "description": text} for number in range(tools)],
        "system": [block(text), block()],
        "messages": said,
    }


def find_marks(value: Any, path: str = "") -> dict[str, Any]:
    found = {}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        found |= {path: inner} if name == "cache_control" else find_marks(inner, f"{path}/{name}")
    return found


def test_tools_system_and_the_last_two_messages_of_the_user_are_marked() -> None:
    body = make_body(messages=5)
    mark_prefixes(body, "5m")
    marks = find_marks(body)
    assert list(marks) == ["/tools/1", "/system/1", "/messages/2/content/1", "/messages/4/content/1"]
    assert list(marks.values()) == [{"type": "ephemeral"}] * 4


def test_the_time_to_live_is_written_if_it_is_not_the_usual_one() -> None:
    body = make_body()
    mark_prefixes(body, "1h")
    assert find_marks(body)["/system/1"] == {"type": "ephemeral", "ttl": "1h"}


def test_a_system_prompt_of_the_user_that_is_plain_text_is_left_as_it_is() -> None:
    body = {**make_body(messages=3), "system": LONG}
    body["messages"][2]["content"] = LONG
    mark_prefixes(body, "5m")
    assert (body["system"], body["messages"][2]["content"]) == (LONG, LONG)
    assert list(find_marks(body)) == ["/tools/1", "/messages/0/content/1"]


def test_blocks_of_the_user_stay_without_marks() -> None:
    given = [block(LONG)]
    mark_prefixes({**make_body(), "system": given}, "5m")
    assert given == [block(LONG)]


def test_a_short_beginning_is_not_marked() -> None:
    body = make_body("short", messages=3)
    mark_prefixes(body, "5m")
    assert find_marks(body) == {}


def test_a_single_question_without_tools_is_not_marked() -> None:
    body = {"messages": [{"role": "user", "content": [block(LONG)]}]}
    mark_prefixes(body, "5m")
    assert find_marks(body) == {}


def test_marks_of_the_user_are_left_alone() -> None:
    body = make_body(messages=3)
    body["messages"][0]["content"][0]["cache_control"] = {"type": "ephemeral"}
    marked = copy.deepcopy(body)
    mark_prefixes(marked, "5m")
    assert json.dumps(marked) == json.dumps(body)
