"""`/skill/name` in a message brings the skill before the text, once per conversation."""

from pathlib import Path

import pytest

from serving import serve, text_of

SKILL = "---\nname: review\ndescription: How we review\n---\nRead the diff twice.\n"


def write_skill(folder: Path, name: str = "review", text: str = SKILL) -> None:
    place = folder / ".dovetail" / "skills" / name
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(text)


async def test_named_skill_reaches_the_model_once_and_the_page_as_a_part(tmp_path: Path) -> None:
    write_skill(tmp_path)
    async with serve(tmp_path, ["Done.", "Again."]) as server:
        await server.chat("/skill/review please")
        await server.chat("and /skill/review again")
        view = await server.get("/api/v1/sessions/s")
        listed = await server.get("/api/v1/skills")
        asked = server.model.requests
    first, second = (request.messages for request in asked)
    assert "Read the diff twice." in first[2]["content"]
    assert first[2]["content"].index("<skill") < first[2]["content"].index("please")
    assert sum(str(message["content"]).count("<skill ") for message in second) == 1
    assert "review: How we review" in first[1]["content"]
    assert [part["type"] for part in view["path"][0]["parts"]] == ["data-skill", "text"]
    assert [skill["name"] for skill in listed["skills"]] == ["review"]


async def test_unknown_skill_is_reported_instead_of_left_out(tmp_path: Path) -> None:
    write_skill(tmp_path)
    async with serve(tmp_path, ["Done."]) as server:
        await server.chat("/skill/revew please")
        asked = server.model.requests
    assert "Did you mean 'review'?" in asked[0].messages[2]["content"]


async def test_a_branch_that_never_saw_the_skill_gets_it_again(tmp_path: Path) -> None:
    write_skill(tmp_path)
    async with serve(tmp_path, ["One.", "Two."]) as server:
        await server.chat("/skill/review this")
        await server.chat("/skill/review anew", parent_id=None)
        assert "<skill" in server.model.requests[-1].messages[-1]["content"]


async def test_skills_may_be_chosen_in_addition_to_the_text_and_unknown_ones_are_reported(
    tmp_path: Path,
) -> None:
    write_skill(tmp_path)
    async with serve(tmp_path, ["One."]) as server:
        await server.chat("Look at this /skill/unheard", skills=["review"])
        content = server.model.requests[-1].messages[-1]["content"]
        view = await server.get("/api/v1/sessions/s")
    assert "Read the diff twice." in content
    assert 'error="Unknown skill' in content
    assert [part["data"]["name"] for part in view["path"][0]["parts"][:2]] == ["review", "unheard"]


async def test_the_model_knows_the_names_and_loads_one_itself(tmp_path: Path) -> None:
    write_skill(tmp_path)
    call = {"tool_calls": [{"call_id": "c", "name": "load_skill", "arguments": {"name": "review"}}]}
    async with serve(tmp_path, [call, "Done."]) as server:
        chunks = await server.chat("Review it.")
        first, last = server.model.requests
    assert "- review: How we review" in first.messages[1]["content"]
    assert "Read the diff twice." in last.messages[-1]["content"]
    assert text_of(chunks) == "Done."


async def test_an_edit_is_used_after_a_reload_and_broken_files_are_listed(tmp_path: Path) -> None:
    async with serve(tmp_path, ["One.", "Two."]) as server:
        assert await server.get("/api/v1/skills") == {"skills": [], "errors": []}
        write_skill(tmp_path)
        write_skill(tmp_path, "bad", "---\nname: [\n")
        response = await server.client.post("/api/v1/extensions/reload")
        assert response.status_code == 200
        found = await server.get("/api/v1/skills")
        await server.chat("/skill/review this")
        assert "Read the diff twice." in server.model.requests[-1].messages[-1]["content"]
    [skill] = found["skills"]
    assert (skill["name"], skill["description"], skill["scope"]) == ("review", "How we review", "workspace")
    assert "no end" in found["errors"][0]["message"]


async def test_a_copied_or_edited_message_brings_its_skill_once(tmp_path: Path) -> None:
    write_skill(tmp_path)
    async with serve(tmp_path, ["One.", "Two."]) as server:
        await server.chat("/skill/review this")
        question = (await server.get("/api/v1/sessions/s"))["path"][0]
        edited = {"id": question["id"], "role": "user", "parts": question["parts"]}
        body = {"id": "s", "messages": [edited], "tab_id": "t"}
        async for _ in server.stream("POST", "/api/v1/chat", json=body):
            pass
        content = server.model.requests[-1].messages[-1]["content"]
    assert content.count("<skill ") == 1


async def test_the_skill_nearest_to_the_folder_a_chat_works_in_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "team" / "shop"
    for folder, line in ((tmp_path, "Far."), (tmp_path / "team", "Nearer."), (project, "Nearest.")):
        write_skill(folder, text=SKILL.replace("Read the diff twice.", line))
    write_skill(tmp_path / "team", "plan", "Only the team has this.")
    monkeypatch.chdir(project)
    async with serve(tmp_path, ["One."]) as server:
        await server.chat("/skill/review and /skill/plan")
        listed = await server.get("/api/v1/skills")
        content = server.model.requests[-1].messages[-1]["content"]
    assert "Nearest." in content
    assert "Far." not in content
    assert "Only the team has this." in content
    scopes = {skill["name"]: skill["scope"] for skill in listed["skills"]}
    assert scopes == {"review": "project", "plan": "parent project team"}
