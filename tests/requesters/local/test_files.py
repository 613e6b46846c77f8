"""A model is found by the path of its file or by its name, and described by its header."""

import os
from pathlib import Path

import pytest

import gguf_files
from dovetail.errors import ConfigError, ModelError
from dovetail.requesters.local import weights
from dovetail.requesters.local.files import iterate_files, list_models, locate, read_model


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
    weights.cache_folder().mkdir(parents=True)
    return weights.cache_folder()


def put(path: Path, data: bytes | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf_files.build() if data is None else data)
    return path


def test_path_may_be_absolute_relative_or_below_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "models" / "tiny.gguf")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in (str(path), "models/tiny.gguf", "./models/tiny.gguf", "~/models/tiny.gguf"):
        assert locate(name) == path
    monkeypatch.chdir(tmp_path / "models")
    assert locate("tiny.gguf") == path


def test_name_is_the_file_in_the_cache_folder_or_in_a_folder_of_the_settings(
    tmp_path: Path, cache: Path
) -> None:
    first = put(cache / "Tiny-1B.Q4_K_M.gguf")
    second = put(tmp_path / "more" / "publisher" / "other.gguf")
    folders = [str(tmp_path / "more")]
    assert locate("Tiny-1B.Q4_K_M") == first
    assert locate("Tiny-1B.Q4_K_M.gguf") == first
    assert locate("other", folders) == second
    with pytest.raises(ConfigError, match="Unknown embedded model 'other'"):
        locate("other")


def test_unknown_name_is_refused_with_the_nearest_one(cache: Path) -> None:
    put(cache / "mistral-7b.gguf")
    with pytest.raises(ConfigError, match="Did you mean 'mistral-7b'") as caught:
        locate("mistral-7")
    assert "model.folders" in str(caught.value.hint)


def test_two_files_of_one_name_are_both_listed_in_the_error(tmp_path: Path, cache: Path) -> None:
    put(cache / "tiny.gguf")
    put(tmp_path / "more" / "tiny.gguf")
    with pytest.raises(ConfigError, match=r"Several files are named 'tiny': .*cache.*more"):
        locate("tiny", [str(tmp_path / "more")])


def test_folder_that_is_listed_twice_does_not_make_a_name_ambiguous(tmp_path: Path) -> None:
    put(tmp_path / "more" / "tiny.gguf")
    assert locate("tiny", [str(tmp_path / "more"), str(tmp_path / "more")])
    assert len(list(iterate_files([str(tmp_path / "more"), str(tmp_path)]))) == 1


def test_models_of_the_catalogue_are_not_listed_again(cache: Path) -> None:
    put(cache / weights.get_weights("small").file_name)
    assert list(iterate_files()) == []


def test_list_leaves_out_what_is_not_a_chat_model(cache: Path) -> None:
    put(cache / "tiny.gguf")
    put(cache / "mmproj.gguf", gguf_files.build({"general.architecture": "clip"}))
    put(cache / "broken.gguf", b"GGUF")
    assert [(name, file.title) for name, file in list_models()] == [("tiny", "Tiny")]


def test_parts_are_one_model(cache: Path) -> None:
    parts = [put(cache / f"big-{number:05}-of-00003.gguf") for number in (1, 2, 3)]
    assert locate("big") == parts[0]
    assert locate(str(parts[2])) == parts[0]
    assert list(iterate_files()) == parts[:1]
    file = read_model(parts[0])
    assert file.header.parameters == 3 * 192
    assert file.size == sum(part.stat().st_size for part in parts)
    parts[1].unlink()
    with pytest.raises(ModelError, match=r"No weights at '.*00002-of-00003\.gguf'"):
        read_model(parts[0])


def test_file_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "x.gguf", gguf_files.build({"general.architecture": "bert"}))
    with pytest.raises(ModelError, match="is not a chat model: it holds a model of architecture 'bert'"):
        read_model(path)


def test_context_is_the_models_own_within_the_memory(tmp_path: Path) -> None:
    metadata = {**gguf_files.LLAMA, "llama.context_length": 131_072}
    file = read_model(put(tmp_path / "x.gguf", gguf_files.build(metadata)))
    per_token = file.header.bytes_per_token
    assert file.choose_context(memory=1 << 40) == 32_768
    assert file.choose_context(memory=4 * 10_000 * per_token) == 10_000
    assert file.choose_context(memory=1) == 2048
    assert file.choose_context(100_000, memory=1) == 100_000
    assert file.choose_context(500_000) == 131_072


def test_options_that_the_file_recommends_are_used(tmp_path: Path) -> None:
    path = put(tmp_path / "x.gguf")
    assert read_model(path).sampling == {"temperature": 0.2, "top_p": 0.9}
    put(
        path,
        gguf_files.build({**gguf_files.LLAMA, "general.sampling.temp": 0.5, "general.sampling.top_k": 20}),
    )
    os.utime(path, ns=(1, 1))
    assert read_model(path).sampling == {"temperature": 0.5, "top_k": 20}


def test_size_of_a_model_says_whether_it_chooses_tools(tmp_path: Path) -> None:
    assert not read_model(put(tmp_path / "x.gguf")).chooses_tools
