"""A model that never ends its answer costs a server no more than a long answer does."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import httpx

from dovetail.app import Dovetail
from endless import chat, serve_endless
from patience import PATIENCE
from serving import serve_app

LIMIT = 200_000


def count_stored(path: Path) -> int:
    """Return the characters of all values in a database."""
    connection = sqlite3.connect(path)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    rows = [row for table in tables for row in connection.execute(f'SELECT * FROM "{table}"')]
    connection.close()
    return sum(len(value) for row in rows for value in row if isinstance(value, str | bytes))


async def test_an_endless_answer_ends_by_itself_and_is_stored_twice(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    async with serve_endless(b"", chat(content="All work and no play. ")) as model:
        settings: dict[str, Any] = {
            "model": {"name": "openai:m", "base_url": model.url, "api_key": "none"},
            "store": {"url": f"sqlite:///{path}"},
            "limits": {"answer": {"text": LIMIT}},
        }
        app = Dovetail(workspace=tmp_path, settings=settings)
        async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
            asked = {"message": "Go.", "session_id": "s"}
            answer = await client.post("/api/v1/chat", json=asked)
            assert answer.status_code == 200, answer.text
            session = (await client.get("/api/v1/sessions/s/messages")).json()
            run_id = session["messages"][-1]["metadata"]["run_id"]
            run = (await client.get(f"/api/v1/runs/{run_id}")).json()
            ended = (await client.get(f"/api/v1/runs/{run_id}/events")).text
            tree = await app.sessions.tree(await app.sessions.get("s"))
        async with asyncio.timeout(PATIENCE):
            await model.closed.wait()
    message = session["messages"][-1]
    texts = [part["text"] for part in message["parts"] if part["type"] == "text"]
    assert [len(text) for text in texts] == [LIMIT]
    assert message["metadata"]["cut"] == "length"
    assert "Raise limits.answer.text" in message["metadata"]["notice"]
    assert run["result"] == texts[0]
    assert ended.count(texts[0]) >= 1
    assert [each["content"] for each in tree.path()[-1].content] == texts  # for the next request
    # In the journal and in the message.
    assert 2 * LIMIT < count_stored(path) < 2.2 * LIMIT
