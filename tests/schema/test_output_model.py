"""Output models check and cast answers as the recorded cases say (rule P180)."""

import dataclasses
import enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ValidationError

from dovetail.errors import ConfigError
from dovetail.prompt import Prompt
from golden.load_cases import decode, load

CASES = load("output_model_cases")
BAD_DEFAULTS = {"M027"}  # pydantic rightly warns of a default that does not fit its field


def build_model(case: dict[str, Any]) -> type[BaseModel]:
    prompt = Prompt({"input": "x", "output": decode(case["output"])})
    if "output_format" in case:
        prompt.set("output_format", case["output_format"])
    return prompt.to_output_model()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_model_is_as_recorded(case: dict[str, Any]) -> None:
    expected = case["expected"]
    if "error" in expected["model"]:
        with pytest.raises(TypeError) as caught:
            build_model(case)
        assert isinstance(caught.value, ConfigError)
        return
    model = build_model(case)
    assert model.__name__ == expected["model"]["name"]
    assert {name: describe_field(field) for name, field in model.model_fields.items()} == {
        name: decode(field) for name, field in expected["model"]["fields"].items()
    }
    assert reduce_schema(model.model_json_schema()) == expected["json_schema"]
    for data, result in zip(case["inputs"], expected["results"], strict=True):
        assert validate(model, decode(data), warn=case["id"] not in BAD_DEFAULTS) == decode(result)


def describe_field(field: Any) -> dict[str, Any]:
    return {
        "description": field.description,
        "default": field.default,
        "required": field.is_required(),
    }


def reduce_schema(schema: dict[str, Any]) -> dict[str, Any]:
    def reduce(properties: dict[str, Any]) -> dict[str, Any]:
        kept = ("description", "default")
        return {name: {key: value[key] for key in kept if key in value} for name, value in properties.items()}

    return {
        "title": schema["title"],
        "additionalProperties": schema["additionalProperties"],
        "properties": reduce(schema["properties"]),
        "defs": {
            name: {"title": inner["title"], "properties": reduce(inner.get("properties", {}))}
            for name, inner in schema.get("$defs", {}).items()
        },
    }


def validate(model: type[BaseModel], data: Any, warn: bool) -> dict[str, Any]:
    try:
        return {"dump": model.model_validate(data).model_dump(warnings=warn)}
    except ValidationError as error:
        locations = [[str(step) for step in problem["loc"]] for problem in error.errors()]
        return {"validation_error": True, "locs": locations}


def output_model(output: Any, settings: Any = None) -> type[BaseModel]:
    return Prompt({"output": output}, settings=settings).to_output_model()


def test_each_list_field_is_cast_to_its_own_item_type() -> None:
    model = output_model({"words": [(str, "w")], "counts": [(int, "c")], "flags": [(bool,)]})
    answer = model.model_validate({"words": [1], "counts": ["2"], "flags": ["false", "0", "no", "yes", 1]})
    assert answer.model_dump() == {
        "words": ["1"],
        "counts": [2],
        "flags": [False, False, False, True, True],
    }


def test_cast_that_fails_names_the_item() -> None:
    model = output_model({"flags": [(bool,)], "counts": [(int,)]})
    with pytest.raises(ValidationError, match="item 1: 'perhaps' does not fit"):
        model.model_validate({"flags": [True, "perhaps"]})
    with pytest.raises(ValidationError, match="item 0: None does not fit"):
        model.model_validate({"counts": None})


class Line(BaseModel):
    what: str
    amount: float = 0.0


class Invoice(BaseModel):
    number: int
    lines: list[Line] = []


def test_pydantic_class_keeps_its_fields_and_defaults() -> None:
    model = output_model({"invoice": (Invoice, "the invoice"), "drafts": [Invoice]})
    answer = model.model_validate({"invoice": {"number": "3"}, "drafts": {"number": 4}})
    assert answer.model_dump()["invoice"] == {"number": 3, "lines": []}
    assert answer.model_dump()["drafts"] == [{"number": 4, "lines": []}]
    with pytest.raises(ValidationError) as caught:
        model.model_validate({"invoice": {}})
    assert caught.value.errors()[0]["loc"] == ("invoice", "number")


