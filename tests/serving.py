"""A real server on loopback around a scripted model, and a client that reads its streams."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from dovetail.agent.runtime import Runtime
from dovetail.app import Dovetail
from dovetail.policy.policy import Policy
from dovetail.policy.remembered import open_policy
from dovetail.requesters.requester import Requester
from dovetail.server.app import create_app
from dovetail.settings import Settings, as_settings
from dovetail.testing import ScriptedRequester
from dovetail.tools.tool import Tool
from patience import PATIENCE


class ScriptedRuntime(Runtime):
    """A runtime whose models all play one script."""

    def __init__(
        self, requester: Requester, settings: Settings, make_policy: Callable[[], Policy] | None = None
    ) -> None:
        super().__init__(settings, make_policy=make_policy)
        self.scripted = requester

    def requester(self, model: Any = None, settings: Settings | None = None) -> Requester:
        return self.scripted


class QuietServer(uvicorn.Server):
    """Leaves the test's signal handlers alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@dataclass(frozen=True, slots=True)
class Serving:
    """A running server with its app, model and client."""

    app: Dovetail
    model: ScriptedRequester
    client: httpx.AsyncClient
    address: str

    async def chat(self, text: str, session_id: str = "s", **fields: Any) -> list[dict[str, Any]]:
        """Send a message as our own page does and read the whole answer."""
        body = {"message": text, "session_id": session_id, "tab_id": "t", **fields}
        return [chunk async for chunk in self.stream("POST", "/api/v1/chat", json=body)]

    async def stream(self, method: str, path: str, **options: Any) -> AsyncIterator[dict[str, Any]]:
        """Yield the chunks of a stream, each with its number as `number`."""
        async with self.client.stream(method, path, **options) as response:
            assert response.status_code == 200, await response.aread()
            number = 0
            async for line in response.aiter_lines():
                if line.startswith("id: "):
                    number = int(line[4:])
                elif line.startswith("data: ") and line != "data: [DONE]":
                    yield {**json.loads(line[6:]), "_number": number}

    async def get(self, path: str, **options: Any) -> Any:
        """Return the JSON of a response with status 200."""
        response = await self.client.get(path, **options)
        assert response.status_code == 200, response.text
        return response.json()


@asynccontextmanager
async def serve(
    folder: Path,
    replies: Sequence[Any] = (),
    tools: Sequence[Tool] = (),
    settings: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncGenerator[Serving]:
    """Serve an app in `folder` whose model plays `replies`."""
    model = ScriptedRequester(replies)
    layer = as_settings(settings or {})
    runtime = ScriptedRuntime(model, layer, lambda: open_policy(folder, lambda: ()))
    app = Dovetail(workspace=folder, runtime=runtime)
    for tool in tools:
        app.tools.register_tool(tool)
    async with (
        serve_app(app, **options) as address,
        httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client,
    ):
        yield Serving(app, model, client, address)


@asynccontextmanager
async def serve_app(app: Dovetail, **options: Any) -> AsyncGenerator[str]:
    """Serve an app on a free loopback port; yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as `dovetail serve` does
        config = uvicorn.Config(create_app(app, **options), log_config=None, timeout_graceful_shutdown=1)
        server = QuietServer(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            while not server.started:
                await asyncio.wait([task], timeout=0.005)
                if task.done():
                    raise RuntimeError("the server did not start") from task.exception()
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


def text_of(chunks: list[dict[str, Any]]) -> str:
    """Return the text of the answer in a stream."""
    return "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta")


def types_of(chunks: list[dict[str, Any]]) -> list[str]:
    """Return the types of the chunks, consecutive repetitions once."""
    types: list[str] = []
    for chunk in chunks:
        if not types or types[-1] != chunk["type"]:
            types.append(chunk["type"])
    return types
