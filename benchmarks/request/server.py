"""A cheap model server: it answers every request with the same 200 chunks, one by one.

The name of the request's model is the pause before each chunk in milliseconds; "0" writes all chunks at once.
"""

import asyncio
import json
import sys

CHUNKS = 200
TEXT = "".join(f"word{number % 10} " for number in range(CHUNKS))


def build_events():
    """Yield the events of one answer, in the size and shape that OpenAI sends."""
    envelope = {
        "id": "chatcmpl-CBq1Qm0000000000000000000000",
        "object": "chat.completion.chunk",
        "created": 1756900000,
        "model": "gpt-4.1-2025-04-14",
        "service_tier": "default",
        "system_fingerprint": "fp_1a2b3c4d5e",
    }

    def write(delta, reason=None):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return encode({**envelope, "choices": [choice], "usage": None})

    def encode(data):
        return b"data: " + json.dumps(data, separators=(",", ":")).encode() + b"\n\n"

    yield write({"role": "assistant", "content": ""})
    yield from (write({"content": f"word{number % 10} "}) for number in range(CHUNKS))
    yield write({}, "stop")
    usage = {"prompt_tokens": 20, "completion_tokens": CHUNKS, "total_tokens": 20 + CHUNKS}
    yield encode({**envelope, "choices": [], "usage": usage}) + b"data: [DONE]\n\n"


def frame(data):
    """One chunk of the chunked transfer encoding."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"transfer-encoding: chunked\r\nx-request-id: req_1\r\n\r\n"
)
FRAMES = [frame(event) for event in build_events()]
FRAMES[-1] += b"0\r\n\r\n"


async def answer(reader, writer):
    """Serve one connection."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            lines = head.decode("latin-1").lower().split("\r\n")
            length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length:"))
            body = json.loads(await reader.readexactly(length))
            pause = float(body["model"]) / 1000
            writer.write(HEAD)
            for data in FRAMES:
                if pause:
                    await asyncio.sleep(pause)
                writer.write(data)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    """Listen on a free port, print the address, and serve until stopped."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit()
