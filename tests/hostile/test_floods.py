"""A request with countless pieces is refused at once, in words, and nothing of it is stored."""

from pathlib import Path
from typing import Any

import pytest

from dovetail.server.schemas import MOST_MESSAGES, MOST_PARTS
from serving import serve

TEXT = {"type": "text", "text": "x"}
MANY = [TEXT] * 20_000
SAID = {"role": "user", "content": "Hello."}
REFUSED: dict[str, tuple[str, Any, str]] = {
    "parts of a chat": (
        "/api/v1/chat",
        {"id": "s", "messages": [{"role": "user", "parts": MANY}]},
        f"at most {MOST_PARTS} are allowed",
    ),
    "messages of a chat": (
        "/api/v1/chat",
        {"id": "s", "messages": [{"role": "user", "parts": [TEXT]}] * (MOST_MESSAGES + 1)},
        f"at most {MOST_MESSAGES} items",
    ),
    "messages of a completion": (
        "/v1/chat/completions",
        {"model": "master", "messages": [SAID] * 100_000},
        f"at most {MOST_MESSAGES} items",
    ),
    "parts of a completion": (
        "/v1/chat/completions",
        {"model": "master", "messages": [{"role": "user", "content": MANY}]},
        f"at most {MOST_PARTS} are allowed",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_request_of_countless_pieces_is_refused_at_once(tmp_path: Path, name: str) -> None:
    path, body, reason = REFUSED[name]
    async with serve(tmp_path, ["Hello."]) as server:
        response = await server.client.post(path, json=body)
        assert response.status_code in (400, 422)
        assert reason in response.text
        assert len(response.text) < 2000
        assert (await server.get("/api/v1/runs"))["runs"] == []
        assert (await server.get("/api/v1/sessions"))["sessions"] == []
    assert server.model.requests == []


async def test_a_message_to_a_run_has_a_limited_number_of_parts(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        response = await server.client.post("/api/v1/runs/none/messages", json={"parts": MANY})
    assert response.status_code == 422
    assert f"at most {MOST_PARTS} are allowed" in response.text
