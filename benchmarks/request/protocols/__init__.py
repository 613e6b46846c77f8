"""What each protocol sends, and how a bare client reads it; one module per protocol, without dependencies.

A module has `PROVIDER` (the name before the colon of a model), `API` (the setting), `BASE` (the path of the
base URL) and `SDK` (the client of the official package). `build_events()` yields the events of one answer of
`CHUNKS` chunks, `name_path(model)` and `build_body(model)` say what a bare client sends, and
`read_text(chunk)` returns the text of one parsed chunk. A stream that is not made of server-sent events has
`split(buffer)`, which takes the JSON texts of its chunks out of a buffer.
"""

import json
from importlib import import_module

NAMES = ("chat", "responses", "anthropic", "google", "bedrock")
CHUNKS = 200
WORDS = [f"word{number % 10} " for number in range(CHUNKS)]
TEXT = "".join(WORDS)
MESSAGES = [{"role": "user", "content": "Say two hundred words."}]


def find_protocol(name):
    """Return the module of a protocol."""
    return import_module(f"{__name__}.{name}")


def encode(data, event=""):
    """One server-sent event."""
    named = f"event: {event}\n" if event else ""
    return f"{named}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()
