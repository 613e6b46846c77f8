"""Typed runs: calls turn after turn, then an instance, whichever way the model hands it in."""

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from dovetail import Agent
from dovetail.errors import AnswerLengthError, CancelledRunError, ModelError, ResponseError
from dovetail.events.cancel import CancelSignal
from dovetail.events.run_events import Event, RunEnd
from dovetail.testing import ScriptedRequester


class Quote(BaseModel):
    item: str
    price: float


@dataclass
class Part:
    name: str


OAK = Quote(item="oak", price=3.5)
LOOK_UP = {"tool_calls": [{"name": "find_price", "arguments": {"item": "oak"}}]}
CUT_OFF = {"text": '{"item": "oak", "pri', "finish_reason": "length"}


def find_price(item: str) -> float:
    """Find the price of an item."""
    return 3.5


def hand_in(result: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": "complete_task", "arguments": {"result": result}}]}


def make_agent(*replies: Any, tools: Any = (find_price,), **options: Any) -> tuple[Agent, ScriptedRequester]:
    model = ScriptedRequester(replies, **options)
    return Agent("clerk", model=model, tools=tools), model


@pytest.mark.parametrize("last", [hand_in({"item": "oak", "price": 3.5}), '{"item": "oak", "price": 3.5}'])
def test_calls_of_several_turns_end_with_an_instance(last: Any) -> None:
    agent, model = make_agent(LOOK_UP, LOOK_UP, last)
    result = agent.returns(Quote).run("What is oak?")
    assert (result.data, result.reason, result.turns) == (OAK, "goal", 3)
    assert Quote.model_validate_json(result.text) == OAK
    assert [tool.name for tool in model.requests[0].tools] == ["find_price", "complete_task"]


async def test_type_can_be_an_option_of_every_way_to_run() -> None:
    handed_in = hand_in({"item": "oak", "price": 3.5})
    agent, _ = make_agent(handed_in, handed_in, handed_in)
    assert (await agent.async_run("Oak?", returns=Quote)).data == OAK
    assert (await agent.returns(Quote).async_run("Oak?")).data == OAK
    stream = agent.run_stream("Oak?", returns=Quote)
    events = [event async for event in stream]
    assert stream.result.data == OAK
    assert isinstance(events[-1], RunEnd)
    assert events[-1].result == {"item": "oak", "price": 3.5}


@pytest.mark.parametrize(
    ("kind", "handed_in", "expected"),
    [
        (list[Part], [{"name": "leg"}], [Part("leg")]),
        (Part | Quote, {"item": "oak", "price": 3.5}, OAK),
        (int, 3, 3),
        (Literal["yes", "no"], "no", "no"),
        (dict[str, Part], {"a": {"name": "leg"}}, {"a": Part("leg")}),
        (Part | None, None, None),
    ],
)
def test_any_type_can_be_handed_in(kind: Any, handed_in: Any, expected: Any) -> None:
    agent, _ = make_agent(LOOK_UP, hand_in(handed_in))
    assert agent.run("Go.", returns=kind).data == expected


def test_text_as_a_type_is_the_answer_itself() -> None:
    agent, model = make_agent(LOOK_UP, "Oak costs 3.50.")
    assert agent.run("Go.", returns=str).data == "Oak costs 3.50."
    assert [tool.name for tool in model.requests[0].tools] == ["find_price"]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (hand_in({"item": "oak", "price": "much"}), "must be number"),
        ('{"item": "oak"}', "Field required"),
        ("Oak is 3.50.", "contains no JSON object"),
    ],
)
def test_wrong_answer_is_asked_for_again_with_the_reason(wrong: Any, reason: str) -> None:
    agent, model = make_agent(LOOK_UP, wrong, hand_in({"item": "oak", "price": 3.5}))
    assert agent.returns(Quote).run("What is oak?").data == OAK
    assert reason in model.requests[-1].messages[-1]["content"]


def test_answer_that_never_fits_is_an_error_with_the_reason() -> None:
    agent, model = make_agent(*["Oak."] * 5)
    ends: list[Event] = []
    with pytest.raises(ResponseError, match="contains no JSON object"):
        agent.run("What is oak?", returns=Quote, on_event=ends.append)
    assert len(model.requests) == 4
    assert isinstance(ends[-1], RunEnd)
    assert ends[-1].reason == "no-completion"


def test_result_that_was_never_right_is_an_error_too() -> None:
    agent, model = make_agent(*[hand_in({"item": "oak", "price": "much"})] * 5)
    with pytest.raises(ResponseError):
        agent.run("What is oak?", returns=Quote)
    assert len(model.requests) == 4


@pytest.mark.parametrize("tools", [[find_price], []])
def test_answer_that_was_cut_off_is_not_asked_for_again(tools: Any) -> None:
    agent, model = make_agent(CUT_OFF, CUT_OFF, tools=tools)
    with pytest.raises(AnswerLengthError, match="max_tokens"):
        agent.run("What is oak?", returns=Quote)
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (list[str], 'First idea: {"value": ["x"]}. Better: {"value": ["a","b'),
        (list[str], '["x"]. Better: {"val'),
        (list[str], '{"draft": ["x"], "be'),
        (Quote, '{"item": "oak", "price": 1}\n{"item": "oak", "pri'),
        (Quote, '{"draft": {"item": "oak", "price": 1}, "fin'),
        (Quote, '{"other": 1} {'),
    ],
)
def test_draft_before_the_cut_is_not_the_answer(kind: Any, text: str) -> None:
    agent, _ = make_agent(*[{"text": text, "finish_reason": "length"}] * 2, tools=[])
    with pytest.raises(AnswerLengthError):
        agent.run("What is oak?", returns=kind)
    with pytest.raises(AnswerLengthError):
        agent.input("What is oak?").returns(kind).start()


