"""The users, in a process of their own: many streams that all begin within the duration of one.

`python -m benchmarks.server.load STREAMS SECONDS PORT[,PORT…]` with the request's path and body as JSON on
standard input. Print the measurements as one line of JSON. It is as cheap as possible, so that delays are
those of the server.
"""

import json
import re
import selectors
import socket
import sys
import time

from benchmarks.server.upstream import TOKENS, read_clock

TOKEN = re.compile(rb"@(\d{16})")
TIME_LIMIT = 120.0


class User:
    """One stream; measures the delay of each token."""

    def __init__(self, port: int, request: bytes) -> None:
        self.last = 0
        self.tokens = 0
        self.first_after = 0
        self._rest = b""
        self._begin = read_clock()
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket.sendall(request)
        self.socket.setblocking(False)
        self.status = b""

    def read(self, late: list[int]) -> bool:
        """Read the available bytes; return False at the end of the stream."""
        try:
            data = self.socket.recv(262144)
        except ConnectionError:
            return False
        now = read_clock()
        if not self.status:
            self.status = data[9:12]
        if not data:
            return False
        data = self._rest + data
        for match in TOKEN.finditer(data):
            sent = int(match[1])
            if sent > self.last:  # text that is repeated at the end of an answer counts once
                self.last = sent
                self.tokens += 1
                self.first_after = self.first_after or now - self._begin
                late.append(now - sent)
        self._rest = data[-16:]
        return True


def run(streams: int, seconds: float, ports: list[int], request: bytes) -> dict[str, object]:
    """Open all streams and read them to their end."""
    selector = selectors.DefaultSelector()
    late: list[int] = []
    users: list[User] = []
    over = 0
    begin = time.monotonic()
    while over < streams:
        now = time.monotonic() - begin
        if now > TIME_LIMIT:
            break
        while len(users) < streams and now >= len(users) * seconds / streams:
            user = User(ports[len(users) % len(ports)], request)
            users.append(user)
            selector.register(user.socket, selectors.EVENT_READ, user)
        wait = begin + len(users) * seconds / streams - time.monotonic() if len(users) < streams else 1.0
        for key, _ in selector.select(max(wait, 0)):
            if not key.data.read(late):
                selector.unregister(key.fileobj)
                key.fileobj.close()
                over += 1
    return _describe(users, late, time.monotonic() - begin)


def _describe(users: list[User], late: list[int], seconds: float) -> dict[str, object]:
    late.sort()
    first = sorted(user.first_after for user in users)
    return {
        "tokens": len(late),
        "broken": sum(user.tokens != TOKENS or user.status != b"200" for user in users),
        "seconds": seconds,
        "late_50": _pick(late, 0.5),
        "late_99": _pick(late, 0.99),
        "within_100": sum(value < 100_000 for value in late) / max(len(late), 1),
        "first_50": _pick(first, 0.5),
    }


def _pick(values: list[int], share: float) -> float:
    """Return the percentile of the values, in milliseconds."""
    return values[min(int(len(values) * share), len(values) - 1)] / 1000 if values else 0.0


def build_request(path: str, body: object) -> bytes:
    """Return the request as bytes; the connection closes after the answer."""
    data = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nconnection: close\r\n"
    )
    return f"{head}accept: text/event-stream\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data


def main() -> None:
    """Read the arguments, run and print."""
    streams, seconds, ports = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3].split(",")
    given = json.load(sys.stdin)
    seen = run(streams, seconds, [int(port) for port in ports], build_request(given["path"], given["body"]))
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
