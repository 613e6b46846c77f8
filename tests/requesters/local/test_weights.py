"""A weights file is read for its checksum once, and again when it was written to."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from dovetail.requesters.local import weights
from dovetail.requesters.local.weights import CATALOGUE

CONTENT = b"weights"
TINY = replace(CATALOGUE["small"], sha256=hashlib.sha256(CONTENT).hexdigest(), size=len(CONTENT))


def test_bytes_are_checked_once_and_again_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    compute = weights.compute_checksum
    monkeypatch.setattr(weights, "compute_checksum", lambda path: (read.append(path), compute(path))[1])
    path = tmp_path / "tiny.gguf"
    path.write_bytes(CONTENT)
    assert weights.is_verified(path, TINY)
    assert weights.is_verified(path, TINY)
    assert len(read) == 1
    path.write_bytes(b"weighty")
    os.utime(path, ns=(1, 1))  # a clock may give two writes one time
    assert not weights.is_verified(path, TINY)
    assert len(read) == 2


def test_a_broken_file_is_removed_and_a_sound_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    assert not weights.remove_if_corrupt(path, TINY)
    path.write_bytes(CONTENT)
    assert not weights.remove_if_corrupt(path, TINY)
    path.write_bytes(b"weighty and more")
    assert weights.remove_if_corrupt(path, TINY)
    assert not path.exists()


def test_a_note_that_is_not_text_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(CONTENT)
    (tmp_path / "tiny.gguf.checked").write_bytes(b"\xff\xfe")
    assert weights.is_verified(path, TINY)
    assert (tmp_path / "tiny.gguf.checked").read_text().startswith("7 ")
