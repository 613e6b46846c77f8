"""Browser tools over HTTP (rule C50): a question is read from the stream, a tab acts and acknowledges."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx

from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.tools.makers.browser import make_browser_tool
from dovetail.tools.tool import Tool
from patience import PATIENCE
from serving import Serving, serve, text_of

SHOW = make_browser_tool(
    "show-note",
    "Show a note to the user.",
    {"type": "object", "properties": {"text": {"type": "string"}, "timeoutSec": {"type": "number"}}},
)
"""All that a developer writes to add a browser tool."""


async def write(args: dict[str, Any], context: ToolContext) -> str:
    return "written"


WRITE = Tool(name="write", description="", parameters={"type": "object"}, execute=write, kind=Kind.Write)


def call(call_id: str = "c", **arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"call_id": call_id, "name": "show-note", "arguments": arguments}]}


def send(server: Serving, **fields: Any) -> AsyncIterator[dict[str, Any]]:
    body = {"message": "Show it.", "session_id": "s", "tab_id": "tab", **fields}
    return server.stream("POST", "/api/v1/chat", json=body)


async def wait_for_ask(stream: AsyncIterator[dict[str, Any]]) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        async for chunk in stream:
            if chunk["type"] == "data-ask":
                return chunk["data"]
    raise AssertionError("nothing was asked")


async def read_rest(stream: AsyncIterator[dict[str, Any]]) -> list[dict[str, Any]]:
    async with asyncio.timeout(PATIENCE):
        return [chunk async for chunk in stream]


async def acknowledge(server: Serving, call_id: str = "c", **fields: Any) -> httpx.Response:
    body = {"toolCallId": call_id, "status": "success", **fields}
    return await server.client.post("/ai/tools/ack", json=body)


def told(server: Serving) -> Any:
    """Return the result of the call as the model received it."""
    return server.model.requests[-1].messages[-1]["content"]


async def test_a_tab_acts_once_and_the_model_gets_the_result(tmp_path: Path) -> None:
    async with serve(tmp_path, [call(text="Hi"), "Shown."], [SHOW]) as server:
        stream = send(server)
        ask = await wait_for_ask(stream)
        assert ask["payload"] == {"tool": "show-note", "args": {"text": "Hi"}, "tab_id": "tab"}
        first = await acknowledge(server, output={"seen": True}, tabId="tab")
        second = await acknowledge(server, output={"seen": False}, tabId="tab")
        assert (first.status_code, first.json()) == (200, {"result": "resolved"})
        assert second.status_code == 404
        assert text_of(await read_rest(stream)) == "Shown."
        assert "seen" in told(server)
        assert "false" not in told(server).lower()


async def test_a_failure_in_the_tab_is_reported_to_the_model(tmp_path: Path) -> None:
    async with serve(tmp_path, [call(), "I see."], [SHOW]) as server:
        stream = send(server)
        await wait_for_ask(stream)
        await acknowledge(server, status="failed", errorText="the panel is closed")
        await read_rest(stream)
        assert "the panel is closed" in told(server)


async def test_an_early_acknowledgement_waits_for_its_call(tmp_path: Path) -> None:
    async with serve(tmp_path, [call(), "Shown."], [SHOW]) as server:
        early = await acknowledge(server, output="early")
        again = await acknowledge(server, output="again")
        assert (early.status_code, early.json()) == (202, {"result": "stored"})
        assert again.status_code == 404
        chunks = await read_rest(send(server))
        assert text_of(chunks) == "Shown."
        assert told(server) == "early"
        late = await acknowledge(server, output="late")
        assert late.status_code == 404


async def test_a_timeout_is_reported_to_the_model_and_a_late_tab_is_rejected(tmp_path: Path) -> None:
    async with serve(tmp_path, [call(timeoutSec=0.05), "Nobody there."], [SHOW]) as server:
        chunks = await read_rest(send(server))
        assert text_of(chunks) == "Nobody there."
        assert "did not answer" in told(server)
        ended = [chunk for chunk in chunks if chunk["type"] == "tool-output-error"]
        assert ended[0]["toolMetadata"]["status"] == "timeout"
        assert (await acknowledge(server)).status_code == 404
        assert (await server.get("/api/v1/asks"))["asks"] == []


async def test_of_two_tabs_one_acts(tmp_path: Path) -> None:
    async with serve(tmp_path, [call(), "Shown."], [SHOW]) as server:
        stream = send(server)
        ask = await wait_for_ask(stream)
        other = server.stream("GET", "/api/v1/chat/s/stream")
        assert (await wait_for_ask(other))["ask_id"] == ask["ask_id"]
        path = f"/api/v1/asks/{ask['ask_id']}/claim"
        claims = await asyncio.gather(
            *(server.client.post(path, json={"tab_id": tab}) for tab in ("one", "two") * 3)
        )
        winners = {claim.json()["tab_id"] for claim in claims if claim.status_code == 200}
        assert {claim.status_code for claim in claims} == {200, 409}
        assert len(winners) == 1
        renewed = await server.client.post(path, json={"tab_id": winners.pop()})
        assert renewed.status_code == 200
        await acknowledge(server)
        assert text_of(await read_rest(stream)) == text_of(await read_rest(other)) == "Shown."
        assert (await server.client.post(path, json={"tab_id": "late"})).status_code == 409


async def test_a_refused_claim_says_why(tmp_path: Path) -> None:
    writing = {"tool_calls": [{"call_id": "w", "name": "write", "arguments": {}}]}
    async with serve(tmp_path, [writing, call(), "Done."], [SHOW, WRITE]) as server:

        async def claim(ask: dict[str, Any], tab_id: str) -> tuple[int, str]:
            path = f"/api/v1/asks/{ask['ask_id']}/claim"
            response = await server.client.post(path, json={"tab_id": tab_id})
            body = response.json()
            return response.status_code, body["until"] if "until" in body else body["error"]["message"]

        stream = send(server)
        approval = await wait_for_ask(stream)
        status, message = await claim(approval, "one")
        assert (status, "has kind 'approval'; only browser asks can be claimed" in message) == (409, True)
        await server.client.post(f"/api/v1/asks/{approval['ask_id']}", json={"approved": True})
        shown = await wait_for_ask(stream)
        name = f"Ask {shown['ask_id']!r}"
        _, until = await claim(shown, "one")
        told = f"{name} is claimed by tab 'one' until {until[:19]}Z."
        assert await claim(shown, "two") == (409, told)
        await acknowledge(server)
        assert await claim(shown, "one") == (409, f"{name} has already been answered.")
        assert text_of(await read_rest(stream)) == "Done."


async def test_a_cancelled_run_clears_its_waits(tmp_path: Path) -> None:
    async with serve(tmp_path, [call()], [SHOW]) as server:
        stream = send(server)
        ask = await wait_for_ask(stream)
        await server.client.post(f"/api/v1/runs/{ask['run_id']}/cancel", json={"mode": "now"})
        await read_rest(stream)
        assert (await server.get("/api/v1/asks"))["asks"] == []
        assert (await acknowledge(server)).status_code == 404


async def test_a_question_survives_a_restart_and_is_acknowledged_then(tmp_path: Path) -> None:
    async with serve(tmp_path, [call()], [SHOW]) as server:
        ask = await wait_for_ask(send(server))
    async with serve(tmp_path, ["Shown."], [SHOW]) as server:
        assert (await acknowledge(server, output="after all")).status_code == 200
        events = await read_rest(server.stream("GET", f"/api/v1/runs/{ask['run_id']}/events"))
        assert events[-1]["reason"] == "goal"
        assert told(server) == "after all"
