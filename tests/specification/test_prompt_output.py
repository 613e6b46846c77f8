"""Output models and exports of a prompt, rule by rule (docs/specification.md, chapter "Prompt")."""

import json
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, ValidationError

from dovetail.prompt import Prompt


def model(output: Any) -> type[BaseModel]:
    return Prompt({"output": output}).to_output_model()


def field(output: Any, name: str = "a") -> Any:
    return model(output).model_fields[name]


@pytest.mark.parametrize("output", ["text", 5, None])
def test_schema_that_is_neither_mapping_nor_list_is_a_type_error(output: Any) -> None:
    with pytest.raises(TypeError):
        Prompt({"input": "q", "output": output}).to_output_model()


def test_mapping_becomes_a_model_with_its_fields() -> None:
    made = model({"a": (str, "x"), "b": {"c": (int,)}})
    assert made.__name__ == "AgentlyOutput"
    assert list(made.model_fields) == ["a", "b"]
    inner: Any = made.model_fields["b"].annotation
    assert inner.__name__ == "AgentlyOutput_B"


def test_list_becomes_a_model_with_one_field_called_list() -> None:
    made = model([{"c": (int,)}])
    assert made.__name__ == "AgentlyOutput"
    assert list(made.model_fields) == ["list"]
    value: Any = made.model_validate({"list": [{"c": "3"}]})
    assert type(value.list[0]).__name__.endswith("_List")
    assert value.list[0].c == 3


def test_text_is_a_field_of_any_type_with_that_description() -> None:
    described = field({"a": "what to say"})
    assert described.annotation is Any
    assert described.description == "what to say"
    assert not described.is_required()


def test_tuple_has_type_description_and_default() -> None:
    full = field({"a": (int, "how many", 3)})
    assert (full.annotation, full.description, full.default) == (int, "how many", 3)
    short = field({"a": (int,)})
    assert (short.annotation, short.description, short.default) == (int, "", None)


def test_tuple_without_a_type_is_shown_in_the_description() -> None:
    told = field({"a": ("int", "how many")})
    assert told.annotation is Any
    assert told.description == "type: int; desc: how many"


def test_class_alone_may_be_null() -> None:
    assert field({"a": int}).annotation == (int | None)
    assert field({"a": list[int]}).annotation == (list[int] | None)


def test_any_other_leaf_is_described_by_its_text() -> None:
    assert (field({"a": 5}).annotation, field({"a": 5}).description) == (Any, "5")
    assert field({"a": None}).description == "None"


def test_further_fields_of_an_answer_are_kept_at_every_level() -> None:
    made = model({"a": {"b": (str,)}})
    assert made.model_validate({"a": {"b": "x", "more": 1}, "other": 2}).model_dump() == {
        "a": {"b": "x", "more": 1},
        "other": 2,
    }


def test_single_value_becomes_a_list_and_items_are_cast() -> None:
    thinking: Any = model({"thinking": [(str, "a thought")]}).model_validate({"thinking": 1})
    assert thinking.thinking == ["1"]
    numbers: Any = model([(int,)]).model_validate({"list": ["456"]})
    assert numbers.list == [456]


def test_items_that_fit_or_have_no_class_stay_as_they_are() -> None:
    kept: Any = model({"a": (list[Any], ""), "b": (list[list[int]], ""), "c": [(int,)]}).model_validate(
        {"a": [1, "x"], "b": [["1"]], "c": [1]}
    )
    assert (kept.a, kept.b, kept.c) == ([1, "x"], [["1"]], [1])


class Plank(BaseModel):
    mm: int


def test_mapping_items_are_made_by_their_model() -> None:
    made: Any = model({"a": [Plank], "b": (list[Plank], "")}).model_validate(
        {"a": [{"mm": "3"}], "b": {"mm": 4}}
    )
    assert (made.a, made.b) == ([Plank(mm=3)], [Plank(mm=4)])


class Board:
    """A class of an older kind, which reads a mapping by `parse_obj`."""

    def __init__(self, mm: int) -> None:
        self.mm = mm

    @classmethod
    def parse_obj(cls, data: dict[str, Any]) -> "Board":
        return cls(int(data["mm"]))


def test_mapping_items_are_made_by_parse_obj_without_model_validate() -> None:
    made: Any = model({"a": [(Board, "boards")]}).model_validate({"a": [{"mm": "3"}, 4]})
    assert [board.mm for board in made.a] == [3, 4]


def test_cast_that_fails_is_a_validation_error() -> None:
    with pytest.raises(ValidationError):
        model({"a": [(int,)]}).model_validate({"a": ["many"]})


def test_words_for_false_are_false() -> None:
    made: Any = model({"a": [(bool,)]}).model_validate({"a": ["false", "0", "no", "true", "1", "yes"]})
    assert made.a == [False, False, False, True, True, True]


def test_tuples_of_the_output_are_exported_as_mappings_at_every_depth() -> None:
    prompt = Prompt({"output": {"a": (str, "x"), "b": {"c": [(int, "n", 3)]}, "d": (bool,)}})
    assert prompt.to_serializable_prompt_data() == {
        "output": {
            "a": {"$type": "str", "$desc": "x"},
            "b": {"c": [{"$type": "int", "$desc": "n", "$default": 3}]},
            "d": {"$type": "bool"},
        }
    }


def test_export_leaves_the_parent_out_unless_asked() -> None:
    prompt = Prompt({"input": "q"}, parent=Prompt({"system": "s"}))
    assert prompt.to_serializable_prompt_data() == {"input": "q"}
    assert prompt.to_serializable_prompt_data(inherit=True) == {"system": "s", "input": "q"}
    assert "system" not in prompt.to_json_prompt()
    assert "system" in prompt.to_json_prompt(inherit=True)
    assert "system" not in prompt.to_yaml_prompt()
    assert "system" in prompt.to_yaml_prompt(inherit=True)


def test_values_that_json_cannot_hold_are_exported_as_text() -> None:
    class Odd:
        def __str__(self) -> str:
            return "odd one"

    prompt = Prompt({"info": {"a": Odd(), "b": int}})
    assert prompt.to_serializable_prompt_data() == {"info": {"a": "odd one", "b": "int"}}


def test_json_export_is_indented_by_two_and_keeps_unicode() -> None:
    prompt = Prompt({"input": {"b": "木", "a": 1}})
    assert prompt.to_json_prompt() == json.dumps({"input": {"b": "木", "a": 1}}, indent=2, ensure_ascii=False)


def test_yaml_export_keeps_unicode_and_the_order_of_keys() -> None:
    prompt = Prompt({"input": {"b": "木", "a": 1}})
    assert prompt.to_yaml_prompt() == "input:\n  b: 木\n  a: 1\n"
    assert yaml.safe_load(prompt.to_yaml_prompt()) == {"input": {"b": "木", "a": 1}}


def test_empty_prompt_may_be_exported() -> None:
    prompt = Prompt({"system": "s"})
    assert prompt.to_serializable_prompt_data() == {"system": "s"}
    assert prompt.to_yaml_prompt() == "system: s\n"
    assert prompt.to_prompt_object().system == "s"
