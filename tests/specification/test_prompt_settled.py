"""Points of prompts that were once in doubt, each settled by a rule (docs/specification.md, chapter P)."""

from typing import Any

import pytest
from pydantic import ValidationError

from dovetail.prompt import Prompt, PromptModel
from dovetail.prompt.configure import read_yaml_prompt

SAW = {"name": "saw", "desc": "Cut a plank.", "kwargs": {}}


def text(**slots: Any) -> str:
    return Prompt(slots).to_text()


def structure(output: Any) -> str:
    """What stands between `Data Structure:` and `[OUTPUT]:`."""
    return text(output=output).split("Data Structure:\n")[1].removesuffix("\n\n[OUTPUT]:\nassistant:")


def test_empty_output_leaves_the_format_at_json() -> None:
    assert Prompt({"input": "q", "output": {}}).to_prompt_object().output_format == "json"


def test_prompt_model_has_empty_containers_by_default() -> None:
    made = PromptModel(input="q")
    assert (made.chat_history, made.attachment, made.options) == ([], [], {})


def test_generic_as_the_whole_output_is_not_a_structure() -> None:
    prompt = Prompt({"input": "q", "output": list[int]})
    assert prompt.to_prompt_object().output_format == "markdown"
    assert "Data Format: markdown text" in prompt.to_text()
    with pytest.raises(TypeError):
        prompt.to_output_model()


def test_history_message_without_a_role_is_the_users() -> None:
    prompt = Prompt({"input": "q", "chat_history": [{"content": "hello"}]})
    assert "[user]:hello\n" in prompt.to_text()
    assert prompt.to_messages()[0] == {"role": "user", "content": "hello"}


def test_tools_given_as_one_mapping_are_a_validation_error() -> None:
    with pytest.raises(ValidationError):
        text(input="q", tools=SAW)


def test_item_assignment_stores_the_value_as_it_is() -> None:
    prompt = Prompt()
    prompt["input"] = "  kept\n    as it is  "
    assert prompt["input"] == "  kept\n    as it is  "


def test_dotted_key_below_a_scalar_is_a_type_error_that_changes_nothing() -> None:
    prompt = Prompt({"system": "words"})
    with pytest.raises(TypeError):
        prompt.set("system.rule", "x")
    assert prompt.get() == {"system": "words"}


def test_list_of_the_child_takes_the_scalar_of_the_parent() -> None:
    assert Prompt({"instruct": ["a"]}, parent=Prompt({"instruct": "b"}))["instruct"] == ["a", "b"]


@pytest.mark.parametrize("odd", ["user", 5, ["user"], True])
def test_role_mapping_of_the_call_that_is_not_a_mapping_is_ignored(odd: Any) -> None:
    prompt = Prompt({"input": "q"})
    assert prompt.to_text(odd) == prompt.to_text()
    assert prompt.to_messages(odd) == prompt.to_messages()


def test_title_of_an_extra_is_its_key_whatever_the_mapping_says() -> None:
    prompt = Prompt({"memo": "m"}, settings={"prompt.prompt_title_mapping": {"memo": "NOT THIS"}})
    assert "[memo]:\nm\n" in prompt.to_text()


def test_keys_of_a_tool_have_a_fixed_order() -> None:
    tool = {"risk": 1, "returns": (bool, "done"), "kwargs": {}, "desc": "Cut.", "name": "saw"}
    assert "[\nname: saw\ndesc: Cut.\nkwargs: {}\nreturns: <bool>\nrisk: 1\n]" in text(
        input="q", tools=[tool]
    )


@pytest.mark.parametrize("item", [(str, ""), (str, None)])
def test_list_item_without_a_description_has_no_comment(item: Any) -> None:
    assert structure({"a": [item]}) == '{\n  "a": [\n    <str>,\n    ...\n  ]\n}'


def test_first_of_several_item_schemas_counts_for_the_model() -> None:
    made: Any = Prompt({"output": {"a": [(int,), (str,)]}}).to_output_model().model_validate({"a": ["3"]})
    assert made.a == [3]


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85"])
def test_odd_line_breaks_escape_only_their_own_scalar(odd: str) -> None:
    prompt = Prompt({"input": f"a{odd}b", "info": "木"})
    exported = prompt.to_yaml_prompt()
    assert "info: 木\n" in exported
    assert read_yaml_prompt(exported).request == {"input": f"a{odd}b", "info": "木"}
