"""The page's list of models: the catalogue, the files on this machine and the one in use."""

from pathlib import Path

import pytest

import gguf_files
from dovetail.requesters.local import weights
from dovetail.requesters.model_status import ModelStatus
from dovetail.settings import as_settings


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
