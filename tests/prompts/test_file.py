"""A prompt file: its description, its variables, and the text it makes of them."""

from pathlib import Path

import pytest

from dovetail.agent import runtime
from dovetail.errors import ConfigError, PromptVariableError
from dovetail.prompts.file import PromptFile, read_prompt_file

TRANSLATE = """
.about:
  title: Translate
  description: |
    Translate a text
    and keep its tone.
  variables:
    language: {description: The language to translate into., default: English}
    tone: {choices: [friendly, formal], default: friendly}
    text: The text to translate.
input: "Into ${language}, ${tone}: ${text}"
"""


def read(folder: Path, text: str, name: str = "sample.yaml") -> PromptFile:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_prompt_file(path)


def test_about_describes_the_file_and_is_not_rendered(tmp_path: Path) -> None:
    prompt = read(tmp_path, TRANSLATE)
    assert (prompt.name, prompt.title) == ("sample", "Translate")
    assert prompt.description == "Translate a text and keep its tone."
    found = [(each.name, each.default, each.is_required) for each in prompt.variables]
    assert found == [("language", "English", False), ("tone", "friendly", False), ("text", None, True)]
    rendered = prompt.render({"text": "Guten Tag", "tone": "formal"})
    assert rendered.text == "Into English, formal: Guten Tag"
    assert rendered.messages == [{"role": "user", "content": rendered.text}]


def test_a_file_without_about_is_listed_by_its_name_with_its_placeholders(tmp_path: Path) -> None:
    prompt = read(tmp_path, '{"$system": "Be ${how}.", "input": "Plan ${ what }."}', "plan_week.json")
    assert prompt.title == "Plan week"
    assert [each.name for each in prompt.variables] == ["how", "what"]
    assert prompt.render({"how": "brief", "what": "it"}).text == "Be brief.\n\nPlan it."


def test_a_prompt_with_several_slots_and_aliases_is_rendered_whole(tmp_path: Path) -> None:
    prompt = read(tmp_path, "input: Go.\n.alias: {instruct: {.args: [Be kind.]}}\n")
    text = prompt.render({}).text
    assert "[INSTRUCT]:\nBe kind." in text
    assert "[INPUT]:\nGo." in text


def test_a_conversation_is_written_with_its_roles(tmp_path: Path) -> None:
    history = "chat_history: [{role: user, content: Hi}, {role: assistant, content: Hello}]\ninput: Go.\n"
    assert "[assistant]:Hello" in read(tmp_path, history).render({}).text


def test_values_are_never_read_as_placeholders_or_directives(tmp_path: Path) -> None:
    prompt = read(tmp_path, "input: '${a} ${b}'\n")
    assert prompt.render({"a": "${b}", "b": ".agent"}).text == "${b} .agent"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "needs a value for text"),
        ({"text": "  "}, "needs a value for text"),
        ({"text": "x", "tome": "y"}, "Unknown variable 'tome'. Did you mean 'tone'?"),
        ({"text": "x", "tone": "rude"}, "Unknown choice for tone 'rude'."),
    ],
)
def test_wrong_values_are_explained(tmp_path: Path, values: dict[str, str], message: str) -> None:
    prompt = read(tmp_path, TRANSLATE)
    with pytest.raises(PromptVariableError) as raised:
        prompt.render(values)
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a list\n", "must be a mapping"),
        ("input: [\n", "not valid YAML"),
        (".about: {titel: x}\ninput: y\n", "Unknown key 'titel'. Did you mean 'title'?"),
        (".about: text\ninput: y\n", ".about must be a mapping"),
        (".about: {title: 3}\ninput: y\n", "title must be text"),
        (".about: {variables: {nme: x}}\ninput: ${name}\n", "Unknown variable 'nme'. Did you mean 'name'?"),
        (".about: {variables: {a: {kind: x}}}\ninput: ${a}\n", "Unknown key of the variable 'a' 'kind'."),
        (".about: {variables: {a: {choices: [b], default: c}}}\ninput: ${a}\n", "Unknown choice for a 'c'."),
        (".about: {variables: {a: {choices: [[b]]}}}\ninput: ${a}\n", "must be a list of texts"),
        (".about: {title: Empty}\n", "requires at least one of"),
        (".alias: {instruct: {wrong: x}}\ninput: y\n", ".alias instruct"),
    ],
)
def test_an_invalid_file_is_explained(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, text)
    assert message in str(raised.value)


def test_a_file_name_must_be_usable_as_a_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a name"):
        read(tmp_path, "input: x\n", "two words.yaml")


def test_reading_a_file_does_not_warn_about_settings_that_programs_do_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(runtime, "_default", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dovetail.toml").write_text("")
    with caplog.at_level("INFO"):
        read(tmp_path, "input: Hello")
    assert caplog.messages == []
