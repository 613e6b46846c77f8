"""An assistant's message is taken apart in the order in which its provider wrote it."""

import re
from typing import Any

from dovetail.events.call import ToolCall, write_answer
from dovetail.requesters.content import build_messages
from dovetail.requesters.parts import CallIds, CallPiece, OwnPiece, TextPiece, arrange

CALLS = [ToolCall(call_id=f"c{number}", name="add", arguments='{"a": 1}') for number in range(2)]


def part(source: str, number: int, text: int = 0, calls: int = 0) -> dict[str, Any]:
    return {"source": source, "data": {"n": number}, "text": text, "calls": calls}


def test_pieces_come_in_the_order_in_which_they_were_written() -> None:
    parts = [part("a", 1), part("a", 2, text=5), part("a", 3, text=5), part("a", 4, text=5, calls=1)]
    message = write_answer("Hello, you", CALLS, parts)
    assert list(arrange(message, "a")) == [
        OwnPiece({"n": 1}),
        TextPiece("Hello"),
        OwnPiece({"n": 2}),
        OwnPiece({"n": 3}),
        CallPiece("c0", "add", {"a": 1}),
        OwnPiece({"n": 4}),
        TextPiece(", you"),
        CallPiece("c1", "add", {"a": 1}),
    ]


def test_another_provider_gets_text_and_calls_only() -> None:
    message = write_answer("Hello", CALLS, [part("a", 1, text=2)])
    pieces = [TextPiece("Hello"), CallPiece("c0", "add", {"a": 1}), CallPiece("c1", "add", {"a": 1})]
    assert list(arrange(message, "b")) == pieces
    assert "provider_parts" not in build_messages([message])[0]


def test_places_beyond_the_message_and_broken_parts_do_no_harm() -> None:
    broken: list[Any] = ["no part", {"source": "a"}, part("a", 1, text=99, calls=99), {"data": {}}]
    message = {**write_answer("Hi", CALLS[:1]), "provider_parts": broken}
    assert list(arrange(message, "a")) == [
        TextPiece("Hi"),
        CallPiece("c0", "add", {"a": 1}),
        OwnPiece({"n": 1}),
    ]


def test_an_id_that_an_api_rejects_becomes_one_that_it_accepts() -> None:
    ids = CallIds("[a-zA-Z0-9]{9}", length=9)
    foreign = ["call_1", "toolu_01A", "", "\ud83d", *(f"call_{number}" for number in range(2, 500))]
    fitted = [ids.fit(call_id) for call_id in foreign]
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", call_id) for call_id in fitted)
    assert len(set(fitted)) == len(foreign), "each has its own"
    assert [ids.fit(call_id) for call_id in foreign] == fitted, "always the same"
    assert ids.fit("abcDEF123") == "abcDEF123"
    assert re.fullmatch("[a-zA-Z0-9_-]{1,64}", CallIds().fit("b.2:c"))
