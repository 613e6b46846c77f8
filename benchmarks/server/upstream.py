"""The model behind the servers, in its own process: 100 tokens at 20 ms, each with the time it was sent.

`python -m benchmarks.server.upstream [TOKENS]` prints its address.
"""

import asyncio
import sys
import time

TOKENS = 100
PAUSE = 0.02

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"transfer-encoding: chunked\r\nx-request-id: req_1\r\n\r\n"
)
_ENVELOPE = (
    b'{"id":"chatcmpl-CBq1Qm0000000000000000000000","object":"chat.completion.chunk","created":1756900000,'
    b'"model":"gpt-4.1-2025-04-14","service_tier":"default","system_fingerprint":"fp_1a2b3c4d5e",'
)
_CHOICE = b'"choices":[{"index":0,"delta":%b,"logprobs":null,"finish_reason":%b}],"usage":null}'
_USAGE = b'"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":%d,"total_tokens":%d}}'


def frame(event: bytes) -> bytes:
    """Return one event as one chunk of the chunked transfer encoding."""
    data = b"data: " + event + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(data), data)


FIRST = frame(_ENVELOPE + _CHOICE % (b'{"role":"assistant","content":""}', b"null"))
TOKEN = frame(_ENVELOPE + _CHOICE % (b'{"content":"@0000000000000000 "}', b"null"))
PLACE = TOKEN.index(b"@") + 1
LAST = (
    frame(_ENVELOPE + _CHOICE % (b"{}", b'"stop"'))
    + frame(_ENVELOPE + _USAGE % (TOKENS, TOKENS + 20))
    + frame(b"[DONE]")
    + b"0\r\n\r\n"
)


def read_clock() -> int:
    """Return microseconds of a clock that all processes of a machine share."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


class Model(asyncio.Protocol):
    """Serve one connection: answer each request with the same number of tokens."""

    tokens = TOKENS

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._received = b""
        self._loop = asyncio.get_running_loop()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if end and len(body) >= _read_length(head):
            self._received = b""
            self._transport.write(HEAD + FIRST)
            self._begin = self._loop.time()
            self._sent = 0
            self._send()

    def _send(self) -> None:
        if self._transport.is_closing():
            return
        if self._sent == self.tokens:
            self._transport.write(LAST)
            return
        self._transport.write(b"%b%016d%b" % (TOKEN[:PLACE], read_clock(), TOKEN[PLACE + 16 :]))
        self._sent += 1
        self._loop.call_at(self._begin + self._sent * PAUSE, self._send)


def _read_length(head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    return next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)


async def main() -> None:
    """Listen on a free port, print the address, and serve until stopped."""
    if len(sys.argv) > 1:
        Model.tokens = int(sys.argv[1])
    server = await asyncio.get_running_loop().create_server(Model, "127.0.0.1", 0, backlog=2048)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
