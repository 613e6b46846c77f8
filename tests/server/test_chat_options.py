"""The agent and options of a chat over HTTP: stored, used by its runs, refused where they are not allowed."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail.app import Dovetail
from dovetail.testing import Gate
from patience import PATIENCE
from serving import Serving, serve, serve_app, text_of

SESSION = "/api/v1/sessions/s"
OPTIONS = {
    "instructions": "Answer in rhymes.",
    "temperature": 0.3,
    "max_tokens": 200,
    "thinking": "low",
    "mode": "plan",
    "time_zone": "Asia/Tokyo",
}
PARAMETERS = {"temperature": 0.3, "max_tokens": 200, "thinking": "low"}


def system(server: Serving, request: int = -1) -> str:
    messages = server.model.requests[request].messages
    return "\n".join(str(each["content"]) for each in messages if each["role"] == "system")


async def change(server: Serving, **fields: Any) -> httpx.Response:
    return await server.client.patch(SESSION, json=fields)


async def test_a_new_chat_keeps_the_options_of_its_first_message(tmp_path: Path) -> None:
    async with serve(tmp_path, ["one", "two"]) as server:
        await server.chat("Hi", options=OPTIONS)
        await server.chat("Go on", options={"instructions": "An existing chat has its own."})
        assert (await server.get(SESSION))["options"] == OPTIONS
        for number in (0, 1):
            assert "Answer in rhymes." in system(server, number)
            assert "You are in plan mode" in system(server, number)
            assert "(Asia/Tokyo)" in system(server, number)
            assert server.model.requests[number].options == PARAMETERS


async def test_options_change_for_the_next_answer_and_for_one_that_is_made_again(tmp_path: Path) -> None:
    async with serve(tmp_path, ["one", "two", "three"]) as server:
        created = await server.client.post("/api/v1/sessions", json={"id": "s", "options": OPTIONS})
        assert (created.status_code, created.json()["options"]) == (201, OPTIONS)
        await server.chat("Hi")
        changed = await change(server, options={"temperature": 1, "thinking": None, "instructions": ""})
        assert changed.status_code == 200
        kept = {name: OPTIONS[name] for name in ("max_tokens", "mode", "time_zone")}
        assert changed.json()["options"] == {**kept, "temperature": 1}
        answer = (await server.get(SESSION))["path"][-1]["id"]
        body = {"session_id": "s", "trigger": "regenerate-message", "messageId": answer}
        assert [chunk async for chunk in server.stream("POST", "/api/v1/chat", json=body)]
        assert "Answer in rhymes." in system(server, 0)
        assert "Answer in rhymes." not in system(server)
        assert server.model.requests[-1].options == {"temperature": 1, "max_tokens": 200}
        await change(server, options=dict.fromkeys(kept, None) | {"temperature": None})
        assert (await server.get(SESSION))["options"] == {}


async def test_a_request_overrides_model_and_mode_of_its_chat_once(tmp_path: Path) -> None:
    async with serve(tmp_path, ["one", "two"], settings={"policy": {"max_mode": "auto"}}) as server:
        await server.chat("Hi", options={"mode": "plan"}, mode="auto")
        await server.chat("Hi")
        assert ["plan mode" in system(server, number) for number in (0, 1)] == [False, True]


async def test_the_agent_belongs_to_the_chat(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    for name in ("poet", "clerk"):
        text = f"---\ndescription: A {name}.\n---\nYou are a {name}.\n"
        (tmp_path / "agents" / f"{name}.md").write_text(text)
    async with serve(tmp_path, ["one", "two", "three", "four"]) as server:
        await server.chat("Hi", agent="poet")
        await server.chat("Hi")
        await change(server, agent="clerk")
        await server.chat("Hi")
        await change(server, agent=None)
        await server.chat("Hi")
        said = [system(server, number).partition("\n")[0] for number in range(4)]
        assert said[:3] == ["You are a poet.", "You are a poet.", "You are a clerk."]
        assert "clerk" not in said[3]
        refused = await change(server, agent="clark")
        assert refused.status_code == 422
        assert "Did you mean 'clerk'" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mode": "yolo"}, "the least strict mode allowed is 'auto'"),
        ({"mode": "fast"}, "plan, default, auto, yolo"),
        ({"temperature": 3}, "less than or equal to 2"),
        ({"max_tokens": 0}, "greater than or equal to 1"),
        ({"thinking": "deep"}, "'off', 'low', 'medium' or 'high'"),
        ({"time_zone": "Europe/Berlim"}, "Europe/Berlin"),
        ({"tempreature": 1}, "Did you mean 'temperature'?"),
        ({"model": "local:/etc/passwd.gguf"}, "cannot name a file by its path"),
    ],
)
async def test_wrong_options_are_refused_on_every_way_in(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    async with serve(tmp_path, ["Hello."]) as server:
        await server.client.post("/api/v1/sessions", json={"id": "s"})
        answers = [
            await change(server, options=options),
            await server.client.post("/api/v1/sessions", json={"options": options}),
            await server.client.post("/api/v1/chat", json={"message": "Hi", "options": options}),
        ]
        for answer in answers:
            assert answer.status_code == 422, answer.text
            assert said in answer.json()["error"]["message"]
        assert len((await server.get("/api/v1/sessions"))["sessions"]) == 1
        assert server.model.requests == []


async def test_an_unknown_model_is_refused_with_the_nearest_names(tmp_path: Path) -> None:
    app = Dovetail({"model": {"providers": {"openai": {"api_key": "k"}}}}, workspace=tmp_path)
    async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
        await client.post("/api/v1/sessions", json={"id": "s"})
        refused = await client.patch(SESSION, json={"options": {"model": "opnai:gpt-4.1"}})
        assert refused.status_code == 422
        assert "Did you mean 'openai'" in refused.text
        taken = await client.patch(SESSION, json={"options": {"model": "openai:gpt-4.1"}})
        assert taken.json()["options"] == {"model": "openai:gpt-4.1"}


async def test_another_owner_can_neither_read_nor_change_options(tmp_path: Path) -> None:
    settings = {"server": {"api_keys": "ann:one-key,bob:two-key"}}
    ann, bob = ({"authorization": f"Bearer {key}-key"} for key in ("one", "two"))
    async with serve(tmp_path, settings=settings) as server:
        body = {"id": "s", "options": {"instructions": "Keep it secret."}}
        assert (await server.client.post("/api/v1/sessions", json=body, headers=ann)).status_code == 201
        for wanted in ({"options": {"mode": "plan"}}, {"options": {"mode": "fast"}}, {"agent": "gone"}):
            refused = await server.client.patch(SESSION, json=wanted, headers=bob)
            assert refused.status_code == 404
        assert (await server.client.get(SESSION, headers=bob)).status_code == 404
        kept = await server.get(SESSION, headers=ann)
        assert kept["options"] == {"instructions": "Keep it secret."}


async def test_a_run_that_is_resumed_keeps_the_options_it_began_with(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, [[gate, "one"]]) as server, asyncio.timeout(PATIENCE):
        sending = asyncio.create_task(server.chat("Hi", options=OPTIONS))
        await gate.reached.async_wait()
        await change(server, options={"instructions": "Be brief.", "temperature": None, "mode": None})
        record = await server.app.runs.find_running("s")
        assert record is not None
        rebuilt = await server.app.chat.rebuild(record)  # as another process does after a crash
        gate.open()
        assert text_of(await sending) == "one"
    assert rebuilt is not None
    agent: Any = rebuilt.agent
    assert agent.mode == "plan"
    assert "Answer in rhymes." in str(agent.system)
    assert agent.loop.options == PARAMETERS


async def test_a_queued_message_is_answered_with_the_options_of_that_time(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, [[gate, "one"], "two"]) as server, asyncio.timeout(PATIENCE):
        sending = asyncio.create_task(server.chat("Hi", options=OPTIONS))
        await gate.reached.async_wait()
        run_id = (await server.get(SESSION))["run_id"]
        body = {"message": "And then?", "mode": "queue"}
        await server.client.post(f"/api/v1/runs/{run_id}/messages", json=body)
        await change(server, options={"instructions": "Be brief."})
        gate.open()
        await sending
        while len((await server.get(SESSION))["path"]) < 4:
            pass
        assert "Be brief." in system(server)


async def test_what_works_in_the_background_has_options_of_its_own(tmp_path: Path) -> None:
    async with serve(tmp_path, ["one", "two"]) as server, asyncio.timeout(PATIENCE):
        await server.chat("Hi", options=OPTIONS)
        own = {"instructions": "Count to ten."}
        body = {"message": "Work", "session_id": "s", "background": True, "options": own}
        started = (await server.client.post("/api/v1/chat", json=body)).json()
        below = f"/api/v1/sessions/{started['session_id']}"
        while (await server.get(below))["run_id"]:
            pass
        assert (await server.get(below))["options"] == own
        assert "Count to ten." in system(server)
        assert "Answer in rhymes." not in system(server)
        assert server.model.requests[-1].options == {}


async def test_an_import_keeps_the_choice_of_its_export_as_far_as_it_is_allowed_here(tmp_path: Path) -> None:
    freer = {"policy": {"max_mode": "yolo"}}
    async with serve(tmp_path / "one", ["Hello."], settings=freer) as server:
        await server.chat("Hi", options={**OPTIONS, "mode": "yolo"}, agent="master")
        exported = await server.get(f"{SESSION}/export")
    assert (exported["agent"], exported["options"]["mode"]) == ("master", "yolo")
    async with serve(tmp_path / "two") as server:
        made = await server.client.post("/api/v1/sessions/import", json=exported)
        assert made.json()["agent"] == "master"
        assert made.json()["options"] == {name: OPTIONS[name] for name in OPTIONS if name != "mode"}
        other = await server.client.post("/api/v1/sessions/import", json={**exported, "agent": "gone"})
        assert (other.status_code, other.json()["agent"]) == (201, None)
