"""Prompt configurations leave the recorded prompts, and say where they are wrong."""

from functools import partial
from pathlib import Path, PurePath
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
        methods = {"set_agent_prompt": self.agent.set, "set_request_prompt": self.request.set}
        step.apply(methods.get(step.name, partial(self.set_slot, step.name)))

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
def test_syntax_error_has_line_and_column(read: Any, text: str, line: int, column: int) -> None:
    with pytest.raises(PromptSyntaxError, match=f"line {line}, column {column}") as caught:
        read(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_date_that_does_not_exist_is_a_clear_error() -> None:
    with pytest.raises(PromptSyntaxError, match=r"month must be in 1\.\.12"):
        read_yaml_prompt("input: 2024-13-45")


def test_path_that_is_not_there_says_so() -> None:
    with pytest.raises(PromptTypeError, match="the file does not exist"):
        read_yaml_prompt("prompts/missing.yaml")
    with pytest.raises(PromptError, match=r"Cannot read the prompt file 'missing\.yaml'"):
        read_yaml_prompt(Path("missing.yaml"))


def test_text_of_several_lines_is_never_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "input: a\ninfo: b"
    (tmp_path / text).write_text("input: from the file")
    monkeypatch.chdir(tmp_path)
    assert read_yaml_prompt(text).request == {"input": "a", "info": "b"}


def test_text_is_never_taken_for_a_path_when_it_cannot_be_one() -> None:
    assert read_yaml_prompt("input: " + "x" * 5000).request == {"input": "x" * 5000}
    assert read_yaml_prompt("input: a/b").request == {"input": "a/b"}


def test_wrong_alias_parameters_say_how_to_write_them() -> None:
    [step] = read_yaml_prompt("input: a\n.alias:\n  input: x").aliases
    with pytest.raises(
        PromptSyntaxError, match=r"'input' must be a mapping, got 'x'\nwrite them by name"
    ) as caught:
        step.apply(print)
    assert (caught.value.line, caught.value.column) == (3, 3)
    with pytest.raises(PromptSyntaxError, match=r"\.alias must map method names") as caught:
        read_json_prompt('{"team": {\n  ".alias": 5}}', None, "team")
    assert (caught.value.line, caught.value.column) == (2, 3)


def test_args_of_an_alias_must_be_a_list() -> None:
    [step] = read_yaml_prompt(".alias:\n  input:\n    .args: x").aliases
    with pytest.raises(TypeError, match=r"\.args of \.alias 'input' must be a list, got 'x'") as caught:
        step.apply(print)
    assert isinstance(caught.value, PromptSyntaxError)
    assert (caught.value.line, caught.value.column) == (3, 5)


def test_aliases_keep_their_place_among_the_slots() -> None:
    configuration = read_yaml_prompt("input: one\n.alias: {input: {.args: [two]}}\n")
    prompts = Prompts()
    prompts.take(configuration)
    assert prompts.request.get() == {"input": "two"}
    assert configuration.aliases == (AliasStep(name="input", args=("two",)),)


def test_alias_without_parameters_is_called_without_arguments() -> None:
    assert read_yaml_prompt(".alias: {reset_chat_history: null}").aliases == (
        AliasStep(name="reset_chat_history"),
    )


def test_alias_gets_its_parameters_as_they_are_written() -> None:
    step = read_yaml_prompt(".alias: {output: {.args: [{a: {$type: int, $desc: count}}]}}").aliases[0]
    assert step.args == ({"a": {"$type": "int", "$desc": "count"}},)


def test_mappings_fill_alias_names_and_parameters() -> None:
    text = """.alias: {"${method}": {.args: ["hello ${name}"], "${key}": "${always}"}}"""
    [step] = read_yaml_prompt(
        text, {"method": "input", "name": "Ann", "key": "always", "always": True}
    ).aliases
    assert step == AliasStep(name="input", args=("hello Ann",), kwargs={"always": True})


def test_mappings_may_fill_all_parameters_of_an_alias() -> None:
    text = ".alias: {input: {.args: '${args}'}, info: '${named}', reset_chat_history: '${none}'}"
    steps = read_yaml_prompt(text, {"args": ["x"], "named": {"prompt": 1, ".args": 2}, "none": None}).aliases
    assert steps == (
        AliasStep(name="input", args=("x",)),
        AliasStep(name="info", kwargs={"prompt": 1, ".args": 2}),
        AliasStep(name="reset_chat_history"),
    )


def test_filled_text_is_never_read_as_a_directive() -> None:
    text = """
"${agent}": {system: x}
"${slot}": y
.request: {output: {a: {"${type}": int}, b: "${field}"}}
.alias: {input: {"${args}": [1]}}
"""
    mappings = {
        "agent": ".agent", "slot": "$info", "type": "$type", "field": {"$type": "int"}, "args": ".args"
    }  # fmt: skip
    configuration = read_yaml_prompt(text, mappings)
    assert configuration.agent == {}
    assert configuration.request == {
        "": {"agent": {"system": "x"}},
        "$info": "y",
        "output": {"a": {"$type": "int"}, "b": {"$type": "int"}},
    }
    assert configuration.aliases == (AliasStep(name="input", kwargs={".args": [1]}),)


def test_filled_text_keeps_its_own_white_space() -> None:
    assert read_yaml_prompt("input: ' ${text} '", {"text": "  a\n"}).request == {"input": "  a\n"}


def test_filled_type_may_be_a_python_type() -> None:
    text = "output: {a: {$type: '${kind}', $desc: '${note}'}}"
    assert read_yaml_prompt(text, {"kind": int, "note": "count"}).request == {"output": {"a": (int, "count")}}


def test_mappings_must_be_a_mapping() -> None:
    wrong: Any = "name=Ann"
    with pytest.raises(TypeError, match="mappings must be a mapping of names to values, got 'name=Ann'"):
        read_yaml_prompt("input: x", wrong)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("{$type: int, .type: str, $desc: a, .desc: b}", ("str", "b")),
        ("{$type: int, .type: null, $desc: a}", (Any, "a")),
        ("{$type: '', $desc: a}", ("", "a")),
        ("{$type: int}", ("int", None)),
        ("{.desc: a}", (Any, "a")),
        ("{$type: null, $desc: ''}", {"$type": None, "$desc": ""}),
        ("{$type: {b: {$type: int}}, $desc: a}", ({"b": ("int", None)}, "a")),
        ("{$type: [{b: {.type: int}}]}", ([{"b": ("int", None)}], None)),
        ("{$type: int, $default: 0}", ("int", None, 0)),
    ],
)
def test_field_of_the_output_is_read(field: str, expected: Any) -> None:
    assert read_yaml_prompt(f"output: {{a: {field}}}").request == {"output": {"a": expected}}


