"""Play one reply to one HTTP client, faults included."""

import asyncio
import socket
import struct
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from dovetail.data.shapes import is_mapping
from dovetail.testing.replies import Break, Gate, Reply
from dovetail.testing.wire import ChunkWriter, write_completion, write_error


async def play(
    reply: Reply, request: web.Request, body: Mapping[str, Any], *, request_id: str, cut: int
) -> web.StreamResponse:
    """Answer with the reply: as a stream, as one JSON body, or as a plain HTTP response."""
    headers = {"x-request-id": request_id, **reply.headers}
    if reply.is_plain:
        headers.setdefault("content-type", "application/json")
        return web.Response(status=reply.status, body=reply.payload, headers=headers)
    if not body.get("stream"):
        return await _play_whole(reply, request, headers, request_id)
    stream = _Stream(request, headers, cut)
    return await _play_stream(reply, stream, body, request_id)


async def _play_whole(
    reply: Reply, request: web.Request, headers: dict[str, str], request_id: str
) -> web.StreamResponse:
    for step in reply.plan():
        if isinstance(step, Gate):
            await step.pass_through()
        elif isinstance(step, Break):
            return _abort(request)
        elif isinstance(step, Exception):
            return web.json_response({"error": write_error(step)}, status=500, headers=headers)
    return web.json_response(write_completion(reply, request_id), headers=headers)


async def _play_stream(
    reply: Reply, stream: "_Stream", body: Mapping[str, Any], request_id: str
) -> web.StreamResponse:
    writer = ChunkWriter(reply, request_id)
    for step in reply.plan():
        await asyncio.sleep(reply.delay)
        if isinstance(step, Gate):
            await step.pass_through()
        elif isinstance(step, Break):
            return await stream.break_off(step)
        else:
            await stream.write(writer.write_step(step))
        if isinstance(step, Exception):
            return await stream.end()
    for chunk in writer.write_end(include_usage=_wants_usage(body)):
        await stream.write(chunk)
    return await stream.end()


def _wants_usage(body: Mapping[str, Any]) -> bool:
    options = body.get("stream_options")
    return is_mapping(options) and bool(options.get("include_usage"))


class _Stream:
    """An event stream whose headers are sent with its first bytes, so that a reply can fail before them."""

    def __init__(self, request: web.Request, headers: Mapping[str, str], cut: int) -> None:
        self._request = request
        self._response = web.StreamResponse(headers={"content-type": "text/event-stream", **headers})
        self._cut = cut

    async def write(self, data: bytes) -> None:
        if not self._response.prepared:
            await self._response.prepare(self._request)
        step = self._cut or len(data) or 1
        for start in range(0, len(data), step):
            await self._response.write(data[start : start + step])

    async def end(self) -> web.StreamResponse:
        await self._response.write_eof()
        return self._response

    async def break_off(self, step: Break) -> web.StreamResponse:
        if step.how == "end":
            await self.write(b"")
            return await self.end()
        if step.how == "reset" or not self._response.prepared:
            return _abort(self._request)
        if self._request.transport is not None:
            self._request.transport.close()
        return self._response


def _abort(request: web.Request) -> web.Response:
    transport = request.transport
    if transport is not None:
        # Without lingering the socket closes with a reset instead of a proper end.
        transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        transport.abort()
    return web.Response()
