"""A bare value counts where an object with it was asked for."""

from collections.abc import Callable
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import TypeAdapter, ValidationError

from dovetail import Agent
from dovetail.errors import ResponseError
from dovetail.response.bare import read_bare
from dovetail.testing import ScriptedRequester


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


def accepting(kind: Any) -> Callable[[Any], bool]:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def accepts(value: Any) -> bool:
        try:
            adapter.validate_python(value)
        except ValidationError:
            return False
        return True

    return accepts


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (int, "42", 42),
        (int, "  -7\n", -7),
        (int, "```json\n42\n```", 42),
        (int, "**42**", 42),
        (int, "42.", 42),
        (int, "1,234,567", 1_234_567),
        (float, "3.5", 3.5),
        (float, "2", 2),
        (bool, "true", True),
        (bool, "False", False),
        (bool, "No.", "No"),
        (Colour, "red", "red"),
        (Colour, '"blue"', "blue"),
        (Colour, "Red", "red"),
        (Literal["yes", "no"], "Yes.", "yes"),
        (Literal[1, 2], "2", 2),
        (int | None, "null", None),
        (tuple[int, int], "[1, 2]", [1, 2]),
        (list[str] | None, '["a", "b"]', ["a", "b"]),
        (str | None, '"quoted"', "quoted"),
    ],
)
def test_nothing_but_the_value_is_the_value(kind: Any, text: str, value: Any) -> None:
    assert read_bare(text, accepting(kind)) == {"value": value}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (int, "The answer is 42."),
        (int, "forty-two"),
        (int, "4 2"),
        (int, "1,23"),
        (int, "3.5"),
        (int, ""),
        (int, "9" * 2_000),
        (Colour, "green"),
        (Colour, "It is red."),
        (str | None, "Sure! Here it is."),
        (Any, "Sure! Here it is."),
    ],
)
def test_a_value_inside_of_words_or_of_another_type_is_none(kind: Any, text: str) -> None:
    assert read_bare(text, accepting(kind)) is None


@pytest.mark.parametrize(
    ("kind", "text", "value"), [(int, "42", 42), (Colour, "red", Colour.RED), (bool, "yes", True)]
)
def test_an_agent_takes_a_bare_answer_at_once(kind: Any, text: str, value: Any) -> None:
    requester = ScriptedRequester([text])
    assert Agent(requester=requester).input("?").returns(kind).start() == value


def test_an_answer_in_words_is_asked_for_again() -> None:
    requester = ScriptedRequester(["The answer is 42.", "42"])
    assert Agent(requester=requester).input("?").returns(int).start() == 42
    assert len(requester.requests) == 2
    requester = ScriptedRequester(["no idea"] * 9)
    with pytest.raises(ResponseError, match="contains no JSON object"):
        Agent(requester=requester).input("?").returns(int).start()


def test_a_function_of_the_model_may_return_a_bare_value() -> None:
    agent = Agent(requester=ScriptedRequester(["12"]))

    @agent.auto_func
    def count(text: str) -> int:
        """Count the letters."""

    assert count("twelve words") == 12


def test_an_output_with_fields_is_not_read_from_bare_values() -> None:
    requester = ScriptedRequester(["42", '{"age": 42}'])
    agent = Agent(requester=requester).input("?").output({"age": (int,)})
    assert agent.start(ensure_keys=["age"]) == {"age": 42}
    assert len(requester.requests) == 2
