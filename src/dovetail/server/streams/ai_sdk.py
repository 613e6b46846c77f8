"""The AI SDK's UI message stream (v1) as server-sent events."""

from collections.abc import Collection, Mapping, Sequence

from dovetail.events.model_events import TextDeltaEvent
from dovetail.events.run_events import Entry
from dovetail.server.responses import DONE, SSE_HEADERS, dump, frame, quote
from dovetail.server.streams.pending_asks import PendingAsks
from dovetail.sessions.chunks import DETAIL, Chunk, ChunkEncoder

HEADERS: Mapping[str, str] = {**SSE_HEADERS, "x-vercel-ai-ui-message-stream": "v1"}


class AiSdkEncoder:
    """Frames the chunks of one message.

    With `ends_at_asks` the stream ends when the run waits for an answer: a plain client can answer only then.
    """

    headers = HEADERS

    def __init__(self, chunks: ChunkEncoder, *, ends_at_asks: bool = False) -> None:
        self._chunks = chunks
        self._ends_at_asks = ends_at_asks
        self._pending = PendingAsks()
        self._last = 0

    def encode(self, entries: Sequence[Entry]) -> bytes:
        """Frame the chunks of the entries; the last chunk of an entry carries its number."""
        pieces: list[bytes] = []
        for entry in entries:
            event = entry.event
            if type(event) is TextDeltaEvent and len(entry.path) == 1:
                data = b'{"type":"text-delta","id":%b,"delta":%b}' % (quote(event.id), quote(event.delta))
                pieces.append(frame(data, entry.number))
            else:
                if self._ends_at_asks:
                    self._pending.take(entry)
                pieces += _frame_chunks(self._chunks.encode(entry), entry.number)
            self._last = entry.number
        return b"".join(pieces)

    @property
    def wants_pause(self) -> bool:
        """Whether the run waits only for answers that the client can send only after the stream's end."""
        return self._ends_at_asks and self._pending.needs_answers()

    def keep_open(self, ask_ids: Collection[str]) -> None:
        """Treat only these of the questions so far as waiting for the client."""
        self._pending.keep_open(ask_ids)

    def resume(self) -> bytes:
        """Start the message again, for a client that has the message so far."""
        return b"".join(_frame_chunks(self._chunks.resume()))

    def end(self) -> bytes:
        """Return the end of the stream; at a pause the message is finished for now."""
        if not self.wants_pause:
            return DONE
        return b"".join(_frame_chunks(self._chunks.pause(self._last))) + DONE


def _frame_chunks(chunks: list[Chunk], number: int | None = None) -> list[bytes]:
    data = [dump(chunk) for chunk in chunks if chunk["type"] != DETAIL]
    last = len(data) - 1
    return [frame(each, number if place == last else None) for place, each in enumerate(data)]
