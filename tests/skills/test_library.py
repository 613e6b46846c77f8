"""Skills are found by nearness; a broken one is reported and hurts no other."""

from pathlib import Path

import pytest

from dovetail.skills import SkillLibrary, find_roots


def write_skill(folder: Path, name: str, text: str = "Do it.", place: str = ".dovetail/skills") -> Path:
    """Write a `SKILL.md` below a project folder."""
    path = folder / place / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_nearest_skill_of_a_name_is_used(tmp_path: Path) -> None:
    project = tmp_path / "team" / "app"
    write_skill(tmp_path, "review", "workspace's")
    write_skill(tmp_path, "only-here", "x")
    write_skill(tmp_path / "team", "review", "team's")
    near = write_skill(project, "review", "app's")
    library = SkillLibrary(find_roots(tmp_path, project))
    assert [(skill.name, skill.body, skill.scope) for skill in library.list()] == [
        ("only-here", "x", "workspace"),
        ("review", "app's", "project"),
    ]
    assert library.why("review").splitlines() == [
        f"review: {near} (project) is used: it is the nearest",
        f"  hidden: {tmp_path / 'team/.dovetail/skills/review/SKILL.md'} (parent project team)",
        f"  hidden: {tmp_path / '.dovetail/skills/review/SKILL.md'} (workspace)",
    ]


def test_plain_paths_are_roots_and_the_later_one_wins(tmp_path: Path) -> None:
    write_skill(tmp_path / "a", "review", "first")
    write_skill(tmp_path / "b", "review", "second")
    skill = SkillLibrary([tmp_path / "a", str(tmp_path / "b")]).get("review")
    assert skill is not None
    assert skill.body == "second"


def test_both_places_of_a_root_and_a_skills_folder_itself(tmp_path: Path) -> None:
    write_skill(tmp_path, "one", "plain", place="skills")
    write_skill(tmp_path, "one", "hidden folder")
    write_skill(tmp_path, "two", place="skills")
    assert [skill.body for skill in SkillLibrary([tmp_path]).list()] == ["hidden folder", "Do it."]
    assert [skill.name for skill in SkillLibrary([tmp_path / "skills"]).list()] == ["one", "two"]


def test_skills_of_extension_folders_give_way_to_all_others(tmp_path: Path) -> None:
    write_skill(tmp_path / "extensions" / "team", "review", "extension's", place="skills")
    roots = find_roots(tmp_path, extensions=[tmp_path / "extensions" / "team"])
    assert "extension team" in SkillLibrary(roots).why("review")
    write_skill(tmp_path, "review", "workspace's")
    skill = SkillLibrary(roots).get("review")
    assert skill is not None
    assert skill.scope == "workspace"


def test_a_project_outside_the_workspace_counts_by_itself(tmp_path: Path) -> None:
    roots = find_roots(tmp_path / "work", tmp_path / "elsewhere" / "deep")
    assert [root.scope for root in roots] == ["workspace", "project"]


def test_front_matter_has_name_description_and_tools(tmp_path: Path) -> None:
    write_skill(
        tmp_path,
        "folder",
        "---\nname: pdf\ndescription: |\n  Reads\n  PDFs.\nallowed-tools: [read_file, fetch_url]\n---\n"
        "# PDF\nBody",
    )
    [skill] = SkillLibrary([tmp_path]).list()
    assert (skill.name, skill.description, skill.body) == ("pdf", "Reads PDFs.", "# PDF\nBody")
    assert skill.allowed_tools == ("read_file", "fetch_url")


def test_without_front_matter_the_folder_and_the_first_line_speak(tmp_path: Path) -> None:
    write_skill(tmp_path, "greet", "\n# Say hello\n\nPolitely.")
    [skill] = SkillLibrary([tmp_path]).list()
    assert (skill.name, skill.description, skill.allowed_tools) == ("greet", "Say hello", None)


def test_tools_may_be_one_text(tmp_path: Path) -> None:
    write_skill(tmp_path, "a", "---\nallowed_tools: read_file, list_files search_files\n---\n")
    assert SkillLibrary([tmp_path]).list()[0].allowed_tools == ("read_file", "list_files", "search_files")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("---\nname: [\n---\n", "not valid YAML"),
        ("---\nsince: 2026-13-45\n---\n", "not valid YAML: month must be in 1..12"),
        ("---\nname: two words\n---\n", "name must be one word without slashes, got 'two words'"),
        ("---\nname: ../up\n---\n", "without slashes"),
        ("---\nname: 3\n---\n", "got 3"),
        ("---\ndescription: [a]\n---\n", "description must be text, got"),
        ("---\nallowed-tools: {a: b}\n---\n", "allowed-tools must be a list of tool names"),
        ("x" * 200_001, "at most 200000 are allowed"),
    ],
)
def test_a_broken_skill_is_reported_and_the_others_still_work(
    tmp_path: Path, text: str, complaint: str
) -> None:
    path = write_skill(tmp_path, "broken", text)
    write_skill(tmp_path, "good")
    library = SkillLibrary([tmp_path])
    assert [skill.name for skill in library.list()] == ["good"]
    [problem] = library.problems
    assert problem.path == path
    assert complaint in problem.message
    assert f"broken: {path}" in library.why("broken")


def test_a_file_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    write_skill(tmp_path, "a").write_bytes(b"\xff\xfe")
    assert "Cannot read" in SkillLibrary([tmp_path]).problems[0].message


def test_a_link_that_leads_out_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    path = write_skill(tmp_path / "work", "a")
    path.unlink()
    path.symlink_to(tmp_path / "secret.txt")
    library = SkillLibrary([tmp_path / "work"])
    assert library.list() == []
    assert "outside of" in library.problems[0].message


def test_a_wrong_name_gets_the_near_ones(tmp_path: Path) -> None:
    assert SkillLibrary([tmp_path]).why("x") == "Unknown skill 'x'. None are available."
    write_skill(tmp_path, "review")
    library = SkillLibrary([tmp_path])
    assert library.get("reviews") is None
    assert library.why("reviews") == "Unknown skill 'reviews'. Did you mean 'review'?"
    assert library.get("Review") is library.get("review")


def test_an_edit_is_seen_after_a_reload(tmp_path: Path) -> None:
    write_skill(tmp_path, "a", "old")
    library = SkillLibrary([tmp_path])
    assert library.list()[0].body == "old"
    write_skill(tmp_path, "a", "new")
    assert library.list()[0].body == "old"
    library.reload()
    assert library.list()[0].body == "new"


def test_a_skill_that_is_a_link_into_dovetails_own_folder_is_not_used(tmp_path: Path) -> None:
    (tmp_path / ".dovetail").mkdir()
    (tmp_path / ".dovetail" / "keys.json").write_text("the-secret")
    folder = tmp_path / "skills" / "leak"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").symlink_to(tmp_path / ".dovetail" / "keys.json")
    library = SkillLibrary([tmp_path])
    assert library.list() == []
    assert "Dovetail's own folder" in library.problems[0].message
