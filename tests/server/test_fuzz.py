"""Whatever the OpenAPI document allows, and much it does not, is never answered with a 500."""

import copy
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
from schemathesis import GenerationMode

from patience import PATIENCE
from postgres import make_database, uses_postgres

EXAMPLES = 4
SERVER = Path(__file__).with_name("serve_script.py")


@contextmanager
def serve_apart(folder: Path, *url: str) -> Iterator[str]:
    """A server in a process of its own: Hypothesis notices when a thread of this one uses `random`."""
    with (
        (folder / "server.log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, SERVER, folder, *url],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address, (folder / "server.log").read_text()
            yield address
        finally:
            process.stdin.close()
            process.wait(PATIENCE)


@pytest.mark.slow
def test_no_request_is_answered_with_a_500(tmp_path: Path) -> None:
    with serve_apart(tmp_path) as address, httpx.Client(base_url=address, timeout=PATIENCE) as client:
        schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
        real = make_things(client)
        tried: set[str] = set()
        for result in schema.get_all_operations():
            operation = result.ok()
            tried.add(operation.label)
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                # A negative case needs something that can be wrong.
                if mode is GenerationMode.POSITIVE or operation.body or operation.query:
                    try_out(operation.as_strategy(generation_mode=mode), address, real)
        assert len(tried) >= 30
        assert client.get("/readyz").status_code == 200


def make_things(client: httpx.Client) -> dict[str, str]:
    """A session with an answer: its ids, by the names that paths and bodies have for them."""
    body = {"message": "Hi", "session_id": "real"}
    answer = client.post("/api/v1/chat", json=body, headers={"accept": "application/json"}).json()
    ids = {name: answer[name] for name in ("session_id", "run_id", "message_id")}
    return {**ids, "model": "master", "name": "read_artifact", "message": "Hello"}


def try_out(cases: SearchStrategy[schemathesis.Case], address: str, real: dict[str, str]) -> None:
    """Send some cases; in every second one what must exist to come far does."""
    count = itertools.count()

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def check(case: schemathesis.Case) -> None:
        if next(count) % 2 and case.method != "DELETE":
            for place in (case.path_parameters, case.body):
                if isinstance(place, dict):
                    place.update({name: value for name, value in real.items() if name in place})
        request = case.as_transport_kwargs(base_url=address)
        with requests.request(**request, timeout=PATIENCE, stream=True) as response:  # some never end
            assert response.status_code < 500, (case.as_curl_command(), response.text)
            if response.status_code >= 400:
                assert set(response.json()) == {"error"}, case.as_curl_command()

    check()


HOSTILE = ["a\0b", "\ud83d", "caf\udce9", "", "x" * 5000]
NOT_TEXT: list[Any] = [None, True, 10**30, [], {"a": "\0"}]
DEEP = "[" * 100_000 + "]" * 100_000
PART = {
    "type": "dynamic-tool",
    "toolName": "saw",
    "toolCallId": "c1",
    "state": "output-available",
    "output": {},
}
REAL = {
    "session_id": "real",
    "model": "master",
    "name": "calculate",
}
"""What exists, by the names of path parameters; another one is `x`."""


def fill(path: str, **values: str) -> str:
    """Return a route's path with values in it."""
    return re.sub(r"\{(\w+)[^}]*\}", lambda found: {**REAL, **values}.get(found[1], "x"), path)


MORE_BODIES: dict[str, list[dict[str, Any]]] = {
    "POST /api/v1/chat": [
        {"message": "Hi", "session_id": "s", "agent": "master", "model": "m", "tab_id": "t", "skills": ["x"]},
        {"id": "s", "messages": [{"id": "m", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}]},
        {
            "id": "s",
            "messages": [
                {
                    "id": "m",
                    "role": "user",
                    "parts": [
                        {"type": "text", "text": "Hi"},
                        {
                            "type": "file",
                            "url": "data:text/plain,Hi",
                            "mediaType": "text/plain",
                            "filename": "x",
                        },
                    ],
                }
            ],
        },
        {
            "id": "s",
            "messages": [
                {
                    "id": "m",
                    "role": "assistant",
                    "metadata": {"run_id": "r", "number": 3},
                    "parts": [{**PART, "approval": {"id": "a", "approved": True}}],
                }
            ],
        },
        {"trigger": "regenerate-message", "id": "real", "messageId": "m", "parent_id": "p"},
    ],
    "POST /api/v1/sessions/import": [
        {
            "title": "T",
            "head": "m2",
            "messages": [
                {
                    "id": "m1",
                    "role": "user",
                    "parts": [{"type": "text", "text": "Hi"}],
                    "metadata": {"a": "b"},
                },
                {
                    "id": "m2",
                    "parent_id": "m1",
                    "role": "assistant",
                    "parts": [
                        {"type": "step-start"},
                        {"type": "reasoning", "text": "Hm"},
                        PART,
                        {"type": "data-skill", "data": {"name": "x", "content": "c", "folder": "f"}},
                        {"type": "data-subagent", "data": {"run_id": "r", "path": ["r"], "agent": "a"}},
                    ],
                },
            ],
        },
        {"markdown": "# T\n\n## You\n\nHi\n"},
    ],
    "POST /ai/tools/ack": [
        {"toolCallId": "c", "status": "failed", "errorText": "e", "output": {"x": ["y"]}, "tabId": "t"}
    ],
    "PATCH /api/v1/sessions/{session_id}": [{"title": "T", "head": "h"}],
    "POST /api/v1/schedules": [
        {
            "schedule": "0 9 1 1 * Europe/Berlin",
            "message": "Hi",
            "title": "T",
            "session_id": "s",
            "model": "m",
            "mode": "plan",
            "missed": "skip",
            "enabled": False,
        }
    ],
}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'x.db'}" if request.param == "sqlite" else await make_database()


def find_leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values inside of a body."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*place, key)
        yield from find_leaves(item, (*place, key))


def put(body: Any, place: tuple[Any, ...], value: Any) -> Any:
    changed = inner = copy.deepcopy(body)
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


def list_bodies(operation: dict[str, Any], label: str, document: dict[str, Any]) -> list[Any]:
    """Good bodies of an operation."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = content.get("schema", {})
    named = [schema, *schema.get("anyOf", [])]
    names = [one["$ref"].rpartition("/")[2] for one in named if "$ref" in one]
    examples = [
        example for name in names for example in document["components"]["schemas"][name].get("examples", [])
    ]
    return examples + MORE_BODIES.get(label, [])


def list_requests(document: dict[str, Any]) -> Iterator[tuple[str, str, bytes | None]]:
    """Method, path and body of requests that are wrong in one place each."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield from make_requests(method.upper(), path, operation, document)


def make_requests(
    method: str, path: str, operation: dict[str, Any], document: dict[str, Any]
) -> Iterator[tuple[str, str, bytes | None]]:
    bodies = list_bodies(operation, f"{method} {path}", document)
    first = json.dumps(bodies[0]).encode() if bodies else None
    whole = fill(path)
    for parameter, text in itertools.product(operation.get("parameters", []), HOSTILE):
        name, shown = parameter["name"], quote(text.encode("utf-8", "surrogatepass"), safe="") or "%20"
        if parameter["in"] == "path":
            yield method, fill(path, **{name: shown}), first
        elif parameter["in"] == "query":
            yield method, f"{whole}?{name}={shown}", first
    for body in bodies:
        yield from ((method, whole, changed) for changed in spoil(body))


def spoil(body: Any) -> Iterator[bytes]:
    """The body with one wrong value each."""
    yield DEEP.encode()
    for place in find_leaves(body):
        for value in (*HOSTILE, *NOT_TEXT):
            yield json.dumps(put(body, place, value)).encode()
        deep = "[" * 300 + "]" * 300
        yield json.dumps(put(body, place, "DEEP")).replace('"DEEP"', deep).encode()


def is_left_out(method: str, path: str) -> bool:
    """Whether it never ends, reads folders again, or would take away what the others need."""
    return path.endswith(("/events", "/stream", "/reload")) or (method == "DELETE" and path.endswith("/real"))


@pytest.mark.slow
def test_no_hostile_text_number_or_shape_is_answered_with_a_5xx(tmp_path: Path, url: str) -> None:
    with serve_apart(tmp_path, url) as address, httpx.Client(base_url=address, timeout=PATIENCE) as client:
        make_things(client)
        document = client.get("/openapi.json").json()
        headers = {"content-type": "application/json", "accept": "application/json"}

        def send(request: tuple[str, str, bytes | None]) -> None:
            method, path, body = request
            response = client.request(method, path, content=body, headers=headers)
            assert response.status_code < 500, (method, path, (body or b"")[:300], response.text)

        requests = [one for one in list_requests(document) if not is_left_out(*one[:2])]
        assert len(requests) > 1000
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(send, requests))
        for session in client.get("/api/v1/sessions?limit=200").json()["sessions"]:
            for view in ("", "/messages", "/export", "/export?format=markdown"):
                response = client.get(f"/api/v1/sessions/{session['id']}{view}")
                assert response.status_code == 200, (session, view, response.text)
        assert client.get("/readyz").status_code == 200
