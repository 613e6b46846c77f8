"""A cheap model server: it answers every request of a protocol with the same 200 chunks, one by one.

The name of the request's model is the pause before each chunk in milliseconds; "0" writes all chunks at once.
"""

import asyncio
import json
import re
import sys

from benchmarks.request.protocols import find_protocol

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"transfer-encoding: chunked\r\nx-request-id: req_1\r\n\r\n"
)
MODEL_IN_PATH = re.compile(r"/models?/(\d+)[:/]")


def frame(data):
    """One chunk of the chunked transfer encoding."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def build_frames(protocol):
    """The answer of a protocol, ready to be sent."""
    frames = [frame(event) for event in protocol.build_events()]
    frames[-1] += b"0\r\n\r\n"
    return frames


async def answer(reader, writer, frames):
    """Serve one connection."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            lines = head.decode("latin-1").lower().split("\r\n")
            length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length:"))
            body = json.loads(await reader.readexactly(length))
            named = MODEL_IN_PATH.search(lines[0])
            pause = float(named[1] if named else body["model"]) / 1000
            writer.write(HEAD)
            for data in frames:
                if pause:
                    await asyncio.sleep(pause)
                writer.write(data)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main(name):
    """Listen on a free port, print the address, and serve until stopped."""
    protocol = find_protocol(name)
    frames = build_frames(protocol)
    server = await asyncio.start_server(lambda reader, writer: answer(reader, writer, frames), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{protocol.BASE}", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main(sys.argv[1]))
    except KeyboardInterrupt:
        sys.exit()
