"""`agent.returns(Type)` asks for the type's fields and returns an instance."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, TypedDict

import pytest
from pydantic import BaseModel, Field, RootModel

from dovetail import Agent
from dovetail.errors import ConfigError, ResponseError
from dovetail.testing import ScriptedRequester


class Line(BaseModel):
    item: str
    price: float


class Invoice(BaseModel):
    number: int = Field(description="as printed")
    lines: list[Line] = []


@dataclass
class Point:
    x: int
    y: int = 0


class Named(TypedDict):
    name: str


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


def make_agent(*replies: str) -> tuple[Agent, ScriptedRequester]:
    requester = ScriptedRequester(replies)
    return Agent(requester=requester), requester


def test_pydantic_model_is_asked_for_by_its_fields_and_returned_as_an_instance() -> None:
    agent, requester = make_agent('{"number": "7", "lines": [{"item": "oak", "price": 2}]}')
    invoice = agent.input("the text").returns(Invoice).start()
    assert invoice == Invoice(number=7, lines=[Line(item="oak", price=2.0)])
    text = str(requester.requests[0].messages[-1]["content"])
    assert '"number": <int>, // as printed' in text
    assert '"value"' not in text
    schema = requester.requests[0].schema
    assert schema is not None
    assert schema["properties"]["number"] == {"type": "integer", "description": "as printed"}
    assert "$defs" in schema


@pytest.mark.parametrize(
    ("kind", "reply", "expected"),
    [
        (Point, '{"x": 1, "y": 2}', Point(1, 2)),
        (Named, '{"name": "Ann"}', {"name": "Ann"}),
        (list[Named], '[{"name": "Ann"}]', [{"name": "Ann"}]),
        (list[Point], '[{"x": 1}]', [Point(1)]),
        (list[int], '["1", 2]', [1, 2]),
        (int, '{"value": 3}', 3),
        (int | None, '{"value": null}', None),
        (Colour, '{"value": "red"}', Colour.RED),
        (Literal["a", "b"], '{"value": "b"}', "b"),
        (dict[str, Point], '{"value": {"p": {"x": 1}}}', {"p": Point(1)}),
        (str, "just words", "just words"),
        (Annotated[int, "between 1 and 6"], '{"value": 4}', 4),
        (Annotated[int, Field(ge=1)], '{"value": 4}', 4),
    ],
)
async def test_any_annotation_can_be_the_answer(kind: Any, reply: str, expected: Any) -> None:
    agent, _ = make_agent(reply)
    assert await agent.input("x").returns(kind).async_start() == expected


def test_description_of_an_annotated_type_reaches_the_prompt() -> None:
    agent, requester = make_agent('{"value": 4}')
    agent.input("roll").returns(Annotated[int, "between 1 and 6"]).start()
    assert '"value": <int> // between 1 and 6' in str(requester.requests[0].messages[-1]["content"])


def test_answer_that_does_not_fit_is_asked_for_again_with_the_reason() -> None:
    agent, requester = make_agent('{"x": "far"}', '{"x": 5}')
    assert agent.input("x").returns(Point).start() == Point(5)
    correction = str(requester.requests[1].messages[-1]["content"])
    assert "valid integer" in correction
    assert requester.requests[1].messages[-2] == {"role": "assistant", "content": '{"x": "far"}'}


def test_answer_that_never_fits_raises() -> None:
    agent, _ = make_agent("no", "no")
    with pytest.raises(ResponseError, match="no JSON object"):
        agent.input("x").returns(Point).start(max_retries=1)


async def test_typed_request_can_be_filled_further_and_streamed() -> None:
    agent, requester = make_agent('{"x": 1, "y": 2}', '{"x": 1, "y": 2}')
    request = agent.returns(Point).input("where?").instruct("be exact")
    assert [event.path async for event in request.async_get_generator("instant")] == ["x", "y"]
    assert "be exact" in str(requester.requests[0].messages)
    point = await agent.returns(Point).input("again").async_get_data_object()
    assert point.y == 2
    assert "be exact" not in str(requester.requests[1].messages)


def test_type_that_no_answer_can_become_is_refused_at_once() -> None:
    class Socket:
        pass

    agent, _ = make_agent()
    with pytest.raises(ConfigError, match="Socket"):
        agent.returns(Socket)


@pytest.mark.parametrize("kind", ["Invoice", {"total": (float,)}, [(str,)], (int, "a number")])
def test_schema_in_the_place_of_a_type_is_refused(kind: Any) -> None:
    with pytest.raises(ConfigError, match=r"A typed answer needs a type[\s\S]*agent\.output"):
        Agent(requester=ScriptedRequester([])).returns(kind)


class Numbers(RootModel[list[int]]):
    """A list with a name."""


@pytest.mark.parametrize(
    ("kind", "reply", "expected"),
    [
        (Point | None, '{"x": 1}', Point(x=1)),
        (Point | None, '{"value": {"x": 1}}', Point(x=1)),
        (Point | None, '{"value": null}', None),
        (dict[str, Point], '{"a": {"x": 1}}', {"a": Point(x=1)}),
        (Numbers, "[1, 2]", Numbers([1, 2])),
    ],
)  # fmt: skip
def test_answer_without_the_field_value_is_read_too(kind: Any, reply: str, expected: Any) -> None:
    assert Agent(requester=ScriptedRequester([reply])).input("x").returns(kind).start() == expected


def test_description_of_a_pydantic_field_is_shown() -> None:
    requester = ScriptedRequester(['{"value": 3}'])
    kind: Any = Annotated[int, Field(gt=0, description="in metres")]
    assert Agent(requester=requester).input("x").returns(kind).start() == 3
    assert '"value": <int> // in metres' in str(requester.requests[0].messages[-1]["content"])
