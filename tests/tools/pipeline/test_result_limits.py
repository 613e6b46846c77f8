"""A result that would flood the conversation is kept whole and read page by page."""

from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import ToolCall
from dovetail.events.run_events import Event, ToolEnd
from dovetail.tools import CallOutcome, RunContext, ToolResult, ToolRunner, ToolSnapshot, make_tool
from dovetail.tools.artifacts import ArtifactStore, FolderArtifacts, MemoryArtifacts

TEXT = "".join(f"line {number}: grüß 😀\n" for number in range(250_000))  # more than 5 MB
PAGES = ("memory", "folder")


def make_store(name: str, tmp_path: Path) -> ArtifactStore:
    return MemoryArtifacts() if name == "memory" else FolderArtifacts(tmp_path / "artifacts")


async def call(runner: ToolRunner, value: Any, name: str = "flood", **arguments: Any) -> CallOutcome:
    tools = ToolSnapshot.of([make_tool(lambda: value, name="flood")])
    scope = RunContext(owner="ann")
    return await runner.run_call(tools, ToolCall(call_id="1", name=name, arguments=arguments), scope)


@pytest.mark.parametrize("name", PAGES)
async def test_five_megabytes_are_kept_whole_and_read_on_by_page(name: str, tmp_path: Path) -> None:
    assert len(TEXT.encode()) > 5_000_000
    runner = ToolRunner(artifacts=make_store(name, tmp_path))
    outcome = await call(runner, TEXT)
    shown = str(outcome.result.llm_content)
    assert outcome.status == "ok"
    assert len(shown) < 5_000
    assert shown.startswith(TEXT[:4000])
    assert f"The result has {len(TEXT)} characters" in shown
    artifact_id = outcome.result.data["artifact_id"]
    read, offset = TEXT[:4000], 4000
    for _ in range(3):
        page = await call(runner, "", "read_artifact", artifact_id=artifact_id, offset=offset, length=20_000)
        text, _, note = str(page.result.llm_content).rpartition("\n\n[")
        end = offset + 20_000
        assert note == f"Characters {offset} to {end} of {len(TEXT)}; continue with offset={end}.]"
        read += text
        offset = end
    assert TEXT.startswith(read)
    last = await call(runner, "", "read_artifact", artifact_id=artifact_id, offset=len(TEXT) - 5)
    assert str(last.result.llm_content).endswith("this is the end.]")


@pytest.mark.parametrize("name", PAGES)
async def test_artifact_is_read_by_its_owner_alone(name: str, tmp_path: Path) -> None:
    store = make_store(name, tmp_path)
    artifact_id = await store.put("secret", owner="ann")
    page = await store.read(artifact_id, owner="ann", offset=0, length=3)
    assert page is not None
    assert (page.text, page.total) == ("sec", 6)
    assert await store.read(artifact_id, owner="bob", offset=0, length=3) is None
    assert await store.read(artifact_id, owner=None, offset=0, length=3) is None
    assert await store.read("../../etc/passwd", owner="ann", offset=0, length=3) is None


async def test_unknown_artifact_is_a_clear_error() -> None:
    outcome = await call(ToolRunner(), "", "read_artifact", artifact_id="none")
    assert outcome.result.error is not None
    assert outcome.result.error.message == "Unknown artifact 'none'."


async def test_oldest_artifacts_make_room_in_memory() -> None:
    store = MemoryArtifacts(most_characters=10)
    first = await store.put("12345678", owner=None)
    second = await store.put("abcdefgh", owner=None)
    assert await store.read(first, owner=None, offset=0, length=1) is None
    assert await store.read(second, owner=None, offset=0, length=1) is not None


async def test_media_are_never_cut() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    outcome = await call(ToolRunner(), ToolResult([{"type": "text", "text": "short"}, image]))
    assert outcome.result.llm_content == [{"type": "text", "text": "short"}, image]
    outcome = await call(ToolRunner(), ToolResult([{"type": "text", "text": "long " * 10_000}, image]))
    text, kept = outcome.result.llm_content
    assert isinstance(text, dict)
    assert len(text["text"]) < 5_000
    assert kept == image


async def test_large_data_and_errors_do_not_flood_the_journal() -> None:
    events: list[Event] = []

    def fail() -> None:
        raise ValueError("x" * 1_000_000)

    tools = ToolSnapshot.of([make_tool(lambda: ToolResult("ok", data=TEXT), name="data"), make_tool(fail)])
    for name in ("data", "fail"):
        await ToolRunner().run_call(
            tools, ToolCall(call_id=name, name=name, arguments={}), RunContext(emit=events.append)
        )
    ends = [event for event in events if isinstance(event, ToolEnd)]
    assert ends[0].result == {"llm_content": "ok", "data": {"characters": len(TEXT)}}
    assert len(str(ends[1])) < 20_000
