"""`POST /ai/tools/ack`: what is refused, and who may acknowledge."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dovetail.tools.makers.browser import make_browser_tool
from patience import PATIENCE
from serving import serve, text_of

SHOW = make_browser_tool("show-note", "Show a note to the user.", {"type": "object"})
CALL = {"tool_calls": [{"call_id": "c", "name": "show-note", "arguments": {}}]}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"status": "success"}, "toolCallId"),
        ({"toolCallId": "", "status": "success"}, "toolCallId"),
        ({"toolCallId": 7, "status": "success"}, "toolCallId"),
        ({"toolCallId": "c"}, "status"),
        ({"toolCallId": "c", "status": "timeout"}, "status"),
        ({"toolCallId": "c", "status": "failed", "errorText": 5}, "errorText"),
        ([], "object"),
    ],
)
async def test_wrong_acknowledgements_are_refused_with_the_reason(
    tmp_path: Path, body: Any, named: str
) -> None:
    async with serve(tmp_path) as server:
        response = await server.client.post("/ai/tools/ack", json=body)
    assert response.status_code == 422
    assert named in response.text


async def test_a_call_of_another_owner_is_answered_like_an_unknown_one_and_still_waits(
    tmp_path: Path,
) -> None:
    keys = {"server": {"api_keys": "ann:the-key-of-ann,ben:the-key-of-ben"}}
    ann, ben = ({"authorization": f"Bearer the-key-of-{name}"} for name in ("ann", "ben"))
    async with serve(tmp_path, [CALL, "Shown."], [SHOW], settings=keys) as server:
        message = {"message": "Show it.", "session_id": "s", "tab_id": "t"}
        stream = server.stream("POST", "/api/v1/chat", json=message, headers=ann)
        async with asyncio.timeout(PATIENCE):
            async for chunk in stream:
                if chunk["type"] == "data-ask":
                    break
            body = {"toolCallId": "c", "status": "success", "output": "from"}
            answers: list[tuple[int, str]] = []
            for call_id in ("c", "c", "made-up", "made-up"):
                sent = body | {"toolCallId": call_id}
                answer = await server.client.post("/ai/tools/ack", json=sent, headers=ben)
                answers.append((answer.status_code, answer.text.replace("made-up", "c")))
            taken = await server.client.post("/ai/tools/ack", json=body, headers=ann)
            rest = [chunk async for chunk in stream]
    assert answers[:2] == answers[2:]
    assert [status for status, _ in answers[:2]] == [202, 404]
    assert taken.json() == {"result": "resolved"}
    assert text_of(rest) == "Shown."
