"""A model's server that never ends its answer."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aws_frames import write_event


def event(data: Any) -> bytes:
    """Write data as one event of a stream."""
    return f"data: {json.dumps(data)}\n\n".encode()


def chat(**delta: Any) -> bytes:
    """Write a delta as a chunk of the chat API."""
    return event({"id": "1", "model": "m", "choices": [{"index": 0, "delta": delta}]})


TEXT = "All work and no play makes Jack a dull boy. "
PIECES: dict[str, tuple[bytes, bytes]] = {
    "chat": (b"", chat(content=TEXT)),
    "responses": (
        event({"type": "response.created", "response": {"id": "r", "model": "m"}}),
        event({"type": "response.output_text.delta", "item_id": "i", "output_index": 0, "delta": TEXT}),
    ),
    "anthropic": (
        event({"type": "message_start", "message": {"id": "m", "model": "m", "usage": {"input_tokens": 1}}})
        + event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}}),
    ),
    "google": (b"", event({"candidates": [{"index": 0, "content": {"parts": [{"text": TEXT}]}}]})),
    "bedrock": (
        write_event("messageStart", {"role": "assistant"}),
        write_event("contentBlockDelta", {"delta": {"text": TEXT}, "contentBlockIndex": 0}),
    ),
}
"""What each API sends first, and then again and again."""


@dataclass(slots=True)
class EndlessServer:
    """Sends `first`, then `piece` until the client closes the connection; `closed` is set when it has."""

    first: bytes
    piece: bytes
    content_type: str = "text/event-stream"
    port: int = 0
    sent: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """Its address for clients."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request without an end."""
        with contextlib.suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {self.content_type}\r\n\r\n".encode())
            writer.write(self.first)
            while not writer.transport.is_closing():
                writer.write(self.piece * 20)
                self.sent += len(self.piece) * 20
                await writer.drain()
                await asyncio.sleep(0)
        self.closed.set()
        writer.close()


@asynccontextmanager
async def serve_endless(first: bytes, piece: bytes, content_type: str = "") -> AsyncGenerator[EndlessServer]:
    """Run an endless server on loopback."""
    server = EndlessServer(first, piece, content_type or "text/event-stream")
    listener = await asyncio.start_server(server.answer, "127.0.0.1", 0)
    async with listener:
        server.port = listener.sockets[0].getsockname()[1]
        yield server
        await asyncio.sleep(0)
