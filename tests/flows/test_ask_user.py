"""A question of an agent is stored like an approval: it survives restarts, and has one answer."""

from pathlib import Path
from typing import Any

from serving import Serving, serve

QUESTIONS = {"questions": [{"question": "Which wood?", "choices": ["Oak", "Ash"]}]}
ASKING = {"tool_calls": [{"call_id": "c1", "name": "ask_user", "arguments": QUESTIONS}]}
BODY = {"message": "Build a table", "session_id": "s", "tab_id": "t"}


async def begin(server: Serving) -> dict[str, Any]:
    """The question of a chat that has just begun."""
    stream = server.stream("POST", "/api/v1/chat", json=BODY)
    async for chunk in stream:
        if chunk["type"] == "data-ask":
            await stream.aclose()
            return chunk["data"]
    raise AssertionError("nothing was asked")


async def read_end(server: Serving, run_id: str) -> dict[str, Any]:
    return [event async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events")][-1]


async def test_a_question_survives_a_restart_and_its_answer_continues_the_run(tmp_path: Path) -> None:
    async with serve(tmp_path, [ASKING]) as server:
        asked = await begin(server)
    async with serve(tmp_path, [{"when": "→ Ash", "text": "Ash it is."}]) as server:
        [ask] = (await server.get("/api/v1/asks"))["asks"]
        assert (ask["id"], ask["kind"], ask["session_id"]) == (asked["ask_id"], "question", "s")
        address = f"/api/v1/asks/{ask['id']}"
        answer = {"value": {"answers": {"q1": "Ash"}}}
        assert (await server.client.post(address, json=answer)).status_code == 200
        assert (await server.client.post(address, json=answer)).status_code == 409
        end = await read_end(server, asked["run_id"])
        view = await server.get("/api/v1/sessions/s")
    assert (end["reason"], end["result"]) == ("goal", "Ash it is.")
    [part] = [part for part in view["path"][-1]["parts"] if part.get("toolName") == "ask_user"]
    assert part["output"] == {"answers": [{"question": "Which wood?", "answer": "Ash"}]}


async def test_an_answer_to_another_question_is_refused(tmp_path: Path) -> None:
    async with serve(tmp_path, [ASKING, "Then oak."]) as server:
        address = f"/api/v1/asks/{(await begin(server))['ask_id']}"
        for value, text in [
            ("Ash", "requires `value.answers`"),
            ({"answers": {"q2": "Ash"}}, "has no question 'q2'"),
            ({"answers": {"q1": 3}}, "must be a text or a list of texts"),
        ]:
            response = await server.client.post(address, json={"value": value})
            assert response.status_code == 422
            assert text in response.text
        assert (await server.client.post(address, json={"approved": False})).status_code == 200


async def test_a_question_of_a_task_of_a_task_names_all_sessions_above_it(tmp_path: Path) -> None:
    replies = ["Hello.", {"when": "first", "text": "Working."}, {"when": "second", **ASKING}, "Done."]
    async with serve(tmp_path, replies) as server:
        await server.chat("Hi", "s")
        below = {"message": "first", "session_id": "s", "background": True}
        task = (await server.client.post("/api/v1/chat", json=below)).json()
        await read_end(server, task["run_id"])
        deeper = {"message": "second", "session_id": task["session_id"], "background": True}
        deep = (await server.client.post("/api/v1/chat", json=deeper)).json()
        async for event in server.stream("GET", f"/api/v1/runs/{deep['run_id']}/events"):
            if event["type"] == "ask-request":
                break
        [ask] = (await server.get("/api/v1/asks"))["asks"]
        await server.client.post(f"/api/v1/asks/{ask['id']}", json={"approved": False})
        await read_end(server, deep["run_id"])
    assert (ask["session_id"], ask["ancestors"]) == (deep["session_id"], ["s", task["session_id"]])


async def test_programs_without_a_person_get_a_clear_result(tmp_path: Path) -> None:
    async with serve(tmp_path, [ASKING, {"when": "The user cannot be asked here", "text": "Oak."}]) as server:
        body = {"model": "master", "messages": [{"role": "user", "content": "Build a table"}]}
        response = await server.client.post("/v1/chat/completions", json=body)
    assert response.json()["choices"][0]["message"]["content"] == "Oak."