def test_class_as_the_whole_output_is_asked_for_as_value_and_reply() -> None:
    answer = output_model(Invoice).model_validate({"value": {"number": 1}, "reply": "done"})
    assert answer.model_dump() == {"value": {"number": 1, "lines": []}, "reply": "done"}


def test_names_that_pydantic_reserves_still_hold_their_values() -> None:
    model = output_model({"_id": (int, "key"), "model_dump": (str,), "json": (str,), "": (int,)})
    data = {"_id": 1, "model_dump": "m", "json": "j", "": 2}
    assert model.model_validate(data).model_dump() == data


def test_first_of_several_item_schemas_counts() -> None:
    model = output_model({"pair": [(int, "first"), (str, "second")]})
    assert model.model_validate({"pair": ["1", 2]}).model_dump() == {"pair": [1, 2]}


def test_list_root_of_mappings_is_a_list_of_models() -> None:
    answer = output_model([{"name": (str,), "age": (int,)}]).model_validate({"list": [{"age": "3"}]})
    assert answer.model_dump() == {"list": [{"name": None, "age": 3}]}


@pytest.mark.parametrize(
    ("name", "data", "result"),
    [
        ("int", "3", 3),
        ("list[int]", ["3"], [3]),
        ("dict[str, list[int]]", {"a": ["1"]}, {"a": [1]}),
        ("Literal[a, 2]", 2, 2),
        ("int | None", None, None),
        ("Optional[float]", "1.5", 1.5),
        ("tuple[int, ...]", ["1"], (1,)),
        ("Any", [1], [1]),
        ("a few words", [1], [1]),
        ("list[nonsense]", 5, 5),
    ],
)
def test_type_names_count_as_types_when_the_setting_says_so(name: str, data: Any, result: Any) -> None:
    settings = {"prompt": {"resolve_type_names": True}}
    model = output_model({"x": (name, "a value")}, settings)
    assert model.model_validate({"x": data}).model_dump() == {"x": result}


def test_type_names_stay_text_without_the_setting() -> None:
    model = output_model({"x": ("int", "a count")})
    assert model.model_validate({"x": "three"}).model_dump() == {"x": "three"}
    assert model.model_fields["x"].description == "type: int; desc: a count"


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Box:
    color: Color
    kind: Literal["big", "small"] = "big"


def test_enums_and_dataclasses_are_types_too() -> None:
    answer = output_model({"box": (Box, "b"), "color": (Color,)}).model_validate(
        {"box": {"color": "red"}, "color": "red"}
    )
    assert answer.model_dump()["box"]["color"] is Color.RED


def test_missing_output_says_what_to_set() -> None:
    with pytest.raises(TypeError, match=r"got None\nset the prompt's `output`"):
        Prompt({"input": "x"}).to_output_model()


def test_equal_schemas_share_one_model_and_others_do_not() -> None:
    assert output_model({"a": (int, "x", 1)}) is output_model({"a": (int, "x", 1)})
    assert output_model({"a": (int, "x", 1)}) is not output_model({"a": (int, "x", True)})
    assert output_model({"a": [(int,)]}) is not output_model({"a": ((int,),)})


def test_schema_with_something_unhashable_makes_a_model_too() -> None:
    answer = output_model({"a": (list, "x", [1])}).model_validate({})
    assert answer.model_dump() == {"a": [1]}
    assert output_model({"s": {"a"}}).model_validate({"s": 1}).model_dump() == {"s": 1}


def test_class_as_description_of_no_type_is_shown_as_it_is() -> None:
    model = Prompt({"output": {"x": ("a number", Color)}}).to_output_model()
    assert model.model_fields["x"].description == "type: a number; desc: <enum 'Color'>"


def test_set_of_a_class_is_described_as_recorded() -> None:
    assert output_model({"wood": {int}}).model_fields["wood"].description == "{<class 'int'>}"
