"""Write GGUF files for tests: tiny ones from values, and parts of a real one."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

ALIGNMENT = 32
F32 = 0


def text(value: str) -> bytes:
    """A text with its length before it."""
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key: str, value: Any) -> bytes:
    """One entry of the metadata."""
    kind, data = _encode(value)
    return text(key) + struct.pack("<I", kind) + data


def _encode(value: Any) -> tuple[int, bytes]:
    if isinstance(value, bool):
        return 7, struct.pack("<?", value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    if isinstance(value, float):
        return 6, struct.pack("<f", value)
    if isinstance(value, str):
        return 8, text(value)
    items = [_encode(item) for item in value]
    kind = items[0][0] if items else 4
    return 9, struct.pack("<IQ", kind, len(items)) + b"".join(data for _, data in items)


LLAMA: dict[str, Any] = {
    "general.architecture": "llama",
    "general.name": "Tiny",
    "llama.context_length": 4096,
    "llama.embedding_length": 64,
    "llama.block_count": 2,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "tokenizer.ggml.tokens": ["a", "b", "ç"],
    "tokenizer.ggml.scores": [0.0, 0.5, 1.0],
}
"""The metadata of a small model that only its header describes."""


def build(metadata: Mapping[str, Any] = LLAMA, tensors: Mapping[str, Sequence[int]] | None = None) -> bytes:
    """The bytes of a file with these tensors of zeros, by name and shape."""
    shapes = {"token_embd.weight": (64, 3)} if tensors is None else tensors
    infos, data = b"", b""
    for name, shape in shapes.items():
        infos += text(name) + struct.pack("<I", len(shape))
        infos += b"".join(struct.pack("<Q", each) for each in shape) + struct.pack("<IQ", F32, len(data))
        size = 4
        for each in shape:
            size *= each
        data += bytes(-(-size // ALIGNMENT) * ALIGNMENT)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(metadata))
    head += b"".join(entry(key, value) for key, value in metadata.items()) + infos
    return head + bytes(-len(head) % ALIGNMENT) + data


@dataclass
class Original:
    """A real file, cut into its entries and tensors, so that others can be made of them."""

    entries: list[bytes]
    tensors: list[tuple[bytes, bytes]]  # what stands before the offset, and the data

    @classmethod
    def read(cls, path: Path) -> "Original":
        """Cut a file into its pieces."""
        return _Cutter(path.read_bytes()).cut()

    def write(self, path: Path, tensors: Sequence[tuple[bytes, bytes]], entries: Sequence[bytes]) -> None:
        """Write a file with these entries and tensors."""
        infos, offset = b"", 0
        for info, data in tensors:
            infos += info + struct.pack("<Q", offset)
            offset += len(data)
        head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries) + infos
        with path.open("wb") as file:
            file.write(head + bytes(-len(head) % ALIGNMENT))
            for _, data in tensors:
                file.write(data)

    def split(self, folder: Path, name: str, count: int) -> list[Path]:
        """Write the model in `count` parts."""
        paths: list[Path] = []
        for number in range(count):
            path = folder / f"{name}-{number + 1:05}-of-{count:05}.gguf"
            own = [
                text("split.no") + struct.pack("<IH", 2, number),
                text("split.count") + struct.pack("<IH", 2, count),
                text("split.tensors.count") + struct.pack("<Ii", 5, len(self.tensors)),
            ]
            self.write(path, self.tensors[number::count], own if number else [*self.entries, *own])
            paths.append(path)
        return paths


SIZES = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), (1, 1, 2, 2, 4, 4, 4, 1, 8, 8, 8), strict=True))


class _Cutter:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 4

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(f"<{form}", self.data, self.at)
        self.at += struct.calcsize(f"<{form}")
        return value

    def skip_text(self) -> None:
        length = self.number("Q")
        self.at += length

    def skip_value(self, kind: int) -> None:
        if kind == 8:
            self.skip_text()
        elif kind == 9:
            kind, count = self.number("I"), self.number("Q")
            for _ in range(count):
                self.skip_value(kind)
        else:
            self.at += SIZES[kind]

    def cut(self) -> Original:
        assert self.number("I") == 3
        tensors, entries = self.number("Q"), self.number("Q")
        pieces: list[bytes] = []
        for _ in range(entries):
            start = self.at
            self.skip_text()
            self.skip_value(self.number("I"))
            pieces.append(self.data[start : self.at])
        infos: list[tuple[bytes, int]] = []
        for _ in range(tensors):
            start = self.at
            self.skip_text()
            dimensions = self.number("I")
            self.at += 8 * dimensions + 4
            infos.append((self.data[start : self.at], self.number("Q")))
        body = self.data[-(-self.at // ALIGNMENT) * ALIGNMENT :]
        ends = sorted([offset for _, offset in infos] + [len(body)])
        following = dict(pairwise(ends))
        return Original(pieces, [(info, body[offset : following[offset]]) for info, offset in infos])
