"""What a session keeps of an answer."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dovetail.events.model_events import ToolInputEnd
from dovetail.events.run_events import AskAnswer, AskRequest, Entry, Event, ToolEnd, ToolStart
from dovetail.server.streams.ai_sdk import AiSdkEncoder
from dovetail.sessions.chunks import Chunk, ChunkEncoder
from dovetail.sessions.message import Part
from dovetail.sessions.parts import PartsFold, fold_parts
from journals import LONG_RUN, TOOLS, journals

GOLDEN = Path(__file__).parents[1] / "golden" / "chat" / "parts.json"
CALL = ToolInputEnd("call", "write_note", {"name": "secrets"})


def fold_call(*events: Event) -> dict[str, Any]:
    entries = [Entry(number, "run", ("run",), 0.0, event) for number, event in enumerate((CALL, *events))]
    return dict(fold_parts(entries)[-1])


def read_stream(entries: Sequence[Entry], after: int = 0, until: int | None = None) -> list[Chunk]:
    """Return the chunks that a client reads which joins after an entry and leaves after another."""
    encoder = AiSdkEncoder(ChunkEncoder(describe=lambda name: TOOLS.get(name, {})))
    encoder.encode(entries[:after])
    lines = encoder.encode(entries[after:until]).decode().split("\n")
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def shown(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return parts without the details of calls, which a stream has from the tools and not from the run."""
    return [
        {name: value for name, value in part.items() if name not in ("title", "toolMetadata")}
        for part in parts
    ]


@given(journal=journals(), data=st.data())
def test_a_page_that_joins_again_anywhere_shows_what_is_stored(
    journal: list[Entry], data: st.DataObject
) -> None:
    places = st.integers(min_value=0, max_value=len(journal))
    cuts = sorted(data.draw(st.lists(places, max_size=4)))
    fold = PartsFold()
    for after, until in zip([0, *cuts], [*cuts, len(journal)], strict=True):
        for chunk in read_stream(journal, after, until):
            fold.take(chunk)
    assert shown(fold.finish()) == shown(fold_parts(journal))


@given(journal=journals(), data=st.data())
def test_a_run_that_is_stopped_anywhere_is_stored_as_it_is_shown(
    journal: list[Entry], data: st.DataObject
) -> None:
    seen = journal[: data.draw(st.integers(min_value=1, max_value=len(journal)))]
    fold = PartsFold()
    for chunk in read_stream(seen):
        fold.take(chunk)
    assert shown(fold.finish()) == shown(fold_parts(seen))


def test_a_long_run_is_stored_byte_by_byte_as_it_was() -> None:
    stored = json.dumps(fold_parts(LONG_RUN), ensure_ascii=False, indent=1)
    assert f"{stored}\n" == GOLDEN.read_text(encoding="utf-8")


def test_a_call_that_was_declined_keeps_the_title_under_which_it_was_asked_about() -> None:
    question = AskRequest("ask", "approval", "call", {"tool": "write_note", "title": "Write a note"})
    declined = fold_call(question, AskAnswer("ask", {"approved": False}))
    assert declined["title"] == "Write a note"
    assert declined["approval"] == {"id": "ask", "approved": False}


def test_a_call_that_was_declined_keeps_its_kind() -> None:
    question = AskRequest("ask", "approval", "call", {"tool": "write_note", "kind": "write"})
    answer = AskAnswer("ask", {"approved": False, "reason": "Not today."})
    declined = fold_call(question, answer, ToolEnd("call", "denied", None))
    assert declined["toolMetadata"]["kind"] == "write"
    assert declined["approval"]["reason"] == "Not today."


def test_the_page_of_a_declined_call_learns_its_kind_with_the_end() -> None:
    events = (CALL, ToolEnd("call", "denied", None))
    encoder = ChunkEncoder(describe=lambda _: {"kind": "write"})
    chunks = [chunk for event in events for chunk in encoder.encode(Entry(1, "run", ("run",), 0.0, event))]
    assert [chunk["toolMetadata"]["kind"] for chunk in chunks if "toolMetadata" in chunk] == [
        "write",
        "write",
    ]


def test_a_question_without_a_title_takes_none_away() -> None:
    begun = ToolStart("call", "write", "Write a note")
    assert fold_call(begun, AskRequest("ask", "approval", "call", {}))["title"] == "Write a note"
