"""The scripted model, in a process of its own: 20 calls of `add`, then an answer."""

import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CALLS = 20
ANSWER = "It is 21."
PARAMETERS = {
    "type": "object",
    "properties": {"first": {"type": "integer"}, "second": {"type": "integer"}},
    "required": ["first", "second"],
    "additionalProperties": False,
}
TOOL = {"name": "add", "description": "Add two numbers.", "parameters": PARAMETERS}


def script(rounds: int) -> list[object]:
    """Return the replies of several loops."""
    calls = [
        {
            "tool_calls": [
                {"call_id": f"call_{number}", "name": "add", "arguments": {"first": number, "second": 1}}
            ]
        }
        for number in range(CALLS)
    ]
    return [*calls, ANSWER] * rounds


@contextmanager
def serve() -> Iterator[str]:
    """Run the server; yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.json"
        path.write_text("[]")
        command = [sys.executable, "-m", "dovetail.testing", str(path)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait(10)


def load(url: str, rounds: int) -> None:
    """Set the server's replies for the next loops."""
    body = json.dumps(script(rounds)).encode()
    address = url.removesuffix("/v1") + "/script/replies"
    request = urllib.request.Request(address, body, {"content-type": "application/json"})
    urllib.request.urlopen(request, timeout=10).close()
