"""Classes that a type only names are described by their fields all the same."""

from dataclasses import dataclass
from typing import Annotated, Any, Optional, TypedDict

import pytest
from pydantic import BaseModel, Field

from dovetail import Agent
from dovetail.schema.described import describe_field
from dovetail.testing import ScriptedRequester


class Cat(BaseModel):
    lives: int


@dataclass
class Dog:
    bark: str
    friends: "list[Dog]"


class Owner(BaseModel):
    pets: dict[str, Cat | Dog] = Field(description="by name")
    first: Cat | None = None
    boss: "Owner | None" = None


class House(TypedDict):
    owner: Owner


CAT = 'Cat: {"lives": <int>}'
DOG = 'Dog: {"bark": <str>, "friends": <list[Dog]>}'
OWNER = 'Owner: {"pets": <dict[str, Cat | Dog]> (by name), "first": <Cat | None>, "boss": <Owner | None>}'


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (Cat | Dog, ("Cat | Dog", f"{CAT}; {DOG}")),
        (Cat | int | None, ("Cat | int | None", CAT)),
        (dict[str, Cat], ("dict[str, Cat]", CAT)),
        (tuple[Cat, ...], ("tuple[Cat, ...]", CAT)),
        (list[Cat | Dog], ("list[Cat | Dog]", f"{CAT}; {DOG}")),
        (dict[str, list[Cat]], ("dict[str, list[Cat]]", CAT)),
        (dict[str, House], ("dict[str, House]", f'House: {{"owner": <Owner>}}; {OWNER}; {CAT}; {DOG}')),
        (Annotated[Cat | Dog, Field(description="a pet")], ("Cat | Dog", f"{CAT}; {DOG}")),
        (Optional[Cat], ({"lives": ("int",)},)),  # noqa: UP045 - as programs write it
        (list[Cat] | None, ([{"lives": ("int",)}],)),
        (list[list[Cat]], ([[{"lives": ("int",)}]],)),
        (dict[str, int], ("dict[str, int]",)),
        (str, ("str",)),
    ],
)
def test_type_is_shown_with_the_fields_of_every_class_in_it(kind: Any, shown: tuple[Any, ...]) -> None:
    assert describe_field(kind) == shown


def test_note_of_a_field_stays_before_the_fields_of_classes() -> None:
    ((fields),) = describe_field(Owner)
    assert fields["pets"] == ("dict[str, Cat | Dog]", f"by name; {CAT}; {DOG}")
    assert fields["boss"] == ("Owner | None",)  # its fields are around it
    assert fields["first"] == ({"lives": ("int",)},)


@pytest.mark.parametrize("kind", [Cat | Dog, list[Cat | Dog], dict[str, Cat | Dog], tuple[Cat, Dog]])
def test_prompt_of_a_typed_answer_has_the_fields(kind: Any) -> None:
    model = ScriptedRequester(["{}"])
    Agent(model=model).input("Which pet?").returns(kind).get_text()
    assert f"// {CAT}; {DOG}" in model.requests[0].messages[-1]["content"]
