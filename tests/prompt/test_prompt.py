"""Prompts take slots, keep them in layers and say clearly what is wrong with them."""

import json
import subprocess
import sys
from typing import Any

import pydantic
import pytest

from dovetail.errors import ConfigError, EmptyPromptError, PromptError
from dovetail.prompt import Prompt, PromptModel
from dovetail.settings import Settings


def test_text_is_dedented_then_stripped() -> None:
    prompt = Prompt()
    prompt.set(
        "instruct",
        """
            first
              second
        """,
    )
    assert prompt["instruct"] == "first\n  second"


def test_history_keeps_repeated_messages_and_can_be_cleared() -> None:
    said = {"role": "user", "content": "again"}
    prompt = Prompt({"chat_history": [said]})
    prompt.set("chat_history", [said, said])
    prompt.append("chat_history", said)
    assert len(prompt["chat_history"]) == 4
    prompt.replace("chat_history", [])
    prompt.set("input", "q")
    assert prompt.to_messages() == [{"role": "user", "content": "q"}]


def test_history_of_the_parent_comes_first_and_whole() -> None:
    said = {"role": "user", "content": "hello"}
    answered = {"role": "assistant", "content": "hi"}
    parent = Prompt({"chat_history": [said, answered]})
    prompt = Prompt({"chat_history": [said, answered], "input": "q"}, parent=parent)
    assert prompt["chat_history"] == [said, answered, said, answered]
    assert [message["content"] for message in prompt.to_messages()] == ["hello", "hi", "hello", "hi", "q"]


def test_settings_of_the_parent_hold_for_the_child() -> None:
    settings = Settings({"prompt.role_mapping": {"user": "human"}})
    prompt = Prompt({"input": "q"}, parent=Prompt(settings=settings))
    assert prompt.to_text().startswith("human:")
    settings.set("prompt.role_mapping.user", "person")
    assert prompt.to_text().startswith("person:")


def test_settings_may_be_a_mapping_over_the_defaults() -> None:
    prompt = Prompt({"input": "q"}, settings={"prompt.prompt_title_mapping": {"input": "QUESTION"}})
    assert prompt.to_text() == "user:\n[QUESTION]:\nq\n\n[OUTPUT]:\nassistant:"


@pytest.mark.parametrize(
    ("slots", "complaint"),
    [
        (
            {"tools": [{"name": "saw", "desc": "cut"}]},
            "prompt slot tools[0]: a tool needs kwargs, got {'name'",
        ),
        (
            {"tools": ["saw"]},
            "prompt slot tools[0]: a tool must be a mapping with name, desc and kwargs, got 'saw'",
        ),
        ({"chat_history": [{"role": 1, "content": "x"}]}, "chat_history[0].role: a role must be text, got 1"),
        (
            {"chat_history": [{"role": None, "content": "x"}]},
            "chat_history[0].role: a role must be text, got None",
        ),
        (
            {"chat_history": ["a", {"role": "user"}]},
            "chat_history[1].content: content must be text or a list",
        ),
        (
            {"chat_history": [{"role": "user", "content": ["x"]}]},
            "chat_history[0].content[0]: a part must be a mapping",
        ),
        (
            {"attachment": [{"url": "x"}]},
            "attachment[0]: a part needs a `type` that is text, got {'url': 'x'}",
        ),
    ],
)
def test_wrong_slot_is_named_with_its_value_and_rule(slots: dict[str, Any], complaint: str) -> None:
    prompt = Prompt({"input": "q", **slots})
    for render in (prompt.to_text, prompt.to_messages, prompt.to_prompt_object):
        with pytest.raises(PromptError) as caught:
            render()
        assert complaint in str(caught.value)
        assert isinstance(caught.value, pydantic.ValidationError)
        assert caught.value.errors()[0]["type"] == "prompt_slot"


def test_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(PromptError) as caught:
        Prompt({"input": "q", "tools": ["x" * 5000]}).to_text()
    assert len(str(caught.value)) < 400


def test_empty_prompt_is_a_key_error_with_the_documented_text() -> None:
    with pytest.raises(KeyError) as caught:
        Prompt({"system": "s"}).to_messages()
    assert isinstance(caught.value, EmptyPromptError)
    assert isinstance(caught.value, ConfigError)
    assert caught.value.args[0].startswith("Prompt requires at least one of 'input', 'info',")
    assert str(caught.value) == caught.value.args[0]


def test_prompt_object_has_the_slots_in_one_form() -> None:
    prompt = Prompt(
        {
            "input": "q",
            "chat_history": "hello",
            "attachment": [
                {"type": "text", "text": "t", "cache": True},
                {"type": "image_url", "image_url": "u"},
            ],
            "output": {"a": (str,)},
            "memo": 1,
        }
    )
    made = prompt.to_prompt_object()
    assert isinstance(made, PromptModel)
    assert made.output_format == "json"
    assert made.model_extra == {"memo": 1}
    assert [(entry.role, entry.content) for entry in made.chat_history or []] == [("user", "hello")]
    assert [part.model_dump() for part in made.attachment or []] == [
        {"type": "text", "text": "t"},
        {"type": "image_url", "image_url": "u"},
    ]


def test_prompt_model_can_be_made_from_a_prompt_or_by_hand() -> None:
    assert PromptModel(**Prompt({"input": "q", "output": int})).output_format == "json"
    with pytest.raises(pydantic.ValidationError, match="a tool needs name"):
        PromptModel(tools=[{"desc": "d", "kwargs": {}}])


def test_export_keeps_descriptions_and_defaults() -> None:
    output = {"a": (str, ""), "b": (str, None), "c": [(int, "n", 3)], "d": (), "e": ((str, "x"),)}
    assert Prompt({"output": output}).to_serializable_prompt_data()["output"] == {
        "a": {"$type": "str"},
        "b": {"$type": "str"},
        "c": [{"$type": "int", "$desc": "n", "$default": 3}],
        "d": "()",
        "e": {"$type": {"$type": "str", "$desc": "x"}},
    }


def test_messages_share_nothing_with_the_prompt() -> None:
    prompt = Prompt({"input": {"deep": [1]}, "attachment": [{"type": "image_url", "image_url": "u"}]})
    for message in prompt.to_messages(rich_content=True):
        message["content"].clear()
    assert prompt["attachment"] == [{"type": "image_url", "image_url": "u"}]
    only_input = Prompt({"input": {"deep": [1]}})
    only_input.to_messages()[0]["content"]["deep"].append(2)
    assert only_input["input"] == {"deep": [1]}


def test_rendering_text_loads_neither_pydantic_nor_yaml() -> None:
    script = """
import json, sys
from dovetail import Prompt
prompt = Prompt({"info": {"a": [1]}, "instruct": ["one", "two"], "input": "q", "output": {"a": (str, "b")}})
prompt.to_text(), prompt.to_messages()
print(json.dumps(sorted(sys.modules)))
"""
    loaded = set(json.loads(subprocess.check_output([sys.executable, "-c", script])))
    assert not {"pydantic", "yaml", "json5", "asyncio"} & loaded
