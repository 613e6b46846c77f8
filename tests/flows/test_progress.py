"""While a model is on its way or reads, its readers see how far it is; nothing of it is stored."""

from pathlib import Path
from typing import Any

from dovetail import Agent
from dovetail.events.delta import ProgressDelta
from dovetail.events.model_events import ModelProgress
from dovetail.testing import Gate, ScriptedRequester
from serving import serve, text_of, types_of

ARRIVING = {"phase": "download", "done": 52, "total": 100}
READING = {"phase": "read", "done": 360, "total": 900}


def is_progress(chunk: dict[str, Any]) -> bool:
    return chunk["type"] == "data-model-progress"


async def test_a_chat_shows_how_far_its_model_is_before_the_answer(tmp_path: Path) -> None:
    arrived, read = Gate("arrived"), Gate("read")
    steps = [{"progress": ARRIVING}, arrived, {"progress": READING}, read, "Oak."]
    seen: list[Any] = []
    async with serve(tmp_path, [{"steps": steps}]) as server:
        body = {"message": "A wood?", "session_id": "s", "tab_id": "t"}
        chunks: list[dict[str, Any]] = []
        async for chunk in server.stream("POST", "/api/v1/chat", json=body):
            chunks.append(chunk)
            if is_progress(chunk):
                assert chunk["transient"] is True
                seen.append(chunk["data"])
                [arrived, read][len(seen) - 1].open()
        assert seen == [ARRIVING, READING]
        assert text_of(chunks) == "Oak."
        assert types_of(chunks)[:4] == ["start", "data-model-progress", "start-step", "text-start"]
        run_id = chunks[0]["messageMetadata"]["run_id"]
        stored = [event async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
        assert "model-progress" not in types_of(stored)
        assert [event["number"] for event in stored] == list(range(1, len(stored) + 1))
        [_, answer] = (await server.get("/api/v1/sessions/s"))["path"]
        assert [part["type"] for part in answer["parts"]] == ["step-start", "text"]


async def test_a_reader_that_comes_later_sees_it_as_well(tmp_path: Path) -> None:
    read = Gate("read")
    async with serve(tmp_path, [{"steps": [{"progress": READING}, read, "Oak."]}]) as server:
        body = {"message": "A wood?", "session_id": "s", "tab_id": "t"}
        async for chunk in server.stream("POST", "/api/v1/chat", json=body):
            if is_progress(chunk):
                break
        run_id = (await server.get("/api/v1/sessions/s"))["run_id"]
        found = list[dict[str, Any]]()
        async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events"):
            if event["type"] == "model-progress":
                found.append(event)
                read.open()
        assert [{name: event[name] for name in READING} for event in found] == [READING]


def test_a_program_sees_it_in_the_stream_of_a_run_and_not_in_an_answer() -> None:
    reading = ProgressDelta("read", 360, 900)
    model = ScriptedRequester([[reading, "Oak."], [reading, "Oak."], [reading, "Oak."]])
    agent = Agent(requester=model)
    events = list(agent.run_stream("A wood?"))
    assert [event for event in events if isinstance(event, ModelProgress)] == [
        ModelProgress("read", 360, 900)
    ]
    assert agent.input("A wood?").start() == "Oak."
    deltas = list(agent.input("A wood?").get_generator("original"))
    assert not [delta for delta in deltas if isinstance(delta, ProgressDelta)]
