"""The server is killed around a message to a run: a message that was accepted is answered exactly once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail.testing import Gate, ScriptedServer
from faults.world import World
from patience import PATIENCE
from postgres import make_database

pytestmark = pytest.mark.slow
STEER = "Use metres."


@asynccontextmanager
async def open_world(folder: Path, kind: str, model: ScriptedServer) -> AsyncIterator[World]:
    url = f"sqlite:///{folder / 'x.db'}" if kind == "sqlite" else await make_database()
    environment = {"DATABASE_URL": url, "DOVETAIL_MODEL": "openai:x", "DOVETAIL_BASE_URL": model.url}
    async with World(folder, environment) as world:
        await world.start()
        yield world


async def ask(world: World) -> tuple[str, "asyncio.Task[None]"]:
    """Ask a question; return its run, and a task that reads its stream until it breaks."""
    found: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def read() -> None:
        body = {"message": "How long?", "session_id": "s"}
        async for chunk in world.stream("POST", "/api/v1/chat", json=body):
            if chunk["type"] == "start":
                found.set_result(chunk["messageMetadata"]["run_id"])

    reading = asyncio.create_task(read())
    return await found, reading


async def send(world: World, run_id: str, mode: str = "steer") -> str:
    body = {"message": STEER, "mode": mode}
    response = await world.request("POST", f"/api/v1/runs/{run_id}/messages", json=body)
    assert response.status_code == 202, response.text
    return response.json()["message_id"]


async def settle(world: World) -> list[str]:
    """Wait until nothing is in progress and nothing waits; return all that was said, in order."""
    while True:
        async for _ in world.stream("GET", "/api/v1/chat/s/stream"):
            pass
        waiting = (await world.request("GET", "/api/v1/sessions/s/inbox")).json()["messages"]
        view = (await world.request("GET", "/api/v1/sessions/s")).json()
        if view["run_id"] is None and not waiting:
            return [text for message in view["path"] for part in message["parts"] for text in read_part(part)]
        await asyncio.sleep(0.05)


def read_part(part: dict[str, Any]) -> list[str]:
    if part["type"] == "data-user-message":
        return [each["text"] for each in part["data"]["parts"]]
    return [part["text"]] if part["type"] == "text" else []


def count_readings(model: ScriptedServer, text: str) -> list[int]:
    """Return how often each request holds a message of the user with this text."""
    return [
        sum(message["content"] == text for message in request.body["messages"] if message["role"] == "user")
        for request in model.requests
    ]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("mode", ["steer", "queue"])
async def test_a_message_that_was_accepted_survives_a_kill_before_it_is_taken(
    tmp_path: Path, kind: str, mode: str
) -> None:
    gate = Gate()
    replies = [{"steps": ["10 ft", gate]}, "10 ft again.", "3 m."]
    with ScriptedServer(replies) as model:
        async with open_world(tmp_path, kind, model) as world:
            run_id, reading = await ask(world)
            await gate.reached.async_wait()
            await send(world, run_id, mode)
            await world.end()
            await reading
            gate.open()
            await world.start()
            said = await settle(world)
    if mode == "queue":
        assert said == ["How long?", "10 ft again.", STEER, "3 m."]
    else:  # the broken turn is asked for again, and reads the message
        assert said == ["How long?", STEER, "10 ft again."]
    assert count_readings(model, STEER)[-1] == 1


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_message_that_was_taken_survives_a_kill_in_the_turn_that_reads_it(
    tmp_path: Path, kind: str
) -> None:
    first, second = Gate("first"), Gate("second")
    replies = [{"steps": ["10 ft", first, "."]}, {"steps": ["3", second, " m."]}, "Three metres."]
    with ScriptedServer(replies) as model:
        async with open_world(tmp_path, kind, model) as world:
            run_id, reading = await ask(world)
            await first.reached.async_wait()
            await send(world, run_id)
            first.open()
            await second.reached.async_wait()
            await world.end()
            await reading
            second.open()
            await world.start()
            said = await settle(world)
            events = [event async for event in world.stream("GET", f"/api/v1/runs/{run_id}/events")]
    assert said == ["How long?", "10 ft.", STEER, "Three metres."]
    assert [event["type"] for event in events].count("user-message") == 1
    assert count_readings(model, STEER) == [0, 1, 1]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_what_waits_behind_a_run_is_answered_once_however_often_the_server_dies(
    tmp_path: Path, kind: str
) -> None:
    gates = [Gate(str(number)) for number in range(3)]
    replies: list[Any] = [{"steps": ["One", gates[0], "."]}]
    replies += [{"steps": ["Lost", gate, "."]} for gate in gates[1:]] + ["Two.", "Three."]
    with ScriptedServer(replies) as model:
        async with open_world(tmp_path, kind, model) as world:
            run_id, reading = await ask(world)
            await gates[0].reached.async_wait()
            for _ in range(2):
                await send(world, run_id, "queue")
            gates[0].open()
            for gate in gates[1:]:  # twice in the first answer to what waited
                await gate.reached.async_wait()
                await world.end()
                gate.open()
                await world.start()
            await reading
            said = await settle(world)
    assert said == ["How long?", "One.", STEER, "Two.", STEER, "Three."]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_messages_sent_while_the_server_dies_are_accepted_or_refused(tmp_path: Path, kind: str) -> None:
    gate = Gate()
    answers = [{"when": f"m{number}", "text": f"a{number}", "repeat": True} for number in range(8)]
    replies: list[Any] = [{"when": "How long?", "steps": ["One", gate, "."]}]
    replies += [{"when": "How long?", "text": "One.", "repeat": True}, *answers]
    with ScriptedServer(replies) as model:
        async with open_world(tmp_path, kind, model) as world, httpx.AsyncClient(timeout=PATIENCE) as client:
            run_id, reading = await ask(world)
            await gate.reached.async_wait()
            accepted: list[str] = []

            async def try_to_send(number: int) -> None:
                body = {"message": f"m{number}", "mode": "queue"}
                place = f"{world.address}/api/v1/runs/{run_id}/messages"
                try:
                    response = await client.post(place, json=body)
                except httpx.TransportError:
                    return
                if response.status_code == 202:
                    accepted.append(f"m{number}")

            sending = [asyncio.create_task(try_to_send(number)) for number in range(8)]
            await asyncio.wait(sending, return_when=asyncio.FIRST_COMPLETED)
            await world.end()
            await asyncio.gather(reading, *sending)
            gate.open()
            await world.start()
            said = await settle(world)
    questions = [text for text in said if text.startswith("m")]
    assert set(accepted) <= set(questions)
    assert len(set(questions)) == len(questions)
    answered = [f"a{text[1:]}" for text in questions]
    assert [text for text in said if text.startswith("a")] == answered
