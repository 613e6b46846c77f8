"""The prompts of some folders: which one a name means, what is broken, and the last good version."""

from pathlib import Path

import pytest

from dovetail.agent import runtime
from dovetail.errors import NotFoundError
from dovetail.prompts.library import PromptLibrary, describe_problem, describe_prompt

SHIPPED = Path(__file__).parents[2] / "prompts"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_the_nearest_folder_wins_and_hidden_files_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "near" / "a.yaml", "input: near\n")
    write(tmp_path / "near" / "_draft.yaml", "input: [\n")
    write(tmp_path / "near" / "notes.md", "# no prompt\n")
    write(tmp_path / "far" / "a.yaml", "input: far\n")
    write(tmp_path / "far" / "b.json", '{"input": "far"}')
    library = PromptLibrary([tmp_path / "near", tmp_path / "far", tmp_path / "missing"])
    assert [(prompt.name, prompt.render({}).text) for prompt in library.list()] == [
        ("a", "near"),
        ("b", "far"),
    ]
    assert library.problems == ()
    with pytest.raises(NotFoundError, match="Unknown prompt 'c'"):
        library.get("c")


def test_reading_prompts_does_not_set_up_the_agents_of_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(runtime, "_default", None)
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "dovetail.toml", "")
    write(tmp_path / "near" / "a.yaml", "input: near\n")
    with caplog.at_level("INFO"):
        assert PromptLibrary([tmp_path / "near"]).get("a").render({}).text == "near"
    assert caplog.messages == []  # such as advice on an `Agent()` in a folder with settings


def test_a_broken_file_is_reported_with_its_line_and_its_last_good_version_stays(tmp_path: Path) -> None:
    path = write(tmp_path / "a.yaml", "input: good\n")
    library = PromptLibrary([tmp_path])
    assert library.get("a").render({}).text == "good"
    path.write_text("input: better\nmore: [\n", encoding="utf-8")
    for _ in range(2):
        library.reload()
        assert library.get("a").render({}).text == "good"
        [problem] = library.problems
        assert (problem.keeps_last_good, problem.line) == (True, 3)
        assert problem.message.startswith("This is not valid YAML")
        assert describe_problem(problem)["path"] == str(path)
    path.write_text("input: better\n", encoding="utf-8")
    library.reload()
    assert (library.get("a").render({}).text, library.problems) == ("better", ())
    path.unlink()
    library.reload()
    assert library.list() == []


def test_reading_prompts_leaves_the_runtime_of_other_agents_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would log that `Agent()` does not read dovetail.toml, whenever a server starts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dovetail.agent.runtime._default", None)
    write(tmp_path / "prompts" / "a.yaml", "input: near\n")
    library = PromptLibrary([tmp_path / "prompts"])
    assert library.get("a").render({}).text
    assert runtime._default is None  # pyright: ignore[reportPrivateUsage]


def test_a_file_that_was_never_good_is_only_reported(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", ".about: {titel: x}\ninput: y\n")
    library = PromptLibrary([tmp_path])
    assert library.list() == []
    [problem] = library.problems
    assert not problem.keeps_last_good
    assert "Did you mean 'title'?" in problem.message


def test_two_files_with_one_name_are_reported(tmp_path: Path) -> None:
    write(tmp_path / "a.json", '{"input": "json"}')
    write(tmp_path / "a.yaml", "input: yaml\n")
    library = PromptLibrary([tmp_path])
    assert library.get("a").render({}).text == "json"
    assert [problem.message for problem in library.problems] == [
        "a.json has the same name, 'a', and is used instead."
    ]


def test_a_folder_that_is_given_twice_is_read_once(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "input: yaml\n")
    library = PromptLibrary([tmp_path, tmp_path])
    assert library.get("a").render({}).text == "yaml"
    assert library.problems == ()


def test_a_link_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    secret = write(tmp_path / "elsewhere" / "secret.yaml", "input: secret\n")
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "a.yaml").symlink_to(secret)
    library = PromptLibrary([folder])
    assert library.list() == []
    assert "is a link to a file outside" in library.problems[0].message


def test_the_shipped_prompts_can_be_rendered() -> None:
    library = PromptLibrary([SHIPPED])
    assert library.problems == ()
    for prompt in library.list():
        described = describe_prompt(prompt)
        assert described["description"]
        values = {each["name"]: "oak" for each in described["variables"] if each["required"]}
        assert "oak" in prompt.render(values).text


def test_a_file_that_is_also_one_of_dovetails_own_is_refused_wherever_the_program_runs(
    tmp_path: Path,
) -> None:
    secret = write(tmp_path / ".dovetail" / "note.yaml", "input: the-secret\n")
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "spy.yaml").hardlink_to(secret)
    library = PromptLibrary([tmp_path / "prompts"])
    assert library.list() == []
    assert "is in Dovetail's own folder" in library.problems[0].message
