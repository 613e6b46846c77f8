"""The contract of event encoders: journal entries in, bytes of a stream out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from dovetail.messages.event import Entry
from dovetail.messages.model_event import ModelRequested
from dovetail.server.sse import DONE, dump, frame

SSE_HEADERS: Mapping[str, str] = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "connection": "keep-alive",
    "x-accel-buffering": "no",
}


class EventEncoder(Protocol):
    """Speaks one protocol; made anew for each stream."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The response's headers."""
        ...

    def encode(self, entries: Sequence[Entry]) -> bytes:
        """The next entries as bytes."""
        ...

    @property
    def wants_pause(self) -> bool:
        """Whether the stream shall end here although the run goes on, because the client must act first."""
        ...

    def end(self) -> bytes:
        """What comes after the last entry, or at a pause."""
        ...


class RunEventEncoder:
    """Our own events, one server-sent event for each journal entry; `complete` makes requests whole."""

    headers = SSE_HEADERS
    wants_pause = False

    def __init__(self, complete: Callable[[ModelRequested], ModelRequested] | None = None) -> None:
        self._complete = complete

    def encode(self, entries: Sequence[Entry]) -> bytes:
        """The entries as they are."""
        return b"".join(frame(dump(self._read(entry).to_dict()), entry.number) for entry in entries)

    def _read(self, entry: Entry) -> Entry:
        if self._complete is None or not isinstance(entry.event, ModelRequested):
            return entry
        return replace(entry, event=self._complete(entry.event))

    def end(self) -> bytes:
        """Says that nothing more will come."""
        return DONE
