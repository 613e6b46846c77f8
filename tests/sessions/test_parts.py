"""What a session keeps of an answer."""

import json
from pathlib import Path
from typing import Any

from dovetail.events.model_events import ToolInputEnd
from dovetail.events.run_events import AskAnswer, AskRequest, Entry, Event, ToolStart
from dovetail.sessions.parts import fold_parts
from journals import LONG_RUN

GOLDEN = Path(__file__).parents[1] / "golden" / "chat" / "parts.json"

CALL = ToolInputEnd("call", "write_note", {"name": "secrets"})


def fold_call(*events: Event) -> dict[str, Any]:
    entries = [Entry(number, "run", ("run",), 0.0, event) for number, event in enumerate((CALL, *events))]
    return dict(fold_parts(entries)[-1])


def test_a_long_run_is_stored_byte_by_byte_as_it_was() -> None:
    stored = json.dumps(fold_parts(LONG_RUN), ensure_ascii=False, indent=1)
    assert f"{stored}\n" == GOLDEN.read_text(encoding="utf-8")


def test_a_call_that_was_declined_keeps_the_title_under_which_it_was_asked_about() -> None:
    question = AskRequest("ask", "approval", "call", {"tool": "write_note", "title": "Write a note"})
    declined = fold_call(question, AskAnswer("ask", {"approved": False}))
    assert declined["title"] == "Write a note"
    assert declined["approval"] == {"id": "ask", "approved": False}


def test_a_question_without_a_title_takes_none_away() -> None:
    begun = ToolStart("call", "write", "Write a note")
    assert fold_call(begun, AskRequest("ask", "approval", "call", {}))["title"] == "Write a note"
