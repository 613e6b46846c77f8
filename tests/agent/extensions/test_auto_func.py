"""Functions whose body is the model."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from dovetail import Agent
from dovetail.errors import SignatureError
from dovetail.testing import ScriptedRequester


@dataclass
class Score:
    points: int


def make_agent(*replies: str) -> tuple[Agent, ScriptedRequester]:
    requester = ScriptedRequester(replies)
    return Agent(requester=requester), requester


def prompt_of(requester: ScriptedRequester) -> str:
    return str(requester.requests[-1].messages[-1]["content"])


def test_function_is_answered_by_the_model() -> None:
    agent, requester = make_agent('{"value": 7}')

    @agent.auto_func
    def add(first: int, second: int = 3) -> int:
        """Add the two numbers."""
        raise AssertionError("never runs")

    assert add(4) == 7
    text = prompt_of(requester)
    assert "first: 4\nsecond: 3" in text
    assert "Add the two numbers." in text
    assert '"value": <int>' in text


async def test_coroutine_function_stays_one() -> None:
    agent, _ = make_agent('{"points": 9}')

    @agent.auto_func
    async def rate(text: str) -> Score:
        """Rate it."""
        raise AssertionError("never runs")

    assert inspect.iscoroutinefunction(rate)
    assert await rate("good") == Score(9)


def test_output_schema_as_annotation() -> None:
    agent, _ = make_agent('{"words": ["a"], "mood": "calm"}')

    def look(text: str) -> Any:
        """Look closely."""

    look.__annotations__["return"] = {"words": [(str, "found")], "mood": (str,)}
    assert agent.auto_func(look)("x") == {"words": ["a"], "mood": "calm"}


def test_method_leaves_self_out() -> None:
    agent, requester = make_agent("Bonjour", "Bonjour")

    class Translator:
        @agent.auto_func
        def translate(self, text: str) -> str:
            """Into French."""
            raise AssertionError("never runs")

        @classmethod
        @agent.auto_func
        def translate_all(cls, text: str) -> str:
            """Into French."""
            raise AssertionError("never runs")

    assert Translator().translate("Hello") == "Bonjour"
    assert "self" not in prompt_of(requester)
    assert Translator.translate_all("Hello") == "Bonjour"
    assert "cls" not in prompt_of(requester)


def test_static_and_class_methods_may_be_decorated_from_outside() -> None:
    agent, _ = make_agent("Bonjour", "Salut")

    class Translator:
        @agent.auto_func
        @staticmethod
        def translate(text: str) -> str:
            """Into French."""
            raise AssertionError("never runs")

        @agent.auto_func
        @classmethod
        def greet(cls, text: str) -> str:
            """Into French."""
            raise AssertionError("never runs")

    assert Translator().translate("Hello") == "Bonjour"
    assert Translator.greet("Hello") == "Salut"


def test_annotation_in_quotes_may_name_a_local_class() -> None:
    @dataclass
    class Local:
        points: int

    agent, _ = make_agent('{"points": 9}', '[{"points": 1}]')

    @agent.auto_func
    def rate(text: "str") -> "Local":
        """Rate it."""
        raise AssertionError("never runs")

    @agent.auto_func
    def rate_all(text: "str") -> "list[Local]":
        """Rate them."""
        raise AssertionError("never runs")

    assert rate("x") == Local(9)
    assert rate_all("x") == [Local(1)]


def test_annotation_in_quotes_may_name_a_class_below() -> None:
    agent, _ = make_agent('{"points": 9}')
    rate = agent.auto_func(_rate_later)
    assert rate("x") == Below(9)


def _rate_later(text: str) -> "Below":
    """Rate it."""
    raise AssertionError("never runs")


@dataclass
class Below:
    points: int


def test_schema_in_quotes_is_read() -> None:
    agent, requester = make_agent('{"words": ["a"]}')

    def look(text: str) -> Any:
        """Look closely."""

    look.__annotations__["return"] = "{'words': [(str, 'found')]}"
    assert agent.auto_func(look)("x") == {"words": ["a"]}
    assert "<str>, // found" in prompt_of(requester)


def test_parameters_may_have_annotations_that_are_not_there_at_run_time() -> None:
    agent, requester = make_agent('{"value": 1}')

    @agent.auto_func
    def count(text: "OnlyForTypeCheckers") -> int:  # type: ignore[name-defined]  # noqa: F821
        """Count."""
        raise AssertionError("never runs")

    assert count("x") == 1
    assert "text: x" in prompt_of(requester)


def test_return_annotation_that_is_nowhere_is_a_clear_error() -> None:
    agent, requester = make_agent()

    @agent.auto_func
    def count(text: str) -> "Nowhere":  # type: ignore[name-defined]  # noqa: F821
        """Count."""
        raise AssertionError("never runs")

    with pytest.raises(SignatureError, match=r"count' returns 'Nowhere', which is not defined\."):
        count("x")
    assert requester.requests == []


def test_annotation_none_says_nothing() -> None:
    agent, _ = make_agent()

    def add(first: int) -> None:
        """Add."""

    with pytest.raises(SignatureError, match="does not declare what it returns"):
        agent.auto_func(add)


def test_arguments_of_every_kind_are_shown() -> None:
    agent, requester = make_agent('{"value": 1}')

    @agent.auto_func
    def total(first: int, /, *more: int, unit: str = "kg", **options: bool) -> int:
        """Add."""
        raise AssertionError("never runs")

    assert total(1, 2, 3, rounded=True) == 1
    assert "first: 1\nmore:\n- 2\n- 3\noptions:\n  rounded: true\nunit: kg\n" in prompt_of(requester)


async def test_result_of_one_function_is_given_to_another_of_another_agent() -> None:
    writer, _ = make_agent("A poem.")
    critic, requester = make_agent('{"points": 3}', '{"points": 4}')

    @writer.auto_func
    async def write(topic: str) -> str:
        """Write a poem."""
        raise AssertionError("never runs")

    @critic.auto_func
    async def rate(text: str) -> Score:
        """Rate it."""
        raise AssertionError("never runs")

    poem = await write("oak")
    assert await asyncio.gather(rate(poem), rate(poem)) == [Score(3), Score(4)]
    assert "text: A poem." in prompt_of(requester)


def test_notes_of_annotated_parameters_are_shown() -> None:
    agent, requester = make_agent('{"value": 1}')

    @agent.auto_func
    def measure(length: Annotated[float, "in metres"]) -> Annotated[int, "whole feet"]:
        """Convert."""
        raise AssertionError("never runs")

    assert measure(2.0) == 1
    assert "- length : in metres" in prompt_of(requester)
    assert "// whole feet" in prompt_of(requester)


def test_wrapper_keeps_name_docstring_and_signature() -> None:
    agent, _ = make_agent()

    def add(first: int, *more: int) -> int:
        """Add."""
        return first

    wrapped = agent.auto_func(add)
    assert (wrapped.__name__, wrapped.__doc__) == ("add", "Add.")
    assert inspect.signature(wrapped) == inspect.signature(add)


def test_wrong_arguments_are_refused_before_anything_is_sent() -> None:
    agent, requester = make_agent()

    @agent.auto_func
    def add(first: int) -> int:
        """Add."""
        raise AssertionError("never runs")

    with pytest.raises(TypeError, match="first"):
        add()  # type: ignore[call-arg]
    assert requester.requests == []


def test_missing_return_annotation_is_an_error_at_decoration() -> None:
    agent, _ = make_agent()

    def add(first: int):  # noqa: ANN202
        """Add."""

    with pytest.raises(SignatureError, match=r"'.*add' does not declare what it returns"):
        agent.auto_func(add)
    with pytest.raises(TypeError):
        agent.auto_func(add)


def test_an_object_that_is_not_a_function_is_rejected() -> None:
    nothing: Any = 3
    with pytest.raises(SignatureError, match="3 is not a function"):
        Agent().auto_func(nothing)


def test_generators_are_refused() -> None:
    agent, _ = make_agent()

    def count() -> Iterator[int]:
        yield 1

    async def count_later() -> AsyncIterator[int]:
        yield 1

    functions: list[Any] = [count, count_later]
    for function in functions:
        with pytest.raises(TypeError, match="is a generator"):
            agent.auto_func(function)
