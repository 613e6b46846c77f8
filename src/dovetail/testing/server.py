"""An OpenAI-compatible HTTP server that plays a script, in its own thread on loopback."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from aiohttp import web

from dovetail.errors import ConfigError
from dovetail.events.call import ModelRequest
from dovetail.testing.respond import play
from dovetail.testing.script import Script, Scripted
from dovetail.testing.wire import read_request, write_error

START_LIMIT = 60.0
"""Seconds that starting and stopping may take: a guard against hangs, also on a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """A client's request: the JSON body and headers as received, and the `ModelRequest` they stand for."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    request: ModelRequest


class ScriptedServer:
    """Play replies in order to all clients; a sync and an async context manager.

    `wire_cut` cuts streams into writes of that size, at any place (0: one write per event). `key`, if any,
    is the only API key it accepts. One request too many gets status 400, and so does one that is longer than
    `context_tokens`, counted as four characters each, like a model whose context window is full.

    >>> with ScriptedServer(["Oak."]) as server:
    ...     settings = {"model": {"base_url": server.url, "api_key": "none"}}
    ...     Agent(model="openai:m", settings=settings).input("A wood?").start()
    'Oak.'
    """

    def __init__(
        self,
        replies: Iterable[Scripted] = (),
        *,
        port: int = 0,
        wire_cut: int = 0,
        key: str | None = None,
        context_tokens: int | None = None,
    ) -> None:
        self.script = Script(replies)
        self.requests: list[RecordedRequest] = []
        self.wire_cut = wire_cut
        self.context_tokens = context_tokens
        self.description: dict[str, Any] = {}
        """Further fields of its model in the list of models."""
        self._port = port
        self._key = key
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._runner: web.AppRunner | None = None
        self._active: set[asyncio.Transport] = set()
        self._peers: set[Any] = set()
        self._idle = threading.Event()

    @property
    def url(self) -> str:
        """The base address for clients, `http://127.0.0.1:<port>/v1`."""
        if self._runner is None:
            raise ConfigError("The scripted server is not running; start it with `with` or `async with`.")
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def active(self) -> int:
        """The number of requests in progress."""
        return len(self._active)

    @property
    def connections(self) -> int:
        """The number of connections so far."""
        return len(self._peers)

    def wait_idle(self, timeout: float = 5.0) -> bool:
        """Wait in a thread until no request is in progress; return False on timeout."""
        return self._idle.wait(timeout)

    def start(self) -> None:
        """Start to listen; return when requests are accepted."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=_run_loop, args=(self._loop,), name="scripted-server", daemon=True
        )
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(START_LIMIT)

    def stop(self) -> None:
        """Break every open connection and end the thread; idempotent."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self._loop = self._thread = None
        asyncio.run_coroutine_threadsafe(self._close(), loop).result(START_LIMIT)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(START_LIMIT)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self.stop)

    async def _open(self) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._answer_chat)
        app.router.add_get("/v1/models", self._answer_models)
        _add_control_routes(app, self.script, lambda: [recorded.body for recorded in self.requests])
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self._port)
        await site.start()
        self._port = runner.addresses[0][1]
        self._runner = runner

    async def _close(self) -> None:
        for transport in self._active:
            transport.abort()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _answer_models(self, request: web.Request) -> web.Response:
        if not self._has_key(request):
            return _refuse(401, "Incorrect API key provided.", "invalid_api_key")
        model = {"id": "scripted", "object": "model", **self.description}
        return web.json_response({"object": "list", "data": [model]})

    def _has_key(self, request: web.Request) -> bool:
        return self._key is None or request.headers.get("authorization") == f"Bearer {self._key}"

    async def _answer_chat(self, request: web.Request) -> web.StreamResponse:
        transport = request.transport
        if transport is None:
            return web.Response()
        self._active.add(transport)
        self._peers.add(transport.get_extra_info("peername"))
        self._idle.clear()
        try:
            return await self._play_next(request)
        finally:
            self._active.discard(transport)
            if not self._active:
                self._idle.set()

    async def _play_next(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        asked = read_request(body)
        self.requests.append(
            RecordedRequest(path=request.path, headers=request.headers.copy(), body=body, request=asked)
        )
        if not self._has_key(request):
            return _refuse(401, "Incorrect API key provided.", "invalid_api_key")
        size, limit = len(json.dumps(body["messages"])) // 4, self.context_tokens
        if limit is not None and size > limit:
            refusal = (
                f"This model's maximum context length is {limit} tokens. However, you sent {size} tokens."
            )
            return _refuse(400, refusal, "context_length_exceeded")
        try:
            reply = self.script.take(asked)
        except ConfigError as error:
            return _refuse(400, str(error), "script_used_up")
        return await play(
            reply, request, body, request_id=f"scripted-{len(self.requests)}", cut=self.wire_cut
        )


def _refuse(status: int, message: str, code: str) -> web.Response:
    error = {**write_error(ConfigError(message)), "code": code}
    return web.json_response({"error": error}, status=status)


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _add_control_routes(
    app: web.Application, script: Script, list_bodies: Callable[[], Sequence[Mapping[str, Any]]]
) -> None:
    """Add the routes with which another process changes the script, opens gates and lists requests."""

    async def add_replies(request: web.Request) -> web.Response:
        script.add(*await request.json())
        return web.json_response({"unused": len(script.unused)})

    async def drop_replies(request: web.Request) -> web.Response:
        return web.json_response({"dropped": script.clear()})

    async def open_gate(request: web.Request) -> web.Response:
        script.gate(request.match_info["name"]).open()
        return web.json_response({"opened": request.match_info["name"]})

    async def list_requests(request: web.Request) -> web.Response:
        return web.json_response(list_bodies())

    app.router.add_post("/script/replies", add_replies)
    app.router.add_delete("/script/replies", drop_replies)
    app.router.add_post("/script/gates/{name}", open_gate)
    app.router.add_get("/script/requests", list_requests)
