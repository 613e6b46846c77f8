"""The tree of messages, on the golden cases of trees."""

import json
from pathlib import Path
from typing import Any

import pytest

from dovetail.errors import ConflictError, NotFoundError
from dovetail.sessions.message import Message, MessageTree

CASES = json.loads((Path(__file__).parent.parent / "golden" / "tree_cases.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_tree_case(case: dict[str, Any]) -> None:
    tree = MessageTree(Message(id=name, parent_id=parent) for name, parent in case["messages"])
    for operation, message_id in case.get("steps", []):
        getattr(tree, operation)(message_id)
    assert tree.head == case["head"]
    assert [message.id for message in tree.path()] == case["path"]
    for message_id, siblings in case.get("siblings", {}).items():
        assert [message.id for message in tree.siblings(message_id)] == siblings


def test_path_to_a_message_that_is_not_the_head() -> None:
    tree = MessageTree([Message(id="a"), Message(id="b", parent_id="a"), Message(id="c", parent_id="b")])
    assert [message.id for message in tree.path("b")] == ["a", "b"]


def test_a_stored_head_is_kept_and_an_unknown_one_is_not() -> None:
    messages = [Message(id="a"), Message(id="b", parent_id="a")]
    assert MessageTree(messages, head="a").head == "a"
    assert MessageTree(messages, head="gone").head == "b"


def test_unknown_and_repeated_ids_are_named() -> None:
    tree = MessageTree([Message(id="a")])
    with pytest.raises(NotFoundError, match="'x'"):
        tree.switch("x")
    with pytest.raises(ConflictError, match="'a'"):
        tree.add(Message(id="a"))