def test_only_the_output_slot_itself_is_read_as_a_schema() -> None:
    assert read_yaml_prompt("output.a: {$type: int}").request == {"output": {"a": {"$type": "int"}}}


def test_unknown_directive_is_kept_and_doubted() -> None:
    configuration = read_yaml_prompt(".agnet: {system: x}")
    assert configuration.request == {"": {"agnet": {"system": "x"}}}
    assert configuration.doubts == {
        ".agnet": "Unknown directive '.agnet' is read as a slot of the request. Did you mean '.agent'?"
    }


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "utf-8-sig", "utf-8"])
def test_file_is_read_in_its_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "prompt.yaml"
    path.write_text("input: 你好\n", encoding=encoding)
    assert read_yaml_prompt(path, encoding=encoding).request == {"input": "你好"}
    assert read_yaml_prompt(str(path), encoding=encoding).request == {"input": "你好"}


def test_every_kind_of_path_is_read(tmp_path: Path) -> None:
    (tmp_path / "prompt.yaml").write_text("input: x\n", encoding="utf-8")
    path: Any = PurePath(tmp_path / "prompt.yaml")
    assert read_yaml_prompt(path).request == {"input": "x"}


def test_wrong_encoding_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "prompt.json"
    path.write_text('{"input": "你好"}', encoding="gb18030")
    with pytest.raises(PromptError, match=r"prompt\.json' is not UTF-8 text[\s\S]*encoding="):
        read_json_prompt(path)
    with pytest.raises(PromptError, match="Unknown encoding 'utf-9'"):
        read_json_prompt(path, encoding="utf-9")


def test_key_path_finds_keys_as_they_are_written() -> None:
    assert read_yaml_prompt("{/a: {input: x}}", None, "/a").request == {"input": "x"}
    assert read_yaml_prompt("{a: {'*': {input: x}}}", None, "a.*").request == {"input": "x"}


def test_empty_text_is_an_error() -> None:
    with pytest.raises(ValueError, match="the text is empty"):
        read_json_prompt("")
    with pytest.raises(TypeError, match="must be a mapping, got None"):
        read_yaml_prompt("")


def test_mappings_of_the_call_itself_win_over_the_files() -> None:
    text = ".alias: {input: {prompt: 'to ${a} and ${b}', mappings: {b: B}}}"
    (step,) = read_yaml_prompt(text, {"a": 1, "b": 2}).aliases
    assert step.kwargs == {"prompt": "to 1 and ${b}", "mappings": {"b": "B"}}


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


def test_deep_nesting_is_a_clear_error() -> None:
    for text in ('{"input": %s}' % ("[" * 500 + "]" * 500), "{input: %s}" % ("[" * 120 + "]" * 120)):
        with pytest.raises(PromptSyntaxError, match="nested too deeply, at most 100 levels"):
            read_json_prompt(text)
        with pytest.raises(PromptSyntaxError, match="nested too deeply, at most 100 levels"):
            read_yaml_prompt(text)


def test_only_what_looks_like_a_path_is_called_one() -> None:
    with pytest.raises(PromptSyntaxError, match=r"'shop\.json' is meant as a path: the file does not exist"):
        read_json_prompt("shop.json")
    with pytest.raises(PromptSyntaxError) as caught:
        read_yaml_prompt("input:\tx")
    assert caught.value.hint is None


def test_defaults_of_described_variables_fill_what_no_value_is_given_for() -> None:
    text = ".about: {variables: {wood: {default: oak}, size: The size.}}\ninput: ${wood}, ${size}\n"
    assert read_yaml_prompt(text).request == {"input": "oak, ${size}"}
    assert read_yaml_prompt(text, {"wood": "ash", "size": 3}).request == {"input": "ash, 3"}


@pytest.mark.parametrize(
    "about", ["x", "{variables: [a]}", "{variables: {a: 1}}", "{variables: {a: {default: null}}}"]
)
def test_description_in_another_form_fills_nothing(about: str) -> None:
    assert read_yaml_prompt(f".about: {about}\ninput: ${{a}}\n").request == {"input": "${a}"}
