"""Prompt configurations leave the recorded prompts, and say where they are wrong."""

from pathlib import Path
from typing import Any

import pytest

from dovetail.errors import ConfigError, PromptError, PromptSyntaxError, PromptTypeError
from dovetail.prompt import Prompt
from dovetail.prompt.configure import AliasStep, Configuration, read_json_prompt, read_yaml_prompt
from dovetail.prompt.export import to_configuration, to_json, to_yaml
from golden.load_cases import decode, load

READERS = {"yaml": read_yaml_prompt, "json": read_json_prompt}


class Prompts:
    """The two prompts of an agent and the methods that aliases name."""

    def __init__(self) -> None:
        self.agent = Prompt()
        self.request = Prompt(parent=self.agent)

    def take(self, configuration: Configuration) -> None:
        configuration.apply(self.agent, self.request, self.call)

    def call(self, step: AliasStep) -> None:
        if step.name == "set_agent_prompt":
            self.agent.set(*step.args, **step.kwargs)
        elif step.name == "set_request_prompt":
            self.request.set(*step.args, **step.kwargs)
        else:
            self.set_slot(step.name, *step.args, **step.kwargs)

    def set_slot(self, slot: str, prompt: Any = None, options: Any = None, *, always: bool = False) -> None:
        (self.agent if always else self.request).set(slot, prompt if options is None else options)

    def export(self) -> dict[str, Any]:
        return to_configuration(self.agent, self.request)


@pytest.mark.parametrize("case", load("configure_prompt_cases"), ids=lambda case: case["id"])
def test_configuration_is_read_as_recorded(case: dict[str, Any], tmp_path: Path) -> None:
    expected = case["expected"]
    if "error" in expected:
        with pytest.raises(ConfigError) as caught:
            load_case(case, tmp_path)
        assert expected["error"]["type"] in [kind.__name__ for kind in type(caught.value).__mro__]
        return
    prompts = load_case(case, tmp_path)
    assert prompts.agent.get() == decode(expected["agent_prompt"])
    assert prompts.request.get(inherit=False) == decode(expected["request_prompt"])
    assert prompts.request.to_text() == expected["to_text"]["result"]
    if "get_yaml_prompt" in expected:
        assert to_yaml(prompts.export()) == expected["get_yaml_prompt"]["result"]
        assert to_json(prompts.export()) == expected["get_json_prompt"]["result"]
        again = Prompts()
        again.take(read_yaml_prompt(to_yaml(prompts.export())))
        assert again.agent.get() == decode(expected["yaml_round_trip"]["agent_prompt"])
        assert again.request.get(inherit=False) == decode(expected["yaml_round_trip"]["request_prompt"])


def load_case(case: dict[str, Any], folder: Path) -> Prompts:
    prompts = Prompts()
    for call in case.get("before", []):
        prompts.set_slot(call["call"], *call["args"], **call.get("kwargs", {}))
    source: str = case["text"]
    if "as_file" in case:
        path = folder / case["as_file"]
        path.write_text(source, encoding="utf-8")
        source = str(path)
    mappings, path = case.get("mappings"), case.get("prompt_key_path")
    prompts.take(READERS[case["format"]](source, mappings, path))
    for further in case.get("then", []):
        prompts.take(READERS[further["format"]](further["text"]))
    return prompts


@pytest.mark.parametrize(
    ("read", "text", "line", "column"),
    [
        (read_yaml_prompt, "input: x\ninfo: [1, 2\nmore: }", 3, 5),
        (read_yaml_prompt, "input: x\n\tinfo: y", 2, 1),
        (read_json_prompt, '{"input": "x",\n "info": }', 2, 10),
        (read_json_prompt, "{\n// note\n input: 'x }", 3, 13),
    ],
)
def test_syntax_error_tells_line_and_column(read: Any, text: str, line: int, column: int) -> None:
    with pytest.raises(PromptSyntaxError, match=f"line {line}, column {column}") as caught:
        read(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_date_that_does_not_exist_is_a_clear_error() -> None:
    with pytest.raises(PromptSyntaxError, match=r"month must be in 1\.\.12"):
        read_yaml_prompt("input: 2024-13-45")


def test_path_that_is_not_there_says_so() -> None:
    with pytest.raises(PromptTypeError, match="there is no such file"):
        read_yaml_prompt("prompts/missing.yaml")
    with pytest.raises(PromptError, match=r"'missing\.yaml' cannot be read"):
        read_yaml_prompt(Path("missing.yaml"))


def test_text_of_several_lines_is_never_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "input: a\ninfo: b"
    (tmp_path / text).write_text("input: from the file")
    monkeypatch.chdir(tmp_path)
    assert read_yaml_prompt(text).request == {"input": "a", "info": "b"}


def test_text_is_never_taken_for_a_path_when_it_cannot_be_one() -> None:
    assert read_yaml_prompt("input: " + "x" * 5000).request == {"input": "x" * 5000}
    assert read_yaml_prompt("input: a/b").request == {"input": "a/b"}


def test_scalar_alias_parameters_are_told_how_to_write_them() -> None:
    with pytest.raises(
        PromptSyntaxError, match=r"'input' must be a mapping, got 'x'\nwrite them by name"
    ) as caught:
        read_yaml_prompt("input: a\n.alias:\n  input: x")
    assert (caught.value.line, caught.value.column) == (3, 3)
    with pytest.raises(PromptSyntaxError, match=r"\.alias must map method names") as caught:
        read_json_prompt('{"team": {\n  ".alias": 5}}', None, "team")
    assert (caught.value.line, caught.value.column) == (2, 3)


def test_aliases_keep_their_place_among_the_slots() -> None:
    configuration = read_yaml_prompt("input: one\n.alias: {input: {.args: two}}\n")
    prompts = Prompts()
    prompts.take(configuration)
    assert prompts.request.get() == {"input": "two"}
    assert configuration.aliases == (AliasStep(name="input", args=("two",)),)


def test_alias_of_output_reads_the_schema_notation() -> None:
    step = read_yaml_prompt(".alias: {output: {.args: [{a: {$type: int, $desc: count}}]}}").aliases[0]
    assert step.args == ({"a": ("int", "count")},)


def test_default_and_nested_types_are_read() -> None:
    text = "output: {a: {$type: int, $desc: count, $default: 3}, b: {$type: {c: {.type: str}}, $desc: d}}"
    assert read_yaml_prompt(text).request["output"] == {
        "a": ("int", "count", 3),
        "b": ({"c": ("str", None)}, "d"),
    }


def test_list_index_in_the_key_path_is_followed() -> None:
    assert read_yaml_prompt("team: [{input: a}, {input: b}]", None, "team[1]").request == {"input": "b"}


def test_exported_tools_are_read_again() -> None:
    tool = {
        "name": "saw",
        "desc": "cut",
        "kwargs": {
            "mm": (int, "length"),
            "cuts": [(str, "a cut")],
            "plan": ({"n": (int, "steps")}, "the plan"),
        },
        "returns": (bool, "done"),
    }
    prompt = Prompt({"tools": [tool], "input": "go"})
    again = Prompt(read_yaml_prompt(prompt.to_yaml_prompt()).request)
    assert again.to_text() == prompt.to_text()
