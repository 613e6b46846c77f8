"""The binary stream is split as botocore splits it, however it is cut; damaged bytes are noticed."""

import random
import struct
from collections.abc import Iterable
from zlib import crc32

import pytest
from botocore.eventstream import EventStreamBuffer

from aws_frames import write_event, write_exception, write_frame
from dovetail.requesters.bedrock.event_stream import Frame, FrameError, FrameSplitter

STREAM = (
    write_event("messageStart", {"role": "assistant"})
    + write_event("contentBlockDelta", {"delta": {"text": "Grüße 世界"}, "contentBlockIndex": 0})
    + write_frame({}, b"")
    + write_exception("throttlingException", {"message": "slow down"})
)


def split(pieces: Iterable[bytes]) -> list[Frame]:
    splitter = FrameSplitter()
    return [frame for piece in pieces for frame in splitter.feed(piece)]


def test_messages_are_those_that_botocore_reads() -> None:
    buffer = EventStreamBuffer()
    buffer.add_data(STREAM)
    theirs = [Frame(event.headers, event.payload) for event in buffer]
    assert split([STREAM]) == theirs
    assert len(theirs) == 4


def test_stream_may_be_cut_at_every_byte() -> None:
    whole = split([STREAM])
    for place in range(len(STREAM) + 1):
        assert split([STREAM[:place], STREAM[place:]]) == whole
    assert split(bytes([byte]) for byte in STREAM) == whole


def test_values_that_are_not_text_are_passed_over() -> None:
    head = b""
    for kind, value in [
        (0, b""),
        (2, b"\x01"),
        (4, b"1234"),
        (6, struct.pack(">H", 3) + b"abc"),
        (8, b"12345678"),
        (9, b"x" * 16),
    ]:
        head += b"\x01a" + bytes([kind]) + value
    head += b"\x04name\x07" + struct.pack(">H", 5) + b"value"
    frame = write_frame({}, b"payload")
    prelude = struct.pack(">II", len(frame) + len(head), len(head))
    message = prelude + struct.pack(">I", crc32(prelude)) + head + b"payload"
    assert split([message + struct.pack(">I", crc32(message))]) == [Frame({"name": "value"}, b"payload")]


def test_every_changed_byte_is_noticed() -> None:
    frame = write_event("contentBlockDelta", {"delta": {"text": "Hi"}, "contentBlockIndex": 0})
    for place in range(len(frame)):
        changed = bytearray(frame)
        changed[place] ^= 0x40
        with pytest.raises(FrameError):
            split([bytes(changed)])


def test_random_bytes_are_an_error_or_wait_for_more() -> None:
    chance = random.Random(3)
    for _ in range(500):
        data = chance.randbytes(chance.randrange(12, 80))
        with pytest.raises(FrameError):
            split([data])
