"""Files in a user's message over HTTP: they reach the model, and are there when the chat is opened again."""

import base64
from pathlib import Path
from typing import Any

import pytest

from dovetail.server.middleware.body_limit import LARGEST_BODY
from dovetail.sessions.request import LONGEST_TEXT
from serving import serve


def file(name: str, media_type: str, data: bytes) -> dict[str, Any]:
    url = f"data:{media_type};base64,{base64.b64encode(data).decode()}"
    return {"type": "file", "filename": name, "mediaType": media_type, "url": url}


PICTURE = file("joint.png", "image/png", b"\x89PNG\r\n\x1a\n\0")
PAPER = file("plan.pdf", "application/pdf", b"%PDF-1.7\n\0\xff")


def said(*parts: dict[str, Any]) -> dict[str, Any]:
    text = {"type": "text", "text": "What is this?"}
    return {"id": "s", "messages": [{"id": "m1", "role": "user", "parts": [text, *parts]}]}


async def test_files_reach_the_model_and_survive_a_reload(tmp_path: Path) -> None:
    async with serve(tmp_path, ["A joint.", "A plan."]) as server:
        await server.client.post("/api/v1/chat", json=said(PICTURE, PAPER))
        view = await server.get("/api/v1/sessions/s")
        await server.chat("And what else?")
    assert view["path"][0]["parts"][1:] == [PICTURE, PAPER]
    for request in server.model.requests:  # the next turn reads them, too
        content = next(each["content"] for each in request.messages if each["role"] == "user")
        assert content[1] == {"type": "image_url", "image_url": {"url": PICTURE["url"]}}
        assert (content[2]["type"], content[2]["filename"]) == ("file", "plan.pdf")


@pytest.mark.parametrize("media_type", ["text/csv", "application/octet-stream", "application/json"])
async def test_a_text_file_is_read_as_text(tmp_path: Path, media_type: str) -> None:
    async with serve(tmp_path, ["Two cuts."]) as server:
        await server.client.post(
            "/api/v1/chat", json=said(file("cuts.csv", media_type, "Länge\n2\n".encode()))
        )
    content = server.model.requests[0].messages[-1]["content"]
    assert '<file name="cuts.csv">\nLänge\n2\n\n</file>' in content


@pytest.mark.parametrize("media_type", ["application/pdf", "audio/wav", "video/mp4", "application/zip"])
async def test_a_file_of_another_type_is_never_read_as_text(tmp_path: Path, media_type: str) -> None:
    async with serve(tmp_path, ["A file."]) as server:
        await server.client.post("/api/v1/chat", json=said(file("a.bin", media_type, b"%PDF-1.4\n%%EOF")))
    piece = server.model.requests[0].messages[-1]["content"][1]
    assert (piece["type"], piece["media_type"]) == ("file", media_type)


async def test_a_long_text_file_is_cut_and_the_model_is_informed(tmp_path: Path) -> None:
    async with serve(tmp_path, ["Long."]) as server:
        data = b"x" * (LONGEST_TEXT + 7)
        await server.client.post("/api/v1/chat", json=said(file("log.txt", "text/plain", data)))
    assert "[7 more characters were left out]" in server.model.requests[0].messages[-1]["content"]


async def test_files_that_are_too_large_are_refused(tmp_path: Path) -> None:
    async with serve(tmp_path) as server:
        body = said(file("film.bin", "video/mp4", b"\0" * LARGEST_BODY))
        response = await server.client.post("/api/v1/chat", json=body)
        sessions = await server.get("/api/v1/sessions")
    assert response.status_code == 413
    assert (
        response.json()["error"]["message"] == f"Request body too large: the limit is {LARGEST_BODY} bytes."
    )
    assert sessions["sessions"] == []


async def test_a_conversation_can_be_kept_as_markdown(tmp_path: Path) -> None:
    async with serve(tmp_path, [{"reasoning": "Tails.", "text": "A **dovetail**."}]) as server:
        await server.client.post("/api/v1/chat", json=said(PICTURE))
        response = await server.client.get("/api/v1/sessions/s/export?format=markdown")
    question = "# What is this?\n\n## You\n\nWhat is this?\n\n[joint.png]\n\n"
    assert response.text == question + "## Assistant\n\n> Tails.\n\nA **dovetail**.\n"
