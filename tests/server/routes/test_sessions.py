"""Sessions over HTTP: rename, search, switch, delete a branch, and two who change the same one."""

import asyncio
from pathlib import Path
from typing import Any

from dovetail.testing import Gate
from patience import PATIENCE
from serving import Serving, serve

SESSION = "/api/v1/sessions/s"


async def view(server: Serving) -> dict[str, Any]:
    return await server.get(SESSION)


def texts(view: dict[str, Any]) -> list[str]:
    return [message["parts"][-1]["text"] for message in view["path"]]


async def test_view_shows_the_newest_messages_the_ones_before_them_and_all_since_one(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        path = await fill(server, 12)

        async def show(query: str) -> tuple[int, list[str]]:
            found = await server.get(f"{path}?{query}")
            return found["older"], [message["id"] for message in found["path"]]

        assert await show("") == (0, [f"m{number}" for number in range(12)])
        assert await show("limit=3") == (9, ["m9", "m10", "m11"])
        assert await show("limit=3&before=m9") == (6, ["m6", "m7", "m8"])
        assert await show("limit=3&before=m2") == (0, ["m0", "m1"])
        assert await show("limit=3&since=m8") == (8, ["m8", "m9", "m10", "m11"])
        assert await show("limit=3&since=m11") == (9, ["m9", "m10", "m11"])
        assert await show("since=m10") == (10, ["m10", "m11"])
        assert await show("limit=2&since=gone") == (10, ["m10", "m11"])


async def test_part_of_a_view_knows_the_siblings_of_its_messages(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        path = await fill(server, 4, {"id": "other", "parent_id": "m2", "role": "assistant"})
        (shown,) = (await server.get(f"{path}?limit=1"))["path"]
        assert shown["id"] == "other"
        assert shown["siblings"] == {"index": 1, "total": 2, "previous": "m3", "next": None}


async def test_view_since_a_message_far_back_has_all_that_follow_it(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        path = await fill(server, 900)
        found = await server.get(f"{path}?limit=40&since=m7")
        assert [message["id"] for message in found["path"]] == [f"m{number}" for number in range(7, 900)]
        assert found["path"][0]["parts"] == [{"type": "text", "text": "message 7"}]


async def fill(server: Serving, count: int, *more: dict[str, Any]) -> str:
    messages = [
        {
            "id": f"m{number}",
            "parent_id": f"m{number - 1}" if number else None,
            "role": "assistant" if number % 2 else "user",
            "parts": [{"type": "text", "text": f"message {number}"}],
        }
        for number in range(count)
    ]
    sent = {"title": "Long", "messages": [*messages, *more]}
    answer = await server.client.post("/api/v1/sessions/import", json=sent)
    assert answer.status_code == 201, answer.text
    return f"/api/v1/sessions/{answer.json()['id']}"


async def test_of_two_changes_to_the_same_version_one_is_rejected(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello."]) as server:
        await server.chat("Hi")
        version = (await view(server))["version"]
        answers = await asyncio.gather(
            *(
                server.client.patch(SESSION, json={"title": f"Title {number}", "version": version})
                for number in range(8)
            )
        )
        assert sorted(answer.status_code for answer in answers) == [200, *[409] * 7]
        refused = next(answer for answer in answers if answer.status_code == 409)
        assert f"version {version + 1}, not {version}" in refused.json()["error"]["message"]
        winner = next(answer.json() for answer in answers if answer.status_code == 200)
        after = await view(server)
        assert (after["title"], after["version"]) == (winner["title"], version + 1)


async def test_two_messages_at_once_get_one_answer_and_one_refusal_that_names_the_run(tmp_path: Path) -> None:
    gate = Gate()
    plain = {"accept": "application/json"}
    async with serve(tmp_path, [[gate, "Hello."], "Again."]) as server, asyncio.timeout(PATIENCE):
        sending = [
            asyncio.create_task(
                server.client.post("/api/v1/chat", json={"message": text, "session_id": "s"}, headers=plain)
            )
            for text in ("one", "two")
        ]
        await gate.reached.async_wait()
        (refused,), _ = await asyncio.wait(sending, return_when=asyncio.FIRST_COMPLETED)
        answer = refused.result()
        assert answer.status_code == 409
        assert (await view(server))["run_id"] in answer.json()["error"]["message"]
        gate.open()
        statuses = sorted([(await task).status_code for task in sending])
        assert statuses == [200, 409]
        assert len((await view(server))["path"]) == 2


async def test_a_branch_is_left_switched_to_and_deleted(tmp_path: Path) -> None:
    async with serve(tmp_path, ["one", "two", "three"]) as server:
        await server.chat("First")
        await server.chat("Second")
        first_answer = (await view(server))["path"][1]["id"]
        await server.chat("Other", parent_id=first_answer)
        after = await view(server)
        assert texts(after) == ["First", "one", "Other", "three"]
        assert (after["path"][2]["siblings"]["index"], after["path"][2]["siblings"]["total"]) == (1, 2)
        other, second = after["path"][2]["id"], after["path"][2]["siblings"]["previous"]
        await server.client.patch(SESSION, json={"head": second})
        assert texts(await view(server)) == ["First", "one", "Second", "two"]
        assert (await server.client.delete(f"{SESSION}/messages/{second}")).status_code == 200
        assert texts(await view(server)) == ["First", "one", "Other", "three"]
        page = await server.get(f"{SESSION}/messages?limit=2")
        rest = await server.get(f"{SESSION}/messages?cursor={page['cursor']}")
        assert [message["parent_id"] for message in page["messages"] + rest["messages"]] == [
            None,
            page["messages"][0]["id"],
            first_answer,
            other,
        ]


async def test_titles_are_made_changed_and_searched_with_the_texts(tmp_path: Path) -> None:
    async with serve(tmp_path, ["A lighthouse keeper."] * 2) as server:
        await server.chat("Who lives there?", session_id="s")
        await server.chat("Something else", session_id="t")
        assert (await view(server))["title"] == "Who lives there?"
        await server.client.patch(SESSION, json={"title": "Harbour"})
        for query, found in (("harbour", ["s"]), ("KEEPER", ["t", "s"]), ("nothing", [])):
            listed = await server.get(f"/api/v1/sessions?q={query}")
            assert sorted(session["id"] for session in listed["sessions"]) == sorted(found)
        first = await server.get("/api/v1/sessions?limit=1")
        second = await server.get("/api/v1/sessions", params={"limit": 1, "cursor": first["cursor"]})
        assert {first["sessions"][0]["id"], second["sessions"][0]["id"]} == {"s", "t"}


async def test_what_is_being_answered_is_not_deleted_from_under_its_answer(tmp_path: Path) -> None:
    gate = Gate()
    async with serve(tmp_path, ["One.", ["Two", gate, "."]]) as server:
        await server.chat("First")
        first = (await view(server))["path"]
        refused: list[int] = []
        async for chunk in server.stream(
            "POST", "/api/v1/chat", json={"message": "Again", "session_id": "s"}
        ):
            if chunk["type"] == "text-delta" and not refused:
                for message in first:
                    response = await server.client.delete(f"{SESSION}/messages/{message['id']}")
                    refused.append(response.status_code)
                    assert "is being answered by run 'run_" in response.json()["error"]["message"]
                gate.open()
        exported = await server.get(f"{SESSION}/export")
        imported = await server.client.post("/api/v1/sessions/import", json=exported)
        deleted = await server.client.delete(f"{SESSION}/messages/{first[0]['id']}")
    assert refused == [409, 409]
    assert imported.status_code == 201
    assert (deleted.status_code, deleted.json()["head"]) == (200, None)


async def test_a_session_that_does_not_exist_yet_is_empty_if_that_is_asked_for(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Hello."]) as server:
        empty = await server.get(f"{SESSION}?missing=empty")
        assert (empty["id"], empty["version"], empty["path"], empty["run_id"]) == ("s", 0, [], None)
        assert (await server.client.get(SESSION)).status_code == 404
        await server.chat("Hi")
        there = await server.get(f"{SESSION}?missing=empty")
        assert (there, texts(there)) == (await view(server), ["Hi", "Hello."])
        assert empty.keys() == there.keys()
