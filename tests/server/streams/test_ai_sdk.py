"""The stream for clients of the AI SDK, byte by byte and as the npm package `ai` reads it."""

import json
import random
import shutil
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.run_events import AskRequest, Entry
from dovetail.server.streams.ai_sdk import AiSdkEncoder
from dovetail.sessions.chunks import ChunkEncoder
from dovetail.sessions.message import Part
from dovetail.sessions.parts import fold_parts
from journals import LONG_RUN, TOOLS, make_journal
from patience import PATIENCE

GOLDEN = Path(__file__).parents[2] / "golden" / "chat"
STEP = {"type": "step-start"}
PACKAGE = Path(__file__).parents[3] / "web" / "node_modules" / "ai" / "dist" / "index.js"


def make_encoder(*, ends_at_asks: bool = False) -> AiSdkEncoder:
    chunks = ChunkEncoder(
        message_id="msg",
        metadata={"session_id": "session", "run_id": "run"},
        describe=lambda name: TOOLS.get(name, {}),
    )
    return AiSdkEncoder(chunks, ends_at_asks=ends_at_asks)


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
    continued = resumed.resume() + resumed.encode(rest) + resumed.end()
    assert paused + continued == (GOLDEN / "pause.sse").read_bytes()


def read_chunks(journal: Sequence[Entry]) -> list[Any]:
    lines = make_encoder().encode(journal).decode().split("\n")
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def read_with_package(journals: list[list[Entry]]) -> list[list[Part]]:
    node = shutil.which("node")
    assert node is not None, "the tests need Node"
    assert PACKAGE.exists(), "the web client's packages are missing: run `npm ci` in web/"
    process = subprocess.run(
        [node, Path(__file__).with_name("ai_reader.mjs"), PACKAGE.as_uri()],
        input=json.dumps([read_chunks(journal) for journal in journals]),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=True,
    )
    return json.loads(process.stdout)


def shown(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return the fields that both have: a client keeps more while it reads, such as the raw input."""
    names = ("type", "text", "toolName", "toolCallId", "state", "output", "errorText", "approval", "data")
    shown = [{name: part[name] for name in names if name in part} for part in parts]
    for part in shown:
        if part["type"] in ("text", "reasoning"):
            part["state"] = "done"  # a text that was cut off stays open in the client
    return [part for part, following in pairwise([*shown, STEP]) if not is_empty_step(part, following)]


def is_empty_step(part: dict[str, Any], following: dict[str, Any]) -> bool:
    """Whether a step was reset, and no other text came in its place: only the client keeps its start."""
    return part == STEP and following["type"] in (STEP["type"], "data-user-message")


@pytest.mark.slow
def test_the_package_reads_the_parts_that_are_stored() -> None:
    journals = [LONG_RUN, *(make_journal(random.Random(seed)) for seed in range(200))]
    for journal, parts in zip(journals, read_with_package(journals), strict=True):
        assert shown(parts) == shown(fold_parts(journal))
