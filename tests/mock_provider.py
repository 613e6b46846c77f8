"""A model provider on loopback: aimock answers in the formats of Anthropic, Google, OpenAI and others.

    def test_an_answer_is_read(mock_provider):
        mock_provider.reply("Hello", {"toolCalls": [{"name": "add", "arguments": {"a": 1}}]})
        ...  # requests to mock_provider.url + "/v1/messages", "/v1/responses", "/v1beta/models/…"
        assert mock_provider.requests[0].body["model"] == "claude-sonnet-4-5"

`reply` takes aimock's responses (`content`, `toolCalls`, `blocks`, `reasoning`, `reasoningSignature`,
`redactedThinking`, `finishReason`, `usage`, or `error` with `status` and `retryAfter`) and the options of its
fixtures (`chunkSize`, `truncateAfterChunks`, `chaos`, …). What aimock cannot express is sent byte for byte
with `replay`. One process serves all tests of a session; the fixture `mock_provider` empties it for each.
"""

import base64
import json
import shutil
import subprocess
import urllib.request
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from patience import PATIENCE

PROGRAM = Path(__file__).with_suffix(".mjs")
PACKAGES = Path(__file__).parents[1] / "web" / "node_modules"


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as the provider received it; the names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> Any:
        """The JSON body."""
        return json.loads(self.text)


class MockProvider:
    """A running aimock; answers are given in the order in which they were added."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._counts: dict[str, int] = {}

    def reply(
        self, *responses: str | Mapping[str, Any], match: Mapping[str, Any] | None = None, **options: Any
    ) -> None:
        """Add responses, one per request; a text is an answer's content.

        With `match` (`userMessage`, `model`, `hasToolResult`, …) only requests that match get them.
        """
        key = json.dumps(match)
        fixtures: list[dict[str, Any]] = []
        for response in responses:
            index = self._counts[key] = self._counts.get(key, -1) + 1
            content = {"content": response} if isinstance(response, str) else response
            fixtures.append(
                {"match": {**(match or {}), "sequenceIndex": index}, "response": content, **options}
            )
        self._call("POST", "/__aimock/fixtures", {"fixtures": fixtures})

    def replay(
        self,
        answer: bytes | Iterable[bytes],
        *,
        status: int = 200,
        content_type: str = "text/event-stream",
        headers: Mapping[str, str] | None = None,
        ending: Literal["end", "reset", "hold"] = "end",
    ) -> None:
        """Add an answer of these bytes, in these pieces.

        Then it ends, the connection is reset, or it stays open until the client closes it.
        """
        pieces = [answer] if isinstance(answer, bytes) else answer
        self._call(
            "POST",
            "/__test",
            {
                "status": status,
                "headers": {"content-type": content_type, **(headers or {})},
                "pieces": [base64.b64encode(piece).decode() for piece in pieces],
                "ending": ending,
            },
        )

    @property
    def requests(self) -> list[ReceivedRequest]:
        """The requests so far, byte for byte."""
        return self.wait_for_requests(0)

    def wait_for_requests(self, count: int) -> list[ReceivedRequest]:
        """Return the requests as soon as there are that many, or fail after some seconds."""
        return [
            ReceivedRequest(
                entry["method"],
                entry["path"],
                entry["headers"],
                base64.b64decode(entry["body"] or "").decode(),
            )
            for entry in self._call("GET", f"/__test?count={count}")
        ]

    def reset(self) -> None:
        """Forget all answers and requests."""
        self._counts.clear()
        self._call("POST", "/__aimock/reset")
        self._call("DELETE", "/__test")

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            request, timeout=PATIENCE
        ) as answer:
            return json.loads(answer.read())


@contextmanager
def run_mock_provider() -> Generator[MockProvider]:
    """Run the program; it ends with its standard input, also if this process is killed."""
    node = shutil.which("node")
    assert node, "the tests of providers need Node.js"
    command = [node, PROGRAM, PACKAGES / "package.json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        assert port.isdigit(), "aimock did not start; run `npm ci` in web/"
        yield MockProvider(f"http://127.0.0.1:{port}")
