"""A preview shows what a call would do; it neither delays nor endangers the call."""

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from dovetail.events.call import ToolCall
from dovetail.tools import Kind, RunContext, ToolContext, ToolRunner, ToolSnapshot, make_tool, preview
from dovetail.tools.preview import LONGEST, read_preview


def write(path: str) -> str:
    return f"wrote {path}"


async def ask_about(show: Any) -> tuple[Mapping[str, Any], str]:
    """What a person is asked about a call of a tool with this preview, and the status of the call."""
    asked: list[Mapping[str, Any]] = []

    async def ask(kind: str, call_id: str, payload: Mapping[str, Any], seconds: float | None) -> Any:
        asked.append(payload)
        return {"approved": True}

    tools = ToolSnapshot.of([make_tool(write, kind=Kind.Write, preview=show)])
    call = ToolCall(call_id="c1", name="write", arguments={"path": "a"})
    outcome = await ToolRunner().run_call(tools, call, RunContext(ask=ask, session_id="s1"))
    return asked[0], outcome.status


async def test_the_question_shows_what_the_call_would_do() -> None:
    def show(arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        text = f"{arguments['path']} in {context.session_id} for {context.call_id}"
        arguments["path"] = "changed by the preview"
        return {"kind": "text", "text": text, "more": 1}

    payload, status = await ask_about(show)
    assert payload["preview"] == {"kind": "text", "text": "a in s1 for c1"}
    assert (payload["args"], status) == ({"path": "a"}, "ok")


async def test_a_coroutine_function_and_a_plain_text_are_previews_too() -> None:
    async def show(arguments: dict[str, Any], context: ToolContext) -> str:
        return f"writes {arguments['path']}"

    assert (await ask_about(show))[0]["preview"] == {"kind": "text", "text": "writes a"}


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        [],
        {"kind": "picture"},
        {"kind": "diff", "path": 3, "diff": ""},
        RuntimeError("x"),
        SystemExit(),
    ],
)
async def test_a_preview_that_fails_or_has_another_form_is_left_out(value: Any) -> None:
    def show(arguments: dict[str, Any], context: ToolContext) -> Any:
        if isinstance(value, BaseException):
            raise value
        return value

    payload, status = await ask_about(show)
    assert "preview" not in payload
    assert status == "ok"


async def test_a_preview_that_takes_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "SECONDS", 0.01)
    release = threading.Event()

    def block(arguments: dict[str, Any], context: ToolContext) -> None:
        release.wait()

    async def wait(arguments: dict[str, Any], context: ToolContext) -> None:
        await asyncio.Event().wait()

    try:
        for show in (block, wait):
            payload, status = await ask_about(show)
            assert "preview" not in payload
            assert status == "ok"
    finally:
        release.set()


def test_long_texts_are_cut() -> None:
    found = read_preview({"kind": "command", "command": "x" * (LONGEST + 7), "folder": "."})
    assert found is not None
    assert found["command"].endswith("x\n… (7 more characters)")
