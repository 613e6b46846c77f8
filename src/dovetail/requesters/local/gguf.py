"""Read the header of a GGUF file: what the model is, and whether the file is complete.

The engine runs in this process and may end it on a malformed file, so every count, length and offset is
compared with the file's size before the engine sees the file.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

from dovetail.data.shapes import is_list, read_count
from dovetail.errors import ModelError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MOST_ENTRIES = 1 << 16
"""Most metadata entries, and most tensors, of one file."""
LONGEST_KEY = 1 << 16
MOST_DIMENSIONS = 4
STRING, ARRAY = 8, 9
NUMBERS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
"""The format of each type of number, for `struct`."""

BLOCKS: dict[int, tuple[int, int]] = {
    0: (1, 4),
    1: (1, 2),
    2: (32, 18),
    3: (32, 20),
    6: (32, 22),
    7: (32, 24),
    8: (32, 34),
    9: (32, 36),
    10: (256, 84),
    11: (256, 110),
    12: (256, 144),
    13: (256, 176),
    14: (256, 210),
    15: (256, 292),
    16: (256, 66),
    17: (256, 74),
    18: (256, 98),
    19: (256, 50),
    20: (32, 18),
    21: (256, 110),
    22: (256, 82),
    23: (256, 136),
    24: (1, 1),
    25: (1, 2),
    26: (1, 4),
    27: (1, 8),
    28: (1, 8),
    29: (256, 56),
    30: (1, 2),
    34: (256, 54),
    35: (256, 66),
    39: (32, 17),
}
"""Values per block and bytes per block of each type of tensor; of another type only the start is checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The metadata of a GGUF file, without its lists of texts, and the number of its parameters."""

    metadata: Mapping[str, Any]
    parameters: int
    tensors: int

    @property
    def architecture(self) -> str:
        """The name of the architecture, such as `llama`."""
        return str(self.metadata.get("general.architecture") or "")

    @property
    def title(self) -> str:
        """The model's own name; empty if the file has none."""
        return str(self.metadata.get("general.name") or "")

    @property
    def is_chat_model(self) -> bool:
        """Whether the file holds a model that writes text: not a projector, an adapter or an encoder."""
        kind = self.metadata.get("general.type", "model")
        return kind == "model" and self.architecture != "clip" and not self.architecture.endswith("bert")

    @property
    def context_length(self) -> int:
        """The tokens that the model was trained to read; 0 if unknown."""
        return self._count("context_length")

    @property
    def bytes_per_token(self) -> int:
        """The memory that one token of context takes, at two bytes per value; 0 if unknown."""
        heads = self._count("attention.head_count")
        width = self._count("embedding_length") // heads if heads else 0
        key = self._count("attention.key_length") or width
        value = self._count("attention.value_length") or width
        kept = self._count("attention.head_count_kv") or heads
        return 2 * self._count("block_count") * kept * (key + value)

    def _count(self, key: str) -> int:
        value = self.metadata.get(f"{self.architecture}.{key}")
        return max(map(read_count, value), default=0) if is_list(value) else read_count(value)


def read_header(path: Path) -> Header:
    """Read and check the header of one file; raise `ModelError` if the file is not complete GGUF."""
    try:
        with path.open("rb") as file:
            return _Reader(file, path.stat().st_size).read()
    except FileNotFoundError as error:
        raise ModelError(
            f"No weights at {str(path)!r}.",
            provider="local",
            hint="`dovetail models list` lists the models on this machine.",
        ) from error
    except OSError as error:
        raise ModelError(f"Cannot read {str(path)!r}: {error.strerror}.", provider="local") from error
    except _MalformedError as error:
        raise ModelError(
            f"Cannot load {str(path)!r}: {error}.",
            provider="local",
            hint="The file must be a complete model in GGUF format. Download it again if it was cut off.",
        ) from error


class _MalformedError(Exception):
    """The file is not complete GGUF; the text says why."""


class _Reader:
    """Reader of one file; nothing is read or skipped beyond its end."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size

    def read(self) -> Header:
        if self._file.read(4) != MAGIC:
            raise _MalformedError("it is not in GGUF format")
        version = self._number("I")
        if version not in VERSIONS:
            raise _MalformedError(f"GGUF version {version} is not supported")
        tensors, entries = self._number("Q"), self._number("Q")
        if max(tensors, entries) > MOST_ENTRIES:
            raise _MalformedError("its header is malformed")
        metadata = dict(self._entry() for _ in range(entries))
        found = [self._tensor() for _ in range(tensors)]
        self._check_end(metadata, [end for _, end in found])
        return Header(metadata=metadata, parameters=sum(count for count, _ in found), tensors=tensors)

    def _check_end(self, metadata: Mapping[str, Any], ends: list[int]) -> None:
        alignment = metadata.get("general.alignment", 32)
        if type(alignment) is not int or alignment <= 0 or alignment & (alignment - 1):
            raise _MalformedError("its header is malformed")
        start = -(-self._file.tell() // alignment) * alignment
        needed = start + max(ends, default=0)
        if needed > self._size:
            raise _MalformedError(f"it is cut off: {self._size} of at least {needed} bytes")

    def _entry(self) -> tuple[str, Any]:
        key = self._text(LONGEST_KEY)
        return key, self._value(self._number("I"))

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            return self._text(self._size)
        if kind != ARRAY:
            return self._number(self._format(kind))
        kind, count = self._number("I"), self._number("Q")
        if kind == STRING:
            return self._skip_texts(count)
        size = struct.calcsize(f"<{self._format(kind)}")
        if count > MOST_ENTRIES:
            return self._skip(count * size)
        return list(struct.unpack(f"<{count}{self._format(kind)}", self._take(count * size)))

    def _tensor(self) -> tuple[int, int]:
        """Return the number of a tensor's values, and where its data ends."""
        self._skip(self._number("Q"))
        dimensions = self._number("I")
        if dimensions > MOST_DIMENSIONS:
            raise _MalformedError("its header is malformed")
        count = prod(self._number("Q") for _ in range(dimensions))
        kind, offset = self._number("I"), self._number("Q")
        values, size = BLOCKS.get(kind, (1, 0))
        return count, offset + -(-count // values) * size

    def _format(self, kind: int) -> str:
        if kind not in NUMBERS:
            raise _MalformedError("its header is malformed")
        return NUMBERS[kind]

    def _number(self, form: str) -> Any:
        return struct.unpack(f"<{form}", self._take(struct.calcsize(f"<{form}")))[0]

    def _text(self, longest: int) -> str:
        length = self._number("Q")
        if length > longest:
            raise _MalformedError("its header is malformed")
        return self._take(length).decode("utf-8", "replace")

    def _skip_texts(self, count: int) -> None:
        if count * 8 > self._size:
            raise _MalformedError("its header is malformed")
        for _ in range(count):
            self._skip(self._number("Q"))

    def _take(self, length: int) -> bytes:
        data = self._file.read(length) if length <= self._size else b""
        if len(data) != length:
            raise _MalformedError("it is cut off, or its header is malformed")
        return data

    def _skip(self, length: int) -> None:
        if length > self._size or self._file.seek(length, 1) > self._size:
            raise _MalformedError("it is cut off, or its header is malformed")
