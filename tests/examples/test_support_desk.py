"""The support desk from outside: a real server, the shop's database, approvals and a browser tool."""

import asyncio
import contextlib
import os
import re
import shutil
import signal
import sqlite3
import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail.testing import ScriptedServer
from patience import PATIENCE
from postgres import make_database
from serving import Serving, serve, text_of

DESK = Path(__file__).parents[2] / "examples" / "support_desk"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A copy of the workspace, with a database of its own."""
    return shutil.copytree(DESK, tmp_path / "desk", ignore=shutil.ignore_patterns(".dovetail", "*.db*"))


def open_desk(folder: Path, *replies: Any) -> AbstractAsyncContextManager[Serving]:
    settings = tomllib.loads((folder / "dovetail.toml").read_text())
    return serve(folder, replies, settings=settings)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"call_id": f"call-{name}", "name": name, "arguments": arguments}]}


def refund(amount: float, order: str = "A-1004") -> dict[str, Any]:
    return call("refund_order", order=order, amount=amount, reason="lost")


def list_refunds(folder: Path) -> list[Any]:
    with contextlib.closing(sqlite3.connect(folder / "data" / "shop.db")) as connection:
        return connection.execute("SELECT number, amount FROM refunds").fetchall()


def send(server: Serving) -> AsyncIterator[dict[str, Any]]:
    body = {"message": "Please.", "session_id": "s", "tab_id": "t"}
    return server.stream("POST", "/api/v1/chat", json=body)


async def wait_for_ask(stream: AsyncIterator[dict[str, Any]]) -> dict[str, Any]:
    async for chunk in stream:
        if chunk["type"] == "data-ask":
            return chunk["data"]
    raise AssertionError("nothing was asked")


async def test_orders_come_from_the_database_with_a_card_for_the_page(desk: Path) -> None:
    async with open_desk(desk, call("find_orders", search="Ann Smith"), "A stool and oil.") as server:
        chunks = await server.chat("What did Ann Smith order?")
        [output] = [chunk["output"] for chunk in chunks if chunk["type"] == "tool-output-available"]
        web = (await server.get("/api/v1/extensions"))["web"]
        module = await server.client.get(next(path for path in web["orders"] if path.endswith(".js")))
    assert [(order["number"], order["item"]) for order in output] == [
        ("A-1002", "wood oil"),
        ("A-1001", "oak stool"),
    ]
    assert text_of(chunks) == "A stool and oil."
    assert 'card("find_orders"' in module.text


async def test_the_desk_has_its_own_tools_and_no_others(desk: Path) -> None:
    async with open_desk(desk, "Hello.") as server:
        await server.chat("Hello")
        offered = {spec.name for spec in server.model.requests[0].tools}
        skills = [skill["name"] for skill in (await server.get("/api/v1/skills"))["skills"]]
        rendered = await server.client.post(
            "/api/v1/prompts/order_question/render", json={"variables": {"letter": "Where is my table?"}}
        )
    assert offered - {"background_tasks"} == {
        *("find_orders", "search_help", "refund_order", "save_return_label", "letter_writer")
    }
    assert skills == ["complaint"]
    assert "Where is my table?" in rendered.json()["text"]


async def test_small_refund_needs_no_approval(desk: Path) -> None:
    async with open_desk(desk, refund(20), "Done.") as server:
        chunks = await server.chat("Refund 20 euros of A-1004.")
    assert "data-ask" not in [chunk["type"] for chunk in chunks]
    assert list_refunds(desk) == [("A-1004", 20.0)]


async def test_refund_above_the_limit_waits_for_approval_and_shows_what_it_would_do(desk: Path) -> None:
    async with open_desk(desk, refund(59), "Done.") as server:
        stream = send(server)
        ask = await wait_for_ask(stream)
        assert list_refunds(desk) == []
        preview = ask["payload"]["preview"]["text"]
        reply = await server.client.post(f"/api/v1/asks/{ask['ask_id']}", json={"approved": True})
        rest = [chunk async for chunk in stream]
    assert "Carla Rossi bought set of three chisels for 59.00 euros" in preview
    assert reply.status_code == 200
    assert text_of(rest) == "Done."
    assert list_refunds(desk) == [("A-1004", 59.0)]


async def test_declined_refund_is_not_paid_and_the_model_learns_why(desk: Path) -> None:
    async with open_desk(desk, refund(59), "It was declined.") as server:
        stream = send(server)
        ask = await wait_for_ask(stream)
        answer = {"approved": False, "reason": "the parcel was found"}
        await server.client.post(f"/api/v1/asks/{ask['ask_id']}", json=answer)
        assert text_of([chunk async for chunk in stream]) == "It was declined."
        assert "the parcel was found" in server.model.requests[-1].messages[-1]["content"]
    assert list_refunds(desk) == []


async def test_very_large_refund_is_denied_without_a_question(desk: Path) -> None:
    async with open_desk(desk, refund(4800, "A-1006"), "The manager has to do that.") as server:
        chunks = await server.chat("Refund the kitchen.")
        assert "made by the manager" in server.model.requests[-1].messages[-1]["content"]
    assert "data-ask" not in [chunk["type"] for chunk in chunks]
    assert list_refunds(desk) == []


async def test_return_label_is_saved_by_the_tab_and_acknowledged(desk: Path) -> None:
    label = call("save_return_label", order="A-1001", customer="Ann Smith")
    async with open_desk(desk, label, "It is saved.") as server:
        stream = send(server)
        ask = await wait_for_ask(stream)
        assert ask["payload"]["args"] == {"order": "A-1001", "customer": "Ann Smith"}
        body = {"toolCallId": "call-save_return_label", "status": "success", "tabId": "t"}
        acknowledged = await server.client.post(
            "/ai/tools/ack", json={**body, "output": {"file": "return-A-1001.svg"}}
        )
        rest = [chunk async for chunk in stream]
        assert "return-A-1001.svg" in server.model.requests[-1].messages[-1]["content"]
    assert acknowledged.json() == {"result": "resolved"}
    assert text_of(rest) == "It is saved."


async def test_letter_is_written_by_an_agent_of_its_own(desk: Path) -> None:
    replies = [
        {"when": "Write to Carla", **call("letter_writer", facts="Carla, parcel lost, full refund")},
        {"when": "Facts: Carla", "text": "Dear Carla, …"},
        {"when": "Dear Carla", "text": "Here it is: Dear Carla, …"},
    ]
    async with open_desk(desk, *replies) as server:
        chunks = await server.chat("Write to Carla.")
        writer = server.model.requests[1]
    assert text_of(chunks) == "Here it is: Dear Carla, …"
    assert list(writer.tools) == []


@asynccontextmanager
async def two_workers(desk: Path, **environment: str) -> AsyncIterator[str]:
    """Start the example's own program and wait for all processes; yield the address of the web process."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(desk / "two_workers.py"), "--port", "0"),
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    output = ""
    try:
        while not (found := re.search(r"http://[\d.:]+", output)) or "with 2 processes" not in output:
            line = (await process.stdout.readline()).decode()
            assert line, output
            output += line
        reading = asyncio.create_task(process.stdout.read())
        yield found[0]
        process.send_signal(signal.SIGTERM)
        output += (await reading).decode()
        assert await process.wait() == 0, output
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            await process.wait()


