"""Prompts from YAML and JSON: the recorded cases, and what happens to methods that do not exist."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from dovetail import Agent
from dovetail.errors import ConfigError, PromptSyntaxError
from dovetail.testing import ScriptedRequester
from golden.load_cases import decode, load

CASES = load("configure_prompt_cases")


def load_prompt(agent: Agent, case: dict[str, Any]) -> Agent:
    for step in case.get("before", []):
        getattr(agent, step["call"])(*decode(step.get("args", [])), **decode(step.get("kwargs", {})))
    for part in [case, *case.get("then", [])]:
        options = {key: decode(part[key]) for key in ("mappings", "prompt_key_path") if key in part}
        method = agent.load_yaml_prompt if part["format"] == "yaml" else agent.load_json_prompt
        method(part["text"], **options)
    return agent


@pytest.mark.parametrize(
    "case", [case for case in CASES if "error" not in case["expected"]], ids=lambda case: case["id"]
)
def test_recorded_configuration_leaves_the_recorded_prompts(case: dict[str, Any]) -> None:
    expected = case["expected"]
    agent = load_prompt(Agent(requester=ScriptedRequester([])), case)
    assert agent.agent_prompt.get() == decode(expected["agent_prompt"])
    assert agent.request_prompt.get(inherit=False) == decode(expected["request_prompt"])
    for name in ("get_prompt_text", "get_yaml_prompt", "get_json_prompt"):
        if "result" in expected.get(name, {}):
            assert getattr(agent, name)() == expected[name]["result"]


@pytest.mark.parametrize(
    "case", [case for case in CASES if "error" in case["expected"]], ids=lambda case: case["id"]
)
def test_recorded_errors_are_errors_of_the_recorded_class(case: dict[str, Any]) -> None:
    agent = Agent(requester=ScriptedRequester([]))
    with pytest.raises(ConfigError) as caught:
        load_prompt(agent, case)
    assert case["expected"]["error"]["type"] in [kind.__name__ for kind in type(caught.value).__mro__]


def test_unknown_alias_is_skipped_with_close_names(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent(requester=ScriptedRequester([]))
    with caplog.at_level(logging.WARNING):
        agent.load_yaml_prompt(".alias:\n  instuct: {prompt: hi}\ninput: go\n")
    assert "'instuct' is skipped" in caplog.text
    assert "instruct" in caplog.text
    assert agent.request_prompt["input"] == "go"


def test_private_methods_are_not_aliases(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent(requester=ScriptedRequester([]))
    agent.load_yaml_prompt(".alias:\n  _open: {}\n")
    assert "'_open' is skipped" in caplog.text


def test_prompt_that_was_saved_is_loaded_again(tmp_path: Path) -> None:
    agent = Agent(requester=ScriptedRequester([]))
    agent.role("carpenter", always=True).input("wood").output({"a": (str, "text"), "l": [(int,)]})
    text = agent.get_yaml_prompt(save_to=tmp_path / "prompt.yaml")
    agent.get_json_prompt(save_to=tmp_path / "prompt.json")
    from_yaml = Agent(requester=ScriptedRequester([])).load_yaml_prompt(tmp_path / "prompt.yaml")
    from_json = Agent(requester=ScriptedRequester([])).load_json_prompt(str(tmp_path / "prompt.json"))
    assert from_yaml.get_yaml_prompt() == from_json.get_yaml_prompt() == text
    assert json.loads(from_json.get_json_prompt()) == json.loads(agent.get_json_prompt())


def test_odd_line_breaks_survive_saving_and_loading() -> None:
    agent = Agent(requester=ScriptedRequester([])).input("a\u2028b\x85c\u2029d")
    again = Agent(requester=ScriptedRequester([])).load_yaml_prompt(agent.get_yaml_prompt())
    assert again.request_prompt.get("input") == "a\u2028b\x85c\u2029d"


def test_unreadable_file_names_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("input: go\ninfo: [1, 2\n", encoding="utf-8")
    with pytest.raises(PromptSyntaxError, match=r"broken\.yaml") as caught:
        Agent(requester=ScriptedRequester([])).load_yaml_prompt(path)
    assert caught.value.line is not None
    assert caught.value.column is not None


def test_alias_with_null_is_called_without_arguments() -> None:
    agent = Agent(requester=ScriptedRequester([])).add_chat_history({"role": "user", "content": "x"})
    agent.load_yaml_prompt(".alias: {reset_chat_history: null}")
    assert not agent.agent_prompt.get("chat_history")


def test_wrong_alias_leaves_the_prompts_as_they_were() -> None:
    agent = Agent(requester=ScriptedRequester([]))
    with pytest.raises(TypeError, match=r"\.args of \.alias 'input' must be a list"):
        agent.load_yaml_prompt("info: a\n.alias: {input: {.args: x}}")
    assert agent.request_prompt.get() == {}


def test_unknown_alias_is_skipped_whatever_its_parameters() -> None:
    agent = Agent(requester=ScriptedRequester([])).load_yaml_prompt(".alias: {nothing: 5}\ninput: go")
    assert agent.request_prompt["input"] == "go"


def test_mappings_reach_aliases() -> None:
    agent = Agent(requester=ScriptedRequester([]))
    agent.load_json_prompt('{".alias": {"instruct": {"prompt": "Be ${how}."}}}', {"how": "brief"})
    assert agent.request_prompt["instruct"] == "Be brief."


@pytest.mark.parametrize(
    ("name", "near"), [("async_start", "start"), ("name", None), ("request_prompt", None)]
)
def test_attributes_that_cannot_be_called_are_not_aliases(
    name: str, near: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    Agent(requester=ScriptedRequester([])).load_yaml_prompt(f".alias: {{{name}: null}}")
    assert f"'{name}' is skipped" in caplog.text
    assert near is None or f"Did you mean {near!r}" in caplog.text
    assert f"mean {name}" not in caplog.text


def test_unknown_directive_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    Agent(requester=ScriptedRequester([])).load_yaml_prompt(".agnet: {system: x}\ninput: go")
    assert [record.getMessage() for record in caplog.records] == [
        "Unknown directive '.agnet' is read as a slot of the request. Did you mean '.agent'?"
    ]
