"""Model servers on loopback that record every request, at any path, and an environment without any model."""

import http.server
import json
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from dovetail.requesters.providers import PROVIDERS

VARIABLES = [
    *("DOVETAIL_MODEL", "DOVETAIL_BASE_URL", "DOVETAIL_API_KEY", "OPENAI_API_VERSION"),
    *(name for row in PROVIDERS.values() for name in (*row.keys, row.address_variable) if name),
    *(f"AWS_{name}" for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "PROFILE", "REGION")),
]


def clear_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove every variable that names a model or holds a key."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


@dataclass(frozen=True)
class Received:
    """A request as it arrived; the names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


Answer = tuple[int, str, bytes]
"""Status, content type and body."""


@dataclass
class RecordingServer:
    """A server that passes each request to `answer`."""

    answer: Callable[[Received], Answer]
    url: str = ""
    requests: list[Received] = field(default_factory=list[Received])


def send_events(*events: Mapping[str, Any] | str) -> Answer:
    """Return a stream of server-sent events; those with a `type` carry it as their name, too."""
    lines: list[str] = []
    for event in events:
        if isinstance(event, str):
            lines.append(f"data: {event}\n\n")
        else:
            name = f"event: {event['type']}\n" if "type" in event else ""
            lines.append(f"{name}data: {json.dumps(event)}\n\n")
    return 200, "text/event-stream", "".join(lines).encode()


def send_json(data: Any, status: int = 200) -> Answer:
    """Return an answer with JSON."""
    return status, "application/json", json.dumps(data).encode()


@contextmanager
def run_server(answer: Callable[[Received], Answer]) -> Generator[RecordingServer]:
    """Run a server while the block runs."""
    recording = RecordingServer(answer)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.respond(None)

        def do_POST(self) -> None:
            self.respond(json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def respond(self, body: Any) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            received = Received(self.command, self.path, headers, body)
            recording.requests.append(received)
            status, content_type, data = recording.answer(received)
            self.send_response(status)
            self.send_header("content-type", content_type)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    recording.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield recording
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
