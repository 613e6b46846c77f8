"""YAML is read as PyYAML's safe loader reads it, but a small text cannot describe more than fits."""

from pathlib import Path

import pytest
import yaml

from dovetail.agent.agent import Agent
from dovetail.agents.file import load_definition
from dovetail.data.bounded_yaml import DEEPEST, LONGEST_TEXT, compose_yaml, load_yaml
from dovetail.data.front_matter import split_front_matter
from dovetail.data.text import shorten
from dovetail.errors import ConfigError, PromptSyntaxError
from dovetail.skills import SkillLibrary

LAUGHS = "\n".join(
    ["a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just text",
        "a: 1\nb: [x, 2026-11-16, 1.5, null, yes]\nc:\n  d: |\n    lines\n    of text\n",
        "base: &base {a: 1, b: 2}\nmore: {<<: *base, c: 3}\nlist: [*base, *base]",
        "number: 0x1F\nbig: 123456789012345678901234567890\nsexagesimal: 1:30",
    ],
)
def test_ordinary_yaml_is_read_as_before(text: str) -> None:
    assert load_yaml(text) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (LAUGHS, "more than 100000 values, counting each as often as aliases"),
        (LAUGHS.replace("[", "{<<: [").replace("]", "]}"), "more than 100000 values"),
        (f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 1000)}]", "more than 100000 values"),
        (f"[{'1,' * 200_000}]", "more than 100000 values"),
        ("a: &a [*a]", "contains itself through an alias"),
        ("a: " + "[" * (DEEPEST + 1), "nested too deeply"),
        ("a0: &a0 [x]\n" + "\n".join(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 200)), "nested too deeply"),
        ("x" * (LONGEST_TEXT + 1), "exceed the limit of 1000000"),
        (f"a: 0x{'f' * 5000}", "a number has 5002 digits"),
    ],
)
def test_a_text_that_describes_too_much_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(yaml.YAMLError, match=complaint):
        load_yaml(text)


def test_nodes_are_bounded_too() -> None:
    with pytest.raises(yaml.YAMLError, match="more than 100000 values"):
        compose_yaml(LAUGHS)


def test_a_skill_with_endless_aliases_is_reported_and_the_others_load(tmp_path: Path) -> None:
    for name, text in (("bad", f"---\n{LAUGHS}\nname: *a11\n---\nx"), ("good", "Do it.")):
        folder = tmp_path / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text)
    library = SkillLibrary([tmp_path])
    assert [skill.name for skill in library.list()] == ["good"]
    assert "more than 100000 values" in library.problems[0].message


@pytest.mark.parametrize("key", ["name", "tools", "inputs", "options", "output", "max_turns", "input_schema"])
def test_an_agent_file_with_endless_aliases_is_refused(tmp_path: Path, key: str) -> None:
    path = tmp_path / "scout.md"
    path.write_text(f"---\ndescription: x\n{LAUGHS}\n{key}: *a11\n---\nLook.")
    with pytest.raises(ConfigError, match="more than 100000 values"):
        load_definition(path)


def test_a_prompt_file_with_endless_aliases_is_refused() -> None:
    with pytest.raises(PromptSyntaxError, match="more than 100000 values"):
        Agent().load_yaml_prompt(f"{LAUGHS}\ninput: *a11")


def test_errors_show_a_shortened_value() -> None:
    with pytest.raises(ConfigError) as error:
        split_front_matter(f"---\n[{'abc, ' * 10_000}]\n---\n")
    assert len(str(error.value)) < 400
    assert shorten({"a": "x" * 1000}) < "{'a': 'xxx" + "x" * 300
    assert shorten("short") == "'short'"