@pytest.mark.slow
async def test_two_workers_on_postgresql_pay_an_approved_refund_once(desk: Path) -> None:
    database = await make_database()
    headers = {"accept": "application/json"}
    with ScriptedServer([refund(59), {"when": "refunded 59.00", "text": "It is paid."}]) as model:
        environment = {"DATABASE_URL": database, "DOVETAIL_MODEL": "openai:x", "DOVETAIL_BASE_URL": model.url}
        async with (
            two_workers(desk, **environment, DOVETAIL_API_KEY="none") as address,
            httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client,
        ):
            body = {"message": "Refund A-1004.", "session_id": "s"}
            answer = asyncio.create_task(client.post("/api/v1/chat", json=body, headers=headers))
            async with client.stream("GET", "/api/v1/feed", timeout=PATIENCE) as feed:
                async for line in feed.aiter_lines():
                    asks = (await client.get("/api/v1/asks")).json()["asks"] if line else []
                    if asks:
                        break
            processes = (await client.get("/api/v1/workers")).json()["processes"]
            reply = await client.post(f"/api/v1/asks/{asks[0]['ask_id']}", json={"approved": True})
            assert reply.status_code == 200
            assert (await answer).json()["response"] == "It is paid."
    assert sorted(process["role"] for process in processes) == ["web", "worker", "worker"]
    assert list_refunds(desk) == [("A-1004", 59.0)]
