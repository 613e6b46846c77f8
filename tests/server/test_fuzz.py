"""Whatever the OpenAPI document allows, and much it does not, is never answered with a 500."""

import asyncio
import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
from schemathesis import GenerationMode

from serving import serve

EXAMPLES = 4
REPLIES = ["Hello."] * 5000


@contextmanager
def serve_in_thread(folder: Path) -> Iterator[str]:
    """A server on a loop of its own: the client here blocks."""
    address: Future[str] = Future()
    leaving: Future[None] = Future()

    async def main() -> None:
        async with serve(folder, REPLIES) as server:
            address.set_result(server.address)
            await asyncio.wrap_future(leaving)

    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    try:
        yield address.result(20)
    finally:
        leaving.set_result(None)
        thread.join(20)


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_no_request_is_answered_with_a_500(tmp_path: Path) -> None:
    with serve_in_thread(tmp_path) as address, httpx.Client(base_url=address, timeout=10) as client:
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
        response = case.call(base_url=address, timeout=10)
        assert response.status_code < 500, (case.as_curl_command(), response.text)
        if response.status_code >= 400:
            assert set(response.json()) == {"error"}, case.as_curl_command()

    check()
