"""The stream for clients of the AI SDK, byte by byte."""

from collections.abc import Sequence
from pathlib import Path

from dovetail.events.run_events import AskRequest, Entry
from dovetail.server.streams.ai_sdk import AiSdkEncoder
from journals import LONG_RUN, TOOLS

GOLDEN = Path(__file__).parents[2] / "golden" / "chat"


def make_encoder(*, ends_at_asks: bool = False) -> AiSdkEncoder:
    return AiSdkEncoder(
        message_id="msg",
        metadata={"session_id": "session", "run_id": "run"},
        describe=lambda name: TOOLS.get(name, {}),
        ends_at_asks=ends_at_asks,
    )


def entries_of_pause() -> Sequence[Entry]:
    asks = [entry.number for entry in LONG_RUN if isinstance(entry.event, AskRequest)]
    return LONG_RUN[: asks[1]]


def test_a_long_run_is_written_byte_by_byte_as_it_was() -> None:
    encoder = make_encoder()
    assert encoder.encode(LONG_RUN) + encoder.end() == (GOLDEN / "stream.sse").read_bytes()


def test_a_stream_that_pauses_and_one_that_continues_are_written_as_they_were() -> None:
    encoder = make_encoder(ends_at_asks=True)
    first = encoder.encode(entries_of_pause())
    assert encoder.wants_pause
    paused = first + encoder.end()
    resumed = make_encoder(ends_at_asks=True)
    resumed.encode(entries_of_pause())
    rest = LONG_RUN[len(entries_of_pause()) :]
    continued = resumed.start() + resumed.encode(rest) + resumed.end()
    assert paused + continued == (GOLDEN / "pause.sse").read_bytes()
