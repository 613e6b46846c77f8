"""`agent.returns(Type)` asks for the type's fields and returns an instance."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, TypedDict

import pytest
from pydantic import BaseModel, Field, RootModel

from dovetail import Agent
from dovetail.errors import ConfigError, ResponseError
from dovetail.requesters.warn import warn_once
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


def test_model_class_as_the_output_is_advised_once_to_be_returned(caplog: pytest.LogCaptureFixture) -> None:
    warn_once.cache_clear()
    agent = Agent(requester=ScriptedRequester([]))
    for _ in range(2):
        agent.input("Hi").output(Invoice)
    agent.output({"invoice": (Invoice,)}).output(int)
    assert caplog.messages == [
        "output(Invoice) asks the model for {'value': …, 'reply': …}. "
        "To get an instance of Invoice, write `.returns(Invoice)`."
    ]


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


async def test_data_of_a_typed_request_is_the_instance() -> None:
    agent, requester = make_agent('{"x": "far", "y": 2}', '{"x": 1, "y": 2}', '{"x": "3", "y": 4}')
    assert await agent.input("q").returns(Point).async_get_data() == Point(1, 2)
    assert len(requester.requests) == 2  # the first answer was not valid
    assert await agent.input("q").returns(Point).async_get_data("text") == '{"x": "3", "y": 4}'


def test_option_with_a_misspelt_name_is_sent_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    agent, requester = make_agent("x", "x")
    agent.options({"temprature": 0, "min_p": 0.1, "my_flag": True}).input("q").start()
    assert requester.requests[0].options["temprature"] == 0
    assert [record.getMessage() for record in caplog.records] == [
        "The option 'temprature' is sent to the provider as it is. Did you mean 'temperature'?"
    ]
    caplog.clear()
    Agent(options={"top_p": 1, "stop": ["x"], "max_tokens": 5, "user": "ann", "seed": 1})
    assert not caplog.records


def test_fields_of_a_typed_answer_are_waited_for() -> None:
    agent, model = make_agent('{"number": 7, "lines": []}', "unused", '{"number": 8}')
    assert agent.input("Read it.").returns(Invoice).get_key_result("number") == 7
    assert '"number": <int>, // as printed' in model.requests[0].messages[-1]["content"]
    assert agent.input("And?").start() == "unused"
    assert list(agent.input("Read.").returns(Invoice).wait_keys(["number", "lines"])) == [("number", 8)]


async def test_typed_requests_written_at_the_same_time_wait_for_their_own_fields() -> None:
    agent, model = make_agent('{"number": 7}', '{"x": 3}')
    invoice, point = agent.input("Read it.").returns(Invoice), agent.input("Where?").returns(Point)
    assert await invoice.async_get_key_result("number") == 7
    assert [pair async for pair in point.async_wait_keys("x")] == [("x", 3)]
    assert ["Read it." in str(request.messages) for request in model.requests] == [True, False]


@pytest.mark.parametrize("way", ["start", "run", "returns and run"])
def test_output_that_a_type_replaces_is_warned_about(way: str, caplog: pytest.LogCaptureFixture) -> None:
    agent, _ = make_agent('{"x": 3}', '{"x": 3}')
    agent.output({"other": (str,)}, always=True).input("Where?").returns(Point).start()
    assert not caplog.text  # the agent's own is a default, which a request may replace
    agent.input("Where?").output({"wood": (str,)})
    if way == "start":
        agent.returns(Point).start()
    elif way == "run":
        agent.run(returns=Point)
    else:
        agent.returns(Point).run()
    assert caplog.text.count("which is not asked for: returns(Point) replaces it") == 1


def test_typed_request_lists_no_names_that_keep_it_running() -> None:
    listed = set(dir(Agent().returns(Point)))
    assert listed >= {"start", "run", "wait_keys", "input"}
    assert not listed & {"claim_request", "get_prompt", "pending"}
