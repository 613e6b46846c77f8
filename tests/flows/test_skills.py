"""`/skill/name` in a message brings the skill before the text, once per conversation."""

from pathlib import Path

from serving import serve

SKILL = "---\nname: review\ndescription: How we review\n---\nRead the diff twice.\n"


def write_skill(folder: Path) -> None:
    place = folder / ".dovetail" / "skills" / "review"
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(SKILL)


async def test_named_skill_reaches_the_model_once_and_the_page_as_a_part(tmp_path: Path) -> None:
    write_skill(tmp_path)
    async with serve(tmp_path, ["Done.", "Again."]) as server:
        await server.chat("/skill/review please")
        await server.chat("and /skill/review again")
        view = await server.get("/api/v1/sessions/s")
        listed = await server.get("/api/v1/skills")
        asked = server.model.requests
    first, second = (request.messages for request in asked)
    assert "Read the diff twice." in first[1]["content"]
    assert first[1]["content"].index("<skill") < first[1]["content"].index("please")
    assert sum(str(message["content"]).count("<skill ") for message in second) == 1
    assert "review: How we review" in first[0]["content"]
    assert [part["type"] for part in view["path"][0]["parts"]] == ["data-skill", "text"]
    assert [skill["name"] for skill in listed["skills"]] == ["review"]


async def test_unknown_skill_is_told_instead_of_left_out(tmp_path: Path) -> None:
    write_skill(tmp_path)
    async with serve(tmp_path, ["Done."]) as server:
        await server.chat("/skill/revew please")
        asked = server.model.requests
    assert "did you mean review?" in asked[0].messages[1]["content"]
