"""What holds for every prompt."""

import copy
import itertools
from typing import Any

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dovetail.prompt import Prompt
from dovetail.prompt.configure import read_json_prompt, read_yaml_prompt
from dovetail.prompt.export import to_configuration, to_yaml
from dovetail.prompt.yaml_text import to_block_text
from prompt.strategies import anything, histories, names, plain, prompts, schemas

quick = settings(max_examples=25)


@given(prompts(input=anything, info=anything, my_notes=anything))
@quick
def test_any_valid_slots_render(data: dict[str, Any]) -> None:
    prompt = Prompt(data)
    assert prompt.to_text().startswith("user:\n")
    for rich in (False, True, None):
        for strict in (False, True):
            assert prompt.to_messages(rich_content=rich, strict_role_orders=strict)[-1]["role"] == "user"
    assert prompt.to_prompt_object().model_extra == (
        {"my_notes": prompt["my_notes"]} if "my_notes" in data else {}
    )
    assert prompt.to_yaml_prompt()
    assert prompt.to_json_prompt()


@given(prompts(info=anything, my_notes=anything))
@quick
def test_rendering_never_changes_the_prompt(data: dict[str, Any]) -> None:
    prompt = Prompt(data)
    before = copy.deepcopy(prompt.get())
    prompt.to_text()
    for message in prompt.to_messages(rich_content=True):
        message.clear()
    prompt.to_prompt_object()
    prompt.to_serializable_prompt_data().clear()
    assert repr(prompt.get()) == repr(before)


@given(prompts())
@example({"input": "next\x85line"})
@quick
def test_exported_prompt_loads_again_and_renders_the_same_text(data: dict[str, Any]) -> None:
    prompt = Prompt(data)
    text = prompt.to_text()
    assert Prompt(read_yaml_prompt(prompt.to_yaml_prompt()).request).to_text() == text
    assert Prompt(read_json_prompt(prompt.to_json_prompt()).request).to_text() == text


@given(prompts(), prompts())
@quick
def test_exported_configuration_of_two_prompts_renders_the_same_text(
    above: dict[str, Any], below: dict[str, Any]
) -> None:
    agent = Prompt(below)
    request = Prompt(above, parent=agent)
    loaded = read_yaml_prompt(to_yaml(to_configuration(agent, request)))
    assert Prompt(loaded.request, parent=Prompt(loaded.agent)).to_text() == request.to_text()


@given(histories)
@quick
def test_strict_history_alternates_from_user_to_assistant(history: list[Any]) -> None:
    messages = Prompt({"chat_history": history, "input": "now"}).to_messages()
    past = [message["role"] for message in messages[:-1]]
    assert past[0] == "user"
    assert past[-1] == "assistant"
    assert all(role != following for role, following in itertools.pairwise(past))


@given(histories)
@quick
def test_no_text_of_the_history_is_lost(history: list[Any]) -> None:
    for strict in (True, False):
        messages = Prompt({"chat_history": history, "input": "now"}).to_messages(strict_role_orders=strict)
        said = "\n\n".join(message["content"] for message in messages)
        for entry in history:
            parts = (
                [{"type": "text", "text": entry["content"]}]
                if isinstance(entry["content"], str)
                else entry["content"]
            )
            assert all(part["text"] in said for part in parts if part["type"] == "text")


@given(plain.filter(lambda value: isinstance(value, (dict, list))))
@example({"deep": [[{"a": [], "b": {}}, "x " * 60], "it's " * 40]})
@example({"key": "one paragraph\n\nand 'another' " + "word " * 40 + "end"})
@example(["7 planks", "10 a", "1 2", "3 s", "a:b", "http://x.y", ":x", "x:", "a #b", "a#b"])
@settings(max_examples=150)
def test_block_text_is_what_pyyaml_writes(value: Any) -> None:
    assert to_block_text(value) == yaml.safe_dump(value, allow_unicode=True, sort_keys=True)


@given(st.dictionaries(names, schemas, min_size=1, max_size=3))
@example({"_": str, "__": str, "field_": str})
@settings(max_examples=20)
def test_every_schema_makes_a_model_that_takes_an_empty_answer(output: dict[str, Any]) -> None:
    model = Prompt({"output": output}).to_output_model()
    assert set(model.model_validate({}).model_dump(warnings=False)) == {str(name) for name in output}
