"""`dovetail models` lists, fetches and finds the embedded models."""

from functools import partial
from pathlib import Path

import pytest

import command_line
import gguf_files
from dovetail.requesters.local import weights

run = partial(command_line.run, "models")


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))


def put(name: str) -> Path:
    """A file that stands for fetched weights."""
    entry = weights.get_weights(name)
    path = weights.cache_folder() / entry.file_name
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        file.truncate(entry.size)
    weights.mark_verified(path)
    return path


def test_list_shows_the_downloaded_models_and_the_one_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    put("small")
    assert run("list") == 0
    good, small = capsys.readouterr().out.splitlines()
    assert good.endswith("1.1 GB  not downloaded: dovetail models pull good")
    assert small.endswith("98 MB  downloaded, used by default")


def test_files_in_the_cache_folder_and_in_the_folders_of_the_settings_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = weights.cache_folder() / "tiny.gguf", tmp_path / "more" / "deep" / "other.gguf"
    for path in (first, second):
        path.parent.mkdir(parents=True)
        path.write_bytes(gguf_files.build())
    (tmp_path / "dovetail.toml").write_text("[model]\nfolders = ['more']\n")
    monkeypatch.chdir(tmp_path)
    assert run("list") == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == ["local:tiny", "local:other"]
    assert lines[1].endswith(str(second))
    assert run("path", "other") == 0
    assert capsys.readouterr().out.strip() == str(second)


def test_good_model_is_used_when_both_are_here(capsys: pytest.CaptureFixture[str]) -> None:
    put("small")
    put("good")
    run("list")
    assert capsys.readouterr().out.splitlines()[0].endswith("downloaded, used by default")


def test_file_of_another_size_does_not_count() -> None:
    put("small").write_bytes(b"cut off")
    assert weights.find("small") is None


def test_path_of_a_model_or_of_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    path = put("small")
    assert run("path", "small") == 0
    assert run("path") == 0
    assert capsys.readouterr().out.splitlines() == [str(path), str(path.parent)]


def test_path_of_a_model_that_is_not_here_says_how_to_fetch_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("path", "good") == 1
    assert "dovetail models pull good" in capsys.readouterr().err


def test_pull_of_a_downloaded_model_prints_its_path(capsys: pytest.CaptureFixture[str]) -> None:
    path = put("small")
    assert run("pull", "small") == 0
    assert capsys.readouterr().out == f"{path}\n"


def test_pull_of_an_unknown_model_names_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("pull", "huge") == 1
    assert capsys.readouterr().err == "Error: Unknown embedded model 'huge'. Expected one of: good, small.\n"


def test_pull_that_fails_is_one_message(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "models").write_text("a file where the folder should be")
    assert run("pull", "small") == 1
    error = capsys.readouterr().err
    assert "Cannot use the cache folder" in error
    assert "Traceback" not in error
