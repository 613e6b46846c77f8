"""Split a response of AWS into messages: `application/vnd.amazon.eventstream`, binary, with checksums.

A message is a prelude (its length, the length of its headers, and a checksum of both), the headers, the
payload, and a checksum of everything before it. All numbers are big-endian.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

PRELUDE = struct.Struct(">III")
CHECKSUM = struct.Struct(">I")
LARGEST_MESSAGE = 24 * 1024 * 1024
LARGEST_HEADERS = 128 * 1024
TEXT = 7
LENGTHS = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value by its type; the other types (6 and 7) carry their length."""


class FrameError(ValueError):
    """The bytes are not a valid message; the text says why."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message: its headers with text values, and its payload."""

    headers: Mapping[str, str]
    payload: bytes


class FrameSplitter:
    """Collect bytes and return the messages that they complete."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the messages that these bytes complete; raise `FrameError` at the first invalid one."""
        self._buffer += data
        buffer, place = self._buffer, 0
        try:
            while len(buffer) - place >= PRELUDE.size:
                length, headers, checksum = PRELUDE.unpack_from(buffer, place)
                _check_prelude(bytes(buffer[place : place + 8]), length, headers, checksum)
                if len(buffer) - place < length:
                    return
                message = bytes(buffer[place : place + length])
                place += length
                yield _read_frame(message, headers)
        finally:
            del buffer[:place]


def _check_prelude(prelude: bytes, length: int, headers: int, checksum: int) -> None:
    if crc32(prelude) != checksum:
        raise FrameError("a message of the stream has a wrong checksum")
    smallest = PRELUDE.size + headers + CHECKSUM.size
    if headers > LARGEST_HEADERS or length > LARGEST_MESSAGE or length < smallest:
        raise FrameError("a message of the stream has an invalid length")


def _read_frame(message: bytes, headers: int) -> Frame:
    (checksum,) = CHECKSUM.unpack_from(message, len(message) - CHECKSUM.size)
    if crc32(memoryview(message)[: -CHECKSUM.size]) != checksum:
        raise FrameError("a message of the stream has a wrong checksum")
    start = PRELUDE.size + headers
    return Frame(_read_headers(message[PRELUDE.size : start]), message[start : -CHECKSUM.size])


@lru_cache(maxsize=64)  # nearly all messages of a stream have the same headers
def _read_headers(data: bytes) -> Mapping[str, str]:
    found: dict[str, str] = {}
    place = 0
    try:
        while place < len(data):
            name_end = place + 1 + data[place]
            name, kind = data[place + 1 : name_end].decode(), data[name_end]
            place = name_end + 1
            if kind in LENGTHS:
                length = LENGTHS[kind]
            else:
                (length,) = struct.unpack_from(">H", data, place)
                place += 2
            if kind == TEXT:
                found[name] = data[place : place + length].decode()
            place += length
    except (IndexError, UnicodeDecodeError, struct.error):
        raise FrameError("a message of the stream has invalid headers") from None
    return found
