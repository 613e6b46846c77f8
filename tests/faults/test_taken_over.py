"""A server loses a run to another process while a client reads it: the stream is broken off, not ended."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail.runs.store import RunStore
from dovetail.testing import Gate
from serving import Serving, serve

CHAT = "/api/v1/chat", {"message": "Hi", "session_id": "s", "tab_id": "t"}
PLAIN = "/api/v1/chat", {"messages": [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}], "id": "s"}
OPENAI = (
    "/v1/chat/completions",
    {"model": "master", "stream": True, "messages": [{"role": "user", "content": "Hi"}]},
)


@pytest.mark.parametrize("request_", [CHAT, PLAIN, OPENAI], ids=["page", "useChat", "openai"])
async def test_the_stream_of_a_run_that_another_process_took_over_breaks_off(
    tmp_path: Path, request_: tuple[str, Mapping[str, Any]]
) -> None:
    gate, lines = Gate(), list[str]()

    async def read(server: Serving) -> None:
        path, body = request_
        async with server.client.stream("POST", path, json=body) as response:
            async for line in response.aiter_lines():
                lines.append(line)
                if "Half" in line:
                    await take_away(server)
                    gate.open()

    async with serve(tmp_path, [["Half", gate, "never stored"]]) as server:
        with pytest.raises(httpx.RemoteProtocolError):
            await read(server)
    assert "Half" in "".join(lines)
    ends = "[DONE]", '"type":"finish"', '"type":"abort"', '"type":"error"', '"finish_reason":"'
    assert [line for line in lines if any(end in line for end in ends)] == []


async def take_away(server: Serving) -> None:
    """Let another process take over the only run."""
    [record] = await server.app.runs.store.find(state="running")
    assert await RunStore(server.app.runs.database, "another").take_over(record)
