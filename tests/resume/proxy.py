"""A TCP proxy in front of PostgreSQL that can lose its connections, or hold back one message."""

import asyncio
from contextlib import suppress
from typing import Self

_SIZE = 1 << 16


class Proxy:
    """Connect clients on a loopback port to the Unix socket of a PostgreSQL server."""

    def __init__(self, socket_path: str) -> None:
        self.port = 0
        self.is_away = False
        self._socket_path = socket_path
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._marker: bytes | None = None
        self._held = asyncio.Event()
        self._released = asyncio.Event()
        self._flows = asyncio.Event()
        self._flows.set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.cut()
        self.release()
        self.let_speak()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    def cut(self) -> None:
        """Break all connections and refuse new ones."""
        self.is_away = True
        for writer in list(self._open):
            writer.transport.abort()

    def restore(self) -> None:
        """Accept connections again."""
        self.is_away = False

    def hush(self) -> None:
        """Pass nothing on any more, in any direction, and tell nobody: as a network that is gone."""
        self._flows.clear()

    def let_speak(self) -> None:
        """Pass everything on again."""
        self._flows.set()

    def hold(self, marker: str) -> None:
        """Hold back the next message to the server that contains a text, and what follows it."""
        self._marker = marker.encode()
        self._held.clear()
        self._released.clear()

    async def wait_until_held(self) -> None:
        """Wait until such a message has come."""
        await self._held.wait()

    def release(self) -> None:
        """Pass on what was held back."""
        self._marker = None
        self._released.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_away:
            writer.transport.abort()
            return
        self._open.add(writer)
        try:
            with suppress(OSError):
                back, forth = await asyncio.open_unix_connection(self._socket_path)
                self._open.add(forth)
                ways = self._send(reader, forth), self._copy(back, writer)
                await asyncio.gather(*ways, return_exceptions=True)
                self._open.discard(forth)
        finally:
            self._open.discard(writer)

    async def _send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Copy what a client sends, unless it is to be held back."""
        before = b""
        with suppress(OSError):
            while data := await reader.read(_SIZE):
                if self._marker is not None and self._marker in before + data:
                    self._held.set()
                    await self._released.wait()
                before = data[-200:]
                await self._flows.wait()
                writer.write(data)
                await writer.drain()
        await self._flows.wait()
        writer.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_SIZE):
                await self._flows.wait()
                writer.write(data)
                await writer.drain()
        await self._flows.wait()
        writer.close()
