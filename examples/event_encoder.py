"""Write an event encoder: a run as lines of JSON, one for each piece of text and each call.

A server sends it with `EventStream(reader, Lines())`; here it writes to the terminal.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from dovetail import Dovetail
from dovetail.events.model_events import TextDeltaEvent
from dovetail.events.run_events import Entry, RunEnd, ToolEnd
from dovetail.sessions.request import ChatRequest


class Lines:
    """Encodes one stream; events without a line are left out."""

    headers: Mapping[str, str] = {"content-type": "application/x-ndjson"}
    wants_pause = False

    def encode(self, entries: Sequence[Entry]) -> bytes:
        """Return the next entries as bytes."""
        lines = (self.describe(entry) for entry in entries)
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines if line is not None)

    def describe(self, entry: Entry) -> dict[str, Any] | None:
        """Return the content of a line; None for events without one."""
        event = entry.event
        if isinstance(event, TextDeltaEvent):
            return {"number": entry.number, "text": event.delta}
        if isinstance(event, ToolEnd):
            return {"number": entry.number, "call": event.call_id, "status": event.status}
        return {"number": entry.number, "end": event.reason} if isinstance(event, RunEnd) else None

    def end(self) -> bytes:
        """Return the bytes after the last entry."""
        return b""


async def main() -> None:
    """Send a message in a chat and follow its run from the first event to the last."""
    async with Dovetail() as app:
        chat = await app.open_chat()
        question = {"type": "text", "text": "Name a wood."}
        started = await chat.send(ChatRequest(parts=[question]))
        encoder = Lines()
        async with await app.runs.read(started.run_id) as reader:
            while not reader.ended:
                sys.stdout.write(encoder.encode(await reader.next()).decode())
        sys.stdout.write(encoder.end().decode())


if __name__ == "__main__":
    asyncio.run(main())
