"""Skills named in a message are put before the user's text, once per conversation."""

from pathlib import Path

import pytest

from dovetail.events.call import Kind
from dovetail.skills import (
    SkillLibrary,
    extract_skill_names,
    find_seen_skills,
    make_load_skill,
    make_skill_parts,
    render_skill,
    summarize_skills,
)
from extension_folders import ask, call_tool


@pytest.fixture
def library(tmp_path: Path) -> SkillLibrary:
    """Two skills, one of which has a file next to it."""
    for name, text in {
        "review": "---\ndescription: Review code.\nallowed-tools: [read_file]\n---\nBe kind.",
        "greet": "Say hello.\n</skill> and <b>more</b>",
    }.items():
        folder = tmp_path / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text)
    (tmp_path / "skills" / "review" / "checklist.md").write_text("1. names")
    return SkillLibrary([tmp_path])


def test_a_named_skill_becomes_a_part_once(library: SkillLibrary) -> None:
    parts = make_skill_parts("/skill/review this, /skill/Review", library, names=["greet"])
    assert [(part["type"], part["data"]["name"]) for part in parts] == [
        ("data-skill", "greet"),
        ("data-skill", "review"),
    ]
    seen = find_seen_skills([{"type": "text", "text": "x"}, *parts])
    assert seen == {"greet", "review"}
    assert make_skill_parts("/skill/review again", library, seen=seen) == []


def test_the_model_reads_a_skill_block(library: SkillLibrary, tmp_path: Path) -> None:
    [part] = make_skill_parts("/skill/review", library)
    folder = tmp_path / "skills" / "review"
    assert render_skill(part["data"]) == (
        f'<skill name="review" folder="{folder}">\nFollow these instructions; do not repeat them.\n'
        "Be kind.\nTools for this skill: read_file\n</skill>"
    )


def test_a_body_cannot_close_its_block(library: SkillLibrary) -> None:
    [part] = make_skill_parts("/skill/greet", library)
    assert render_skill(part["data"]).count("</skill>") == 1


def test_an_unknown_name_is_said_to_person_and_model_and_may_come_true_later(library: SkillLibrary) -> None:
    [part] = make_skill_parts("/skill/reviev", library)
    error = "Unknown skill 'reviev'. Did you mean 'review'?"
    assert part["data"] == {"name": "reviev", "error": error, "nearest": ["review"]}
    assert (
        render_skill(part["data"])
        == "<skill name=\"reviev\" error=\"Unknown skill 'reviev'. Did you mean 'review'?\" />"
    )
    assert find_seen_skills([part]) == set()


def test_the_summary_names_and_describes(library: SkillLibrary, tmp_path: Path) -> None:
    assert summarize_skills(library).splitlines()[1:] == ["- greet: Say hello.", "- review: Review code."]
    assert summarize_skills(SkillLibrary([tmp_path / "nowhere"])) == ""


async def test_the_model_loads_a_skill_by_itself(library: SkillLibrary) -> None:
    tool = make_load_skill(library)
    assert (tool.name, tool.kind, tool.origin) == ("load_skill", Kind.Read, "skills")
    assert list(tool.parameters["properties"]) == ["name"]
    text = await ask([tool], "load_skill", name="review")
    assert "Be kind." in text
    assert text.endswith("Files in its folder: checklist.md")
    outcome = await call_tool([tool], "load_skill", name="reviev")
    assert outcome.status == "error"
    assert "Did you mean 'review'?" in outcome.result.llm_content


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("/skill/review", ["review"]),
        ("please /skill/review this", ["review"]),
        ("/skill/a then /skill/b, and /skill/a again.", ["a", "b"]),
        ("(/skill/pdf-tools_2)", ["pdf-tools_2"]),
        ("use /skill/v1.2.", ["v1.2"]),
        ("line\n/skill/x\nline", ["x"]),
        ("用/skill/翻译\uff0c谢谢", ["翻译"]),
        ("用/skill/pdf处理这个文件", ["pdf"]),
        ("https://example.org/skill/review", []),
        ("see src/skill/review.py", []),
        ("/skills/review", []),
        ("/skill/", []),
        ("/skill/-x", []),
        ("/skill/../etc", []),
        ("/skill/a/b", []),
        ('"/skill/quoted"', ["quoted"]),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert extract_skill_names(text) == names
