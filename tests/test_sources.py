"""The texts behind agents, skills and prompts."""

from pathlib import Path

import pytest

from dovetail.app import Dovetail
from dovetail.errors import ConfigError, ConflictError, NotFoundError
from dovetail.sources import Sources

POET = "---\nname: poet\ndescription: Writes verses.\n---\nWrite a verse.\n"
SKILL = "---\nname: haiku\ndescription: How to write a haiku.\n---\nFive, seven, five.\n"
PROMPT = "input: Translate ${text}.\n"


async def test_created_texts_are_used_after_a_reload(tmp_path: Path) -> None:
    async with Dovetail(workspace=tmp_path) as app:
        sources = Sources(app)
        assert sources.create("agents", "poet", POET).path == tmp_path / "agents" / "poet.md"
        assert sources.create("skills", "haiku", SKILL).path == tmp_path / "skills" / "haiku" / "SKILL.md"
        assert sources.create("prompts", "translate", PROMPT).path == tmp_path / "prompts" / "translate.yaml"
        await app.reload()
        assert app.agents.get_definition("poet").description == "Writes verses."
        assert app.skills.get("haiku") is not None
        assert app.prompts.get("translate").render({"text": "oak"}).text
        assert sources.read("agents", "poet").text == POET


async def test_invalid_text_is_refused_with_its_reason_and_changes_nothing(tmp_path: Path) -> None:
    async with Dovetail(workspace=tmp_path) as app:
        sources = Sources(app)
        sources.create("agents", "poet", POET)
        await app.reload()
        with pytest.raises(ConfigError, match="Missing front matter") as raised:
            sources.write("agents", "poet", "nothing")
        assert "/" not in raised.value.message
        with pytest.raises(ConfigError, match="but this is the text of agent 'poet'"):
            sources.write("agents", "poet", POET.replace("name: poet", "name: bard"))
        with pytest.raises(ConfigError):
            sources.create("prompts", "bad", "input: [")
        assert sources.read("agents", "poet").text == POET
        assert not (tmp_path / "prompts" / "bad.yaml").exists()


async def test_text_that_was_broken_elsewhere_is_read_with_its_problem(tmp_path: Path) -> None:
    async with Dovetail(workspace=tmp_path) as app:
        sources = Sources(app)
        place = sources.create("agents", "poet", POET).path
        await app.reload()
        assert sources.read("agents", "poet").problem is None
        place.write_text("---\nname: poet\ndescription: [\n---\n", encoding="utf-8")
        await app.reload()
        problem = sources.read("agents", "poet").problem
        assert problem is not None
        assert "not valid YAML" in problem
        assert str(tmp_path) not in problem


async def test_change_to_an_older_text_is_refused(tmp_path: Path) -> None:
    async with Dovetail(workspace=tmp_path) as app:
        sources = Sources(app)
        first = sources.create("agents", "poet", POET)
        await app.reload()
        second = sources.write("agents", "poet", POET + "Rhyme.\n", first.version)
        with pytest.raises(ConflictError, match="has changed since"):
            sources.write("agents", "poet", POET + "Do not rhyme.\n", first.version)
        assert sources.read("agents", "poet").version == second.version


async def test_shipped_agent_is_changed_in_a_copy_of_the_workspace(tmp_path: Path) -> None:
    async with Dovetail(workspace=tmp_path) as app:
        await app.reload()
        sources = Sources(app)
        shipped = sources.read("agents", "summarizer")
        assert not shipped.is_own
        changed = sources.write("agents", "summarizer", shipped.text + "\nBe brief.\n", shipped.version)
        await app.reload()
        assert changed.path == tmp_path / "agents" / "summarizer.md"
        assert sources.read("agents", "summarizer").is_own
        assert "Be brief." not in shipped.path.read_text()
        with pytest.raises(ConfigError, match="cannot be deleted here"):
            sources.delete("agents", "master")


async def test_broken_text_can_be_read_and_repaired(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "poet.md").write_text("broken")
    async with Dovetail(workspace=tmp_path) as app:
        await app.reload()
        sources = Sources(app)
        assert sources.read("agents", "poet").text == "broken"
        sources.write("agents", "poet", POET)
        await app.reload()
        assert app.agents.get_definition("poet").name == "poet"


async def test_deleted_skill_goes_with_its_folder(tmp_path: Path) -> None:
    async with Dovetail(workspace=tmp_path) as app:
        sources = Sources(app)
        sources.create("skills", "haiku", SKILL)
        await app.reload()
        sources.delete("skills", "haiku")
        assert not (tmp_path / "skills" / "haiku").exists()
        await app.reload()
        with pytest.raises(NotFoundError):
            sources.read("skills", "haiku")


@pytest.mark.parametrize("name", ["../evil", "a/b", "", ".hidden", "x" * 65])
async def test_name_that_is_not_a_plain_file_name_is_refused(tmp_path: Path, name: str) -> None:
    async with Dovetail(workspace=tmp_path) as app:
        with pytest.raises(ConfigError, match="Invalid name"):
            Sources(app).create("agents", name, POET)


async def test_taken_name_is_refused(tmp_path: Path) -> None:
    async with Dovetail(workspace=tmp_path) as app:
        await app.reload()
        with pytest.raises(ConflictError, match="already exists"):
            Sources(app).create("agents", "master", POET)
