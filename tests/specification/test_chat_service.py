"""The chat service, rule by rule (docs/specification.md, chapter "Chat service")."""

import re
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from dovetail.events.call import Kind
from dovetail.tools import make_tool
from serving import Serving, serve

ROOT = Path(__file__).parent.parent.parent
SKILL = "---\nname: tidy\ndescription: Tidy up.\n---\nPut things away.\n"


def measure(mm: int) -> str:
    """Measure a plank."""
    return f"{mm} mm"


async def test_registered_tool_is_offered_to_the_chat_and_its_result_reaches_the_model(
    tmp_path: Path,
) -> None:
    call = {"tool_calls": [{"call_id": "c", "name": "measure", "arguments": {"mm": 5}}]}
    async with serve(tmp_path, [call, "Five."], [make_tool(measure, kind=Kind.Read)]) as server:
        chunks = await server.chat("How long?")
        first, second = server.model.requests
    [spec] = [tool for tool in first.tools if tool.name == "measure"]
    assert (spec.description, list(spec.parameters["properties"])) == ("Measure a plank.", ["mm"])
    assert second.messages[-1]["content"] == "5 mm"
    assert "tool-output-available" in [chunk["type"] for chunk in chunks]


def read_system(server: Serving, number: int = -1) -> str:
    messages = server.model.requests[number].messages
    return "\n".join(str(message["content"]) for message in messages if message["role"] == "system")


async def test_preface_says_when_where_and_which_skills(tmp_path: Path) -> None:
    folder = tmp_path / "workshop"
    (folder / "skills" / "tidy").mkdir(parents=True)
    (folder / "skills" / "tidy" / "SKILL.md").write_text(SKILL)
    async with serve(folder, ["One.", "Two."]) as server:
        await server.chat("First")
        await server.chat("Second")
        first, second = read_system(server, 0), read_system(server, 1)
    assert re.search(r"\d{4}-\d\d-\d\d at \d\d:\d\d \(\w+\)", first)
    assert "'workshop'" in first
    assert "- tidy: Tidy up." in first
    assert first == second  # a model's prompt cache holds


async def test_preface_names_the_project_in_its_workspace_and_the_time_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "work" / "team" / "app"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    async with serve(tmp_path / "work", ["One."]) as server:
        await server.chat("First", options={"time_zone": "Pacific/Auckland"})
        [session] = (await server.get("/api/v1/sessions"))["sessions"]
        text = read_system(server, 0)
    began = datetime.fromisoformat(session["created_at"]).astimezone(ZoneInfo("Pacific/Auckland"))
    assert f"began on {began:%A, %Y-%m-%d at %H:%M} (Pacific/Auckland)." in text
    assert "the folder 'team/app' of the workspace 'work'" in text


async def test_prompt_of_the_main_agent_is_a_file_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "master.md").write_text("---\ndescription: Talks.\n---\nYou are a joiner.\n")
    async with serve(tmp_path, ["Hello."]) as server:
        await server.chat("Hi")
        assert read_system(server).startswith("You are a joiner.")


def test_one_table_says_which_file_holds_each_prompt() -> None:
    page = (ROOT / "docs/subagents.md").read_text(encoding="utf-8")
    table = page.partition("## Where prompts are defined")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 4
    for row in rows:
        path, *functions = re.findall(r"`([^`]+)`", row.split("|")[2])
        text = (ROOT / path.replace("<name>", "summarizer")).read_text(encoding="utf-8")
        for function in functions:
            assert f"def {function.removesuffix('()')}" in text
