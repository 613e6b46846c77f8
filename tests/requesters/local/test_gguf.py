"""The header of a GGUF file is read with distrust: any bytes are a header or a clear error."""

import random
import struct
from pathlib import Path

import pytest

import gguf_files
from dovetail.errors import ModelError
from dovetail.requesters.local.gguf import Header, read_header


def read(folder: Path, data: bytes) -> Header:
    path = folder / "model.gguf"
    path.write_bytes(data)
    return read_header(path)


def test_header_says_what_the_model_is(tmp_path: Path) -> None:
    header = read(tmp_path, gguf_files.build())
    assert (header.architecture, header.title, header.is_chat_model) == ("llama", "Tiny", True)
    assert (header.parameters, header.tensors, header.context_length) == (192, 1, 4096)
    # Two layers, two heads of 16 values for keys and for values, two bytes each.
    assert header.bytes_per_token == 2 * 2 * 2 * (16 + 16)


def test_heads_may_differ_between_layers(tmp_path: Path) -> None:
    metadata = {**gguf_files.LLAMA, "llama.attention.head_count_kv": [2, 4]}
    assert read(tmp_path, gguf_files.build(metadata)).bytes_per_token == 2 * 2 * 4 * (16 + 16)


@pytest.mark.parametrize(
    "metadata",
    [
        {"general.architecture": "clip"},
        {"general.architecture": "nomic-bert"},
        {"general.architecture": "llama", "general.type": "adapter"},
    ],
)
def test_projector_encoder_and_adapter_are_no_chat_models(tmp_path: Path, metadata: dict[str, str]) -> None:
    assert not read(tmp_path, gguf_files.build(metadata)).is_chat_model


def test_missing_file_and_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"No weights at '.*gone\.gguf'"):
        read_header(tmp_path / "gone.gguf")
    with pytest.raises(ModelError, match="Cannot read"):
        read_header(tmp_path)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not in GGUF format"),
        (b"PK\x03\x04 something else", "not in GGUF format"),
        (b"GGUF", "cut off"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1 is not supported"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "version 50331648 is not supported"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 40, 0), "malformed"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 62), "malformed"),
        (gguf_files.build({"general.alignment": 0}), "malformed"),
    ],
)
def test_file_that_is_not_a_model_is_refused_with_the_reason(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    with pytest.raises(ModelError, match=reason):
        read(tmp_path, data)


def test_list_that_claims_more_items_than_the_file_has_is_refused(tmp_path: Path) -> None:
    for kind in (8, 10, 9):
        head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + gguf_files.text("x")
        with pytest.raises(ModelError, match=r"malformed"):
            read(tmp_path, head + struct.pack("<IIQ", 9, kind, 1 << 60))


def test_file_is_refused_wherever_it_is_cut_off(tmp_path: Path) -> None:
    data = gguf_files.build()
    for length in range(len(data)):
        with pytest.raises(ModelError):
            read(tmp_path, data[:length])
    assert read(tmp_path, data)


def test_wrong_bytes_are_an_error_or_a_header(tmp_path: Path) -> None:
    data, chance = gguf_files.build(), random.Random(7)
    outcomes: set[str] = set()
    for _ in range(3000):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 1, 4, 16))):
            changed[chance.randrange(4, 420)] = chance.choice((0, 1, 8, 9, 127, 255, chance.randrange(256)))
        try:
            header = read(tmp_path, bytes(changed))
            assert header.context_length >= 0
            assert header.bytes_per_token >= 0
            outcomes.add("header")
        except ModelError:
            outcomes.add("error")
    assert outcomes == {"header", "error"}
