"""The page's list of models: the catalogue, the files on this machine and the one in use."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import gguf_files
from dovetail.requesters.local import weights
from dovetail.requesters.model_status import ModelStatus
from dovetail.settings import as_settings
from model_servers import Received, clear_variables, run_server, send_json


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    clear_variables(monkeypatch)


def test_files_are_listed_and_the_active_one_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    weights.cache_folder().mkdir()
    (weights.cache_folder() / "tiny.gguf").write_bytes(gguf_files.build())
    models = ModelStatus(as_settings({"model": {"name": "local:tiny"}})).describe()
    assert [model["name"] for model in models] == ["local:tiny", "local:good", "local:small"]
    assert models[0] == {
        "name": "local:tiny",
        "title": "Tiny",
        "size": len(gguf_files.build()),
        "state": "ready",
        "active": True,
    }


def test_active_model_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    for name in ("openai:gpt-5", f"local:{tmp_path}/x.gguf", "local:good"):
        models = ModelStatus(as_settings({"model": {"name": name}})).describe()
        assert [model["name"] for model in models if model["active"]] == [name]


def test_small_model_is_marked_as_a_stand_in_where_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    for name, marked in (("local:small", ["local:small"]), ("local:good", [])):
        models = ModelStatus(as_settings({"model": {"name": name}})).describe()
        assert [model["name"] for model in models if model.get("stand_in")] == marked


async def test_a_download_that_has_just_begun_is_in_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    status = ModelStatus(as_settings({"model": {"name": "openai:m"}}))

    def describe_good() -> Mapping[str, Any]:
        return next(each for each in status.describe() if each["name"] == "local:good")

    assert describe_good()["state"] == "missing"
    await status.start_pull("good")
    await asyncio.sleep(0)  # it has begun, and has nothing to report yet
    good = describe_good()
    assert (good["state"], good["progress"]) == ("downloading", {"done": 0, "total": good["size"]})
    assert await status.stop_pull()
    assert describe_good()["state"] == "missing"


def test_models_of_configured_providers_are_listed_and_servers_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))

    def answer(received: Received) -> Any:
        names = {"/openai/models": ["gpt-5-mini", "text-embedding-3-small"], "/vllm/models": ["mine"]}
        return send_json({"data": [{"id": name} for name in names[received.path]]})

    with run_server(answer) as server:
        providers = {name: {"base_url": f"{server.url}/{name}"} for name in ("openai", "vllm")}
        model = {"name": "openai:gpt-5-nano", "fallbacks": ["anthropic:claude-sonnet-4-5"]}
        status = ModelStatus(as_settings({"model": {**model, "providers": providers}}))
        models = {each["name"]: each for each in status.describe()}
        status.describe()
        assert len(server.requests) == 2
    assert next(iter(models)) == "openai:gpt-5-nano"
    served = {name for name in models if not name.startswith("local:")}
    assert served == {"openai:gpt-5-nano", "anthropic:claude-sonnet-4-5", "openai:gpt-5-mini", "vllm:mine"}
    assert models["openai:gpt-5-mini"]["context_tokens"] == 400_000
    assert models["vllm:mine"]["free"] is True


def test_bare_name_is_shown_with_its_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    providers = {"openai": {"base_url": "http://127.0.0.1:9", "api_key": "sk-key"}}
    status = ModelStatus(as_settings({"model": {"name": "gpt-5-mini", "providers": providers}}))
    assert status.active == "openai:gpt-5-mini"
    assert status.describe()[0]["name"] == "openai:gpt-5-mini"