@pytest.mark.parametrize("after", [" [See here", " {as said", " A set {1, 2", " and", '} with {"a": 1} and'])
def test_answer_is_whole_if_only_words_after_it_were_cut(after: str) -> None:
    text = 'In {braces}: {"item": "oak", "price": 3.5}' + after
    agent, _ = make_agent({"text": text, "finish_reason": "length"}, tools=[])
    assert agent.run("What is oak?", returns=Quote).data == OAK


@pytest.mark.parametrize("reason", ["stop", "content_filter", "error", "network_error", None])
def test_answer_that_ends_within_its_data_is_asked_for_again_whatever_the_reason(reason: str | None) -> None:
    cut = {"text": '{"value": ["a", "b', "finish_reason": reason}
    agent, model = make_agent(cut, '{"value": ["a", "b"]}', tools=[])
    assert agent.run("Which?", returns=list[str]).data == ["a", "b"]
    assert "the JSON is not complete" in str(model.requests[1].messages)
    agent, model = make_agent(*[cut] * 4, tools=[])
    with pytest.raises(ResponseError, match="the JSON is not complete"):
        agent.input("Which?").returns(list[str]).start()
    assert len(model.requests) == 4


@pytest.mark.parametrize("reason", ["length", "max_tokens"])
def test_no_view_of_a_typed_answer_shows_half_of_it_as_the_whole(reason: str) -> None:
    agent, _ = make_agent(*[{"text": '{"value": ["a", "b', "finish_reason": reason}] * 2, tools=[])
    result = agent.input("Which?").returns(list[str]).get_result()
    assert (result.data, result.object, result.parsed) == (None, None, ["a", "b"])
    assert result.errors == ["the answer was cut off at the model's length limit"]
    response = agent.input("Which?").returns(list[str]).get_response()
    with pytest.raises(AnswerLengthError):
        response.get_data()
    assert response.get_data(raise_ensure_failure=False) is None


def test_last_turn_at_a_limit_may_still_hand_in_the_instance() -> None:
    agent, model = make_agent(LOOK_UP, hand_in({"item": "oak", "price": 3.5}))
    result = agent.run("What is oak?", returns=Quote, limits={"turns": 1})
    assert (result.data, result.limit) == (OAK, "max-turns")
    assert [tool.name for tool in model.requests[-1].tools] == ["complete_task"]


def test_limit_without_an_instance_is_an_error_that_names_it() -> None:
    agent, _ = make_agent(LOOK_UP, "I do not know.")
    with pytest.raises(ResponseError, match="limit of 1 turns"):
        agent.run("What is oak?", returns=Quote, limits={"turns": 1})


async def test_cancelled_typed_run_and_a_failing_model_are_errors_of_their_own() -> None:
    agent, _ = make_agent({"error": "overloaded"})
    with pytest.raises(ModelError, match="overloaded"):
        await agent.async_run("What is oak?", returns=Quote)
    cancel = CancelSignal()
    cancel.request("now")
    with pytest.raises(CancelledRunError):
        await make_agent(LOOK_UP)[0].async_run("What is oak?", returns=Quote, cancel=cancel)


def test_run_without_tools_asks_for_the_data_alone() -> None:
    agent, model = make_agent('{"item": "oak"}', '{"item": "oak", "price": 3.5}', tools=())
    assert agent.returns(Quote).run("What is oak?").data == OAK
    assert "OUTPUT REQUIREMENT" in model.requests[0].messages[0]["content"]
    assert (len(model.requests[0].tools), bool(model.requests[0].schema)) == (0, True)


def test_model_without_function_calls_is_asked_in_words() -> None:
    plan = '{"use_tool": true, "tool_command": {"purpose": "p", "tool_name": "NAME", "tool_kwargs": ARGS}}'
    look_up = plan.replace("NAME", "find_price").replace("ARGS", '{"item": "oak"}')
    done = plan.replace("NAME", "complete_task").replace("ARGS", '{"result": {"item": "oak", "price": 3.5}}')
    agent, _ = make_agent(look_up, done, calls_tools=False)
    assert agent.returns(Quote).run("What is oak?").data == OAK


def test_request_may_be_filled_before_a_typed_run() -> None:
    agent, model = make_agent(hand_in({"item": "oak", "price": 3.5}))
    request = agent.info("Prices are in euros.").returns(Quote)
    assert request.instruct("Be exact.").run("What is oak?").data == OAK
    asked = model.requests[0].messages[0]["content"]
    assert "euros" in asked
    assert "exact" in asked


def test_output_of_a_run_is_asked_for_again_until_it_fits() -> None:
    agent, model = make_agent(LOOK_UP, "3.50", '{"price": "much"}', '{"price": 3.5}')
    assert agent.output({"price": (float,)}).run("What is oak?").data == {"price": 3.5}
    assert len(model.requests) == 4


def test_output_that_never_fits_is_returned_with_a_notice() -> None:
    agent, _ = make_agent(*['{"price": "much"}'] * 4)
    result = agent.output({"price": (float,)}).run("What is oak?")
    assert (result.data, result.reason) == ({"price": "much"}, "goal")
    assert "does not fit" in (result.notice or "")
