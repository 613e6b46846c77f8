"""A chat, and the agents below it, run in the mode that the server chooses or lets the client choose."""

from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import Kind
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool
from serving import serve

WRITES: dict[str, Any] = {
    "tool_calls": [{"call_id": "c3", "name": "write_note", "arguments": {"text": "oak"}}]
}


def make_note_tool(notes: list[str]) -> Tool:
    def write_note(text: str) -> str:
        """Keep a note."""
        notes.append(text)
        return f"kept {text}"

    return make_tool(write_note, kind=Kind.Write)


@pytest.mark.parametrize(
    ("policy", "mode", "kept", "told"),
    [
        ({"mode": "auto"}, None, ["oak"], "kept oak"),
        ({"max_mode": "auto"}, "auto", ["oak"], "kept oak"),
        ({"mode": "auto"}, "plan", [], "in plan mode only read-only tools may run"),
        ({"mode": "plan"}, None, [], "in plan mode only read-only tools may run"),
    ],
)
async def test_chat_runs_in_the_mode_that_is_chosen(
    tmp_path: Path, policy: dict[str, str], mode: str | None, kept: list[str], told: str
) -> None:
    notes: list[str] = []
    settings = {"policy": policy}
    async with serve(tmp_path, [WRITES, "Done."], [make_note_tool(notes)], settings) as server:
        await server.chat("note it", **({"mode": mode} if mode else {}))
        messages = server.model.requests[-1].messages
    assert notes == kept
    assert told in messages[-1]["content"]
    assert ("plan mode" in str(messages[:2])) == (not kept)


@pytest.mark.parametrize(("mode", "said"), [("yolo", "is not allowed"), ("fast", "Unknown mode 'fast'")])
async def test_client_cannot_raise_its_own_rights(tmp_path: Path, mode: str, said: str) -> None:
    async with serve(tmp_path, ["never"]) as server:
        body = {"message": "x", "session_id": "s", "mode": mode}
        response = await server.client.post("/api/v1/chat", json=body)
        assert response.status_code == 400
        assert said in response.text
        assert server.model.requests == []


async def test_sub_agent_gets_time_place_and_skills_and_works_in_the_mode(tmp_path: Path) -> None:
    notes: list[str] = []
    folder = tmp_path / "workshop"
    (folder / "skills" / "tidy").mkdir(parents=True)
    (folder / "skills" / "tidy" / "SKILL.md").write_text(
        "---\nname: tidy\ndescription: Tidy up.\n---\nTidy.\n"
    )
    (folder / "agents").mkdir()
    for name, tools in (("scribe", "[write_note, load_skill]"), ("plain", "[]")):
        text = f"---\ndescription: Writes notes.\ntools: {tools}\n---\nYou write notes.\n"
        (folder / "agents" / f"{name}.md").write_text(text)
    calls = [
        {"call_id": f"c{name}", "name": name, "arguments": {"query": "x"}} for name in ("scribe", "plain")
    ]
    replies = [{"tool_calls": calls[:1]}, WRITES, "Noted.", {"tool_calls": calls[1:]}, "Nothing.", "Done."]
    settings = {"policy": {"mode": "auto"}}
    async with serve(folder, replies, [make_note_tool(notes)], settings) as server:
        await server.chat("note it")
        scribe, plain = (server.model.requests[place].messages for place in (1, 4))
    assert notes == ["oak"]
    assert [message["role"] for message in scribe] == ["system", "system", "user"]
    assert scribe[0]["content"] == "You write notes."
    assert "This task began on " in scribe[1]["content"]
    assert "'workshop'" in scribe[1]["content"]
    assert "- tidy: Tidy up." in scribe[1]["content"]
    assert "tidy" not in plain[1]["content"]
