"""Coming back after a crash with the number of an event that was never stored.

Numbers leap where a run is taken up again. A reader of the journal learns what to drop; one of the chat
stream, whose protocol has no words for that, gets the answer from its start.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from dovetail.runs.store import LEAP
from dovetail.sessions.parts import fold_parts
from dovetail.testing import Gate
from faults.checks import read_entry
from patience import PATIENCE
from serving import Serving, serve, text_of

Seen = list[dict[str, Any]]


async def crash(folder: Path) -> Seen:
    """The events that a run stored before its server went away in the middle of a sentence."""
    body = {"message": "Count.", "session_id": "s", "tab_id": "t"}
    async with serve(folder, [["one ", "two", Gate()]]) as server, asyncio.timeout(PATIENCE):
        chunks: Seen = []
        async for chunk in server.stream("POST", "/api/v1/chat", json=body):
            chunks.append(chunk)
            if text_of(chunks) == "one two":
                break
        run_id = chunks[0]["messageMetadata"]["run_id"]
        stored = await server.app.runs.history(run_id)
    return [entry.to_dict() for entry in stored]


class NextLife:
    """The server after the crash, whose run waits in the middle of its new sentence."""

    def __init__(self, server: Serving, gate: Gate) -> None:
        self._server = server
        self._gate = gate

    async def get_session(self) -> Any:
        """The session as it is stored."""
        return await self._server.get("/api/v1/sessions/s")

    async def read(self, path: str, **options: Any) -> Seen:
        """Read a stream to its end; the run continues when the reader has caught up with it."""
        seen: Seen = []
        async with asyncio.timeout(PATIENCE):
            async for event in self._server.stream("GET", path, **options):
                seen.append(event)
                if "One, " in "".join(event.get("delta", "") for event in seen):
                    self._gate.open()
        return seen


@asynccontextmanager
async def next_life(folder: Path) -> AsyncIterator[NextLife]:
    gate = Gate()
    async with serve(folder, [["One, ", gate, "two, three."]]) as server:
        yield NextLife(server, gate)


def come_back(number: int) -> dict[str, Any]:
    return {"path": "/api/v1/chat/s/stream", "headers": {"last-event-id": str(number)}}


@pytest.mark.parametrize("beyond", [1, 1000, LEAP, 10 * LEAP, 2**31, 10**400])
async def test_a_chat_stream_after_a_number_that_is_void_starts_again(tmp_path: Path, beyond: int) -> None:
    stored = await crash(tmp_path)
    async with next_life(tmp_path) as life:
        seen = await life.read(**come_back(stored[-1]["number"] + beyond))
    types = [chunk["type"] for chunk in seen]
    assert types[0] == "start"
    begun_anew = types.index("reset-step") + 1
    assert text_of(seen[:begun_anew]) == "one two"
    assert text_of(seen[begun_anew:]) == "One, two, three."


async def test_a_chat_stream_after_a_number_that_was_stored_continues(tmp_path: Path) -> None:
    stored = await crash(tmp_path)
    async with next_life(tmp_path) as life:
        seen = await life.read(**come_back(stored[-1]["number"]))
    assert [chunk["type"] for chunk in seen][:2] == ["reset-step", "text-start"]
    assert text_of(seen) == "One, two, three."


async def test_a_chat_stream_after_a_number_inside_a_stored_stretch_gets_its_rest(
    tmp_path: Path,
) -> None:
    stored = await crash(tmp_path)
    assert [event["delta"] for event in stored if event["type"] == "text-delta"] == ["one two"]
    async with next_life(tmp_path) as life:
        seen = await life.read(**come_back(stored[-1]["number"] - 1))
    types = [chunk["type"] for chunk in seen]
    assert text_of(seen[: types.index("reset-step")]) == "two"


@pytest.mark.parametrize("beyond", [0, 1, 1000, LEAP])
async def test_a_journal_says_what_to_forget_and_none_is_lost_or_double(tmp_path: Path, beyond: int) -> None:
    stored = await crash(tmp_path)
    last, run_id = stored[-1]["number"], stored[0]["run_id"]
    async with next_life(tmp_path) as life:
        seen = await life.read(f"/api/v1/runs/{run_id}/events?after={last + beyond}")
        answer = (await life.get_session())["path"][-1]
    assert (seen[0]["type"], seen[0]["after"]) == ("run-resume", last)
    known = stored + seen
    numbers = [event["number"] for event in known]
    assert numbers == sorted(set(numbers))
    assert fold_parts(map(read_entry, known)) == answer["parts"]
