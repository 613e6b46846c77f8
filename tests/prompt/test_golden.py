"""The recorded prompts: same slots in, same text, messages, models and exports out."""

from collections.abc import Callable
from typing import Any

import pytest

from dovetail.prompt import Prompt
from dovetail.settings import Settings, default_settings
from golden.load_cases import decode, load

CASES = load("prompt_cases")


def build_prompt(case: dict[str, Any]) -> Prompt:
    settings = Settings() if case.get("settings_base") == "empty" else Settings(parent=default_settings())
    settings.update(case.get("settings", {}))
    parent = Prompt(decode(case.get("parent", {})), settings=settings)
    for operation in decode(case.get("parent_ops", [])):
        apply(parent, operation)
    prompt = Prompt(parent=parent)
    prompt.update(decode(case.get("prompt", {})), case.get("mappings"))
    for operation in decode(case.get("ops", [])):
        apply(prompt, operation)
    return prompt


def apply(prompt: Prompt, operation: dict[str, Any]) -> None:
    arguments = {name: value for name, value in operation.items() if name != "op"}
    if operation["op"] == "update":
        arguments["data"] = arguments.pop("value")
    getattr(prompt, operation["op"])(**arguments)


def check(recorded: dict[str, Any], call: Callable[[], Any]) -> None:
    if "error" not in recorded:
        assert call() == decode(recorded["result"])
        return
    with pytest.raises(Exception) as caught:  # noqa: PT011 (the class is compared by name below)
        call()
    assert recorded["error"]["type"] in [kind.__name__ for kind in type(caught.value).__mro__]
    if message := recorded["error"].get("message"):
        assert caught.value.args[0] == message


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_prompt_renders_as_recorded(case: dict[str, Any]) -> None:
    prompt, expected = build_prompt(case), case["expected"]
    before = repr(prompt.get())
    check(expected["to_text"], lambda: prompt.to_text(case.get("role_mapping")))
    for call in expected["to_messages"]:
        check(call, lambda call=call: prompt.to_messages(**call["args"]))
    assert repr(prompt.get()) == before


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_slots_settle_as_recorded(case: dict[str, Any]) -> None:
    prompt, expected = build_prompt(case), case["expected"]
    check(expected["output_format"], lambda: prompt.to_prompt_object().output_format)
    if "output_after" in expected and "model" not in repr(expected["output_after"]):
        assert prompt.to_prompt_object().output == decode(expected["output_after"])
    if "data" in expected:
        assert_same_order(prompt.get(), decode(expected["data"]))
    if "data_own" in expected:
        assert_same_order(prompt.get(inherit=False), decode(expected["data_own"]))


def assert_same_order(actual: dict[str, Any], expected: dict[str, Any]) -> None:
    assert actual == expected
    assert list(actual) == list(expected)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_exports_are_as_recorded(case: dict[str, Any]) -> None:
    prompt, expected = build_prompt(case), case["expected"]
    exports = {
        "serializable": prompt.to_serializable_prompt_data,
        "json_prompt": prompt.to_json_prompt,
        "yaml_prompt": prompt.to_yaml_prompt,
    }
    for name, export in exports.items():
        for key, inherit in ((name, False), (f"{name}_inherit", True)):
            if key in expected:
                check(expected[key], lambda export=export, inherit=inherit: export(inherit=inherit))
