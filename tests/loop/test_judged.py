"""A model that calls no functions uses tools all the same."""

import json
from typing import Any

import pytest

from dovetail import Agent
from dovetail.agent.runtime import Runtime
from dovetail.events.model_events import TextDeltaEvent
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import Event
from dovetail.events.run_result import RunResult
from dovetail.loop.budget import Budget, BudgetLimits
from dovetail.loop.loop import TurnLoop
from dovetail.loop.repetition import REPEATS
from dovetail.testing import ScriptedRequester, ScriptedServer
from dovetail.tools.makers.function import make_tool
from dovetail.tools.pipeline.runner import ToolRunner
from dovetail.tools.snapshot import ToolSnapshot


def double(number: int) -> int:
    """Double a number."""
    return number * 2


def plan(number: int = 2) -> str:
    command = {"purpose": "to know", "tool_name": "double", "tool_kwargs": {"number": number}}
    return json.dumps({"use_tool": True, "tool_command": command, "answer": None})


def answer(text: Any) -> str:
    return json.dumps({"use_tool": False, "tool_command": None, "answer": text})


async def run(
    *replies: Any, completion: str | None = None, turns: int = 9, follows_schema: bool = True
) -> tuple[RunResult, list[Event], ScriptedRequester]:
    events: list[Event] = []
    model = ScriptedRequester(replies, calls_tools=False, follows_schema=follows_schema)
    loop = TurnLoop(
        requester=model,
        tools=ToolSnapshot.of([make_tool(double)]),
        runner=ToolRunner(),
        completion=completion,
    )
    start = [{"role": "system", "content": "Count well."}, {"role": "user", "content": "Twice two?"}]
    limits = Budget(BudgetLimits(turns=turns))
    outcome = await loop.run(start, RunContext(emit=events.append, budget=limits))
    return outcome, events, model


async def test_plan_becomes_a_call_and_the_answer_streams() -> None:
    outcome, events, model = await run({"text": plan(), "cut": 5}, {"text": answer('It is "4".'), "cut": 5})
    assert (outcome.text, outcome.reason, outcome.turns) == ('It is "4".', "goal", 2)
    pieces = [event.delta for event in events if isinstance(event, TextDeltaEvent)]
    assert len(pieces) > 1
    assert "".join(pieces) == 'It is "4".'
    assert [event.type for event in events].count("tool-end") == 1
    first, second = model.requests
    assert list(first.tools) == []
    assert first.messages[0]["content"].startswith("Count well.")
    assert "- double: Double a number." in first.messages[0]["content"]
    assert [message["role"] for message in second.messages] == ["system", "user", "assistant", "user"]
    assert json.loads(second.messages[2]["content"])["tool_command"]["tool_kwargs"] == {"number": 2}
    assert second.messages[3]["content"] == "Result of double:\n4"


async def test_model_that_follows_schemas_can_name_no_other_tool() -> None:
    _, _, model = await run(answer("4"))
    schema = model.requests[0].schema
    assert schema is not None
    commands = schema["properties"]["tool_command"]["anyOf"]
    assert commands[0] == {"type": "null"}
    assert [command["properties"]["tool_name"]["const"] for command in commands[1:]] == ["double"]
    _, _, loose = await run(answer("4"), follows_schema=False)
    assert loose.requests[0].schema is None


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("It is 4.", "It is 4."),
        (f"```json\n{answer('4.')}\n```", "4."),
        (answer({"value": 4}), "value: 4\n"),
        (json.dumps({"use_tool": True, "tool_command": {"purpose": "?"}, "answer": "4."}), "4."),
    ],
)
async def test_reply_that_is_not_a_plan_is_an_answer(reply: str, text: str) -> None:
    outcome, _, _ = await run(reply)
    assert (outcome.reason, outcome.text) == ("goal", text)


async def test_plan_that_was_only_thought_about_is_not_carried_out() -> None:
    thought = f"<think>{plan(7)}</think>"
    outcome, events, _ = await run({"text": thought + answer("It is 4."), "cut": 5})
    assert (outcome.text, outcome.turns) == ("It is 4.", 1)
    assert "tool-end" not in [event.type for event in events]


@pytest.mark.parametrize(
    ("missing", "result"),
    [
        (', "answer": null}', "4"),
        ('}, "answer": null}', "are cut off"),
        ('}}, "answer": null}', "are cut off"),
    ],
)
async def test_plan_is_carried_out_only_if_its_command_is_whole(missing: str, result: str) -> None:
    outcome, _, model = await run(plan().removesuffix(missing), answer("It is 4."))
    assert outcome.text == "It is 4."
    assert result in model.requests[1].messages[3]["content"]


async def test_grace_turn_without_tools_shows_the_calls_in_words_too() -> None:
    outcome, _, model = await run(plan(), "Four, I think.", turns=1)
    assert (outcome.limit, outcome.text) == ("max-turns", "Four, I think.")
    assert "# Tools" not in model.requests[1].messages[0]["content"]
    assert not any(message.get("tool_calls") for message in model.requests[1].messages)


async def test_grace_turn_that_must_hand_in_demands_a_call() -> None:
    outcome, _, model = await run(*[answer("Four.")] * REPEATS, plan(4), completion="double")
    assert (outcome.reason, outcome.limit, outcome.data) == ("goal", "no-completion", 8)
    assert "You must use a tool now." in model.requests[-1].messages[0]["content"]
    assert "answer" not in (model.requests[-1].schema or {})["properties"]


async def test_server_that_refuses_tools_is_asked_again_in_words() -> None:
    refusal = {"status": 400, "body": {"error": {"message": "this model does not support tools"}}}
    async with ScriptedServer([refusal, plan(), answer("It is 4.")]) as server:
        settings = {"model": {"name": "openai:plain", "base_url": server.url, "api_key": "none"}}
        outcome = await Agent(settings=settings, runtime=Runtime()).use_tools(double).async_run("Twice two?")
        bodies = server.requests
    assert (outcome.text, outcome.turns) == ("It is 4.", 2)
    assert ["tools" in request.body for request in bodies] == [True, False, False]
