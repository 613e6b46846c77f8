"""What a person sees who prints a value: short, what matters, and no secrets."""

import asyncio
from typing import Any

import pytest

from dovetail import Agent, AgentDefinition, Dovetail, Kind, Prompt, ToolResult, tool
from dovetail.errors import LimitError, ModelError, PromptSyntaxError, ToolError
from dovetail.events.delta import FinishDelta, Usage
from dovetail.events.run_events import Event, RunEnd, ToolEnd, TurnEnd
from dovetail.settings import Settings
from dovetail.settings.model import ModelSettings
from dovetail.testing import Gate, ScriptedRequester

LONG = "All work and no play makes a dull text. " * 500


@tool(kind=Kind.Read)
def count(item: str, shelf: int = 1) -> int:
    """Count the pieces of an item."""
    return len(item) + shelf


def make_agent(*replies: Any, **options: Any) -> Agent:
    return Agent("shop", requester=ScriptedRequester(replies), **options)


def test_agent_shows_its_name_model_prompt_and_tools() -> None:
    agent = make_agent(system="You keep the stock.", tools=[count])
    shown = "Agent('shop', model='scripted:model', system='You keep the stock.', tools=['count'])"
    assert repr(agent) == shown
    assert repr(agent.tools) == "ToolSnapshot(['count'], generation=1)"
    assert repr(agent.returns(int)) == f"TypedRequest({shown}, <class 'int'>)"


def test_agent_with_the_default_model_is_shown_without_looking_it_up() -> None:
    assert repr(Agent("shop", model="nobody:knows")) == "Agent('shop', model='nobody:knows')"
    assert repr(Agent("shop")) == "Agent('shop')"


def test_tool_shows_what_a_caller_needs() -> None:
    assert repr(count) == (
        "FunctionTool(name='count', description='Count the pieces of an item.', "
        "parameters=['item', 'shelf'], kind='read')"
    )


async def test_response_shows_how_far_it_is() -> None:
    gate = Gate()
    response = make_agent(["Hello", gate, " there."]).input("Hi.").get_response()
    assert repr(response) == "<Response, not sent>"
    answer = asyncio.create_task(response.async_get_text())
    await gate.reached.async_wait()
    assert repr(response) == "<Response, in progress: 'Hello'>"
    gate.open()
    await answer
    assert repr(response) == "<Response, complete: 'Hello there.'>"


async def test_failed_response_shows_why() -> None:
    response = make_agent({"error": "overloaded"}).input("Hi.").get_response()
    with pytest.raises(ModelError):
        await response.async_get_text()
    assert repr(response) == "<Response, failed: ModelError('overloaded', provider='scripted')>"


def test_results_show_the_answer() -> None:
    agent = make_agent('{"stock": 3}', "Three.")
    assert repr(agent.input("?").output({"stock": (int,)}).get_result()) == "Result(data={'stock': 3})"
    assert repr(agent.run("?")) == "RunResult(text='Three.', turns=1, finish_reason='stop')"


def test_errors_show_their_data() -> None:
    error = ModelError("Rate limit exceeded.", provider="openai", status=429, request_id="r1", hint="Wait.")
    assert repr(error) == (
        "ModelError('Rate limit exceeded.', provider='openai', status=429, request_id='r1')"
    )
    assert repr(ToolError("No.", type="denied")) == "ToolError('No.', type='denied')"
    assert repr(LimitError("Enough.", limit="max-cost")) == "LimitError('Enough.', limit='max-cost')"
    broken = PromptSyntaxError("bad", source="a.yaml", line=2, column=3)
    assert repr(broken) == (
        "PromptSyntaxError('a.yaml, line 2, column 3: bad', source='a.yaml', line=2, column=3)"
    )


def test_usage_shows_what_was_used() -> None:
    assert repr(Usage(input_tokens=12, output_tokens=3)) == "Usage(input_tokens=12, output_tokens=3)"
    assert repr(TurnEnd(1, Usage(), "stop")) == "TurnEnd(turn=1, usage=Usage(), finish_reason='stop')"


@pytest.mark.parametrize(
    "value",
    [
        Prompt({"input": LONG, "info": {"a": [LONG] * 100}}),
        ToolResult(LONG, return_display={"text": LONG}, data=[LONG] * 100),
        ToolEnd("call_1", "ok", {"llm_content": LONG, "data": [LONG] * 50}),
        RunEnd("goal", LONG),
        FinishDelta("stop", payload={"text": LONG}),
        AgentDefinition(name="a", description=LONG, prompt_config={"system_prompt": LONG}),  # type: ignore[arg-type]
        ToolError(LONG[:200], data=[LONG] * 50),
    ],
    ids=lambda value: type(value).__name__,
)
def test_long_values_are_cut(value: object) -> None:
    assert len(repr(value)) < 1_000


def test_events_of_a_long_run_stay_short() -> None:
    events: list[Event] = []
    call = {"tool_calls": [{"name": "count", "arguments": {"item": LONG}}]}
    make_agent(call, LONG, system=LONG, tools=[count]).run(LONG, on_event=events.append)
    most = {type(event).__name__: len(repr(event)) for event in events if "Delta" not in type(event).__name__}
    assert max(most.values()) < 1_000, most


def test_values_that_compare_in_their_own_way_can_be_shown() -> None:
    class Array:
        def __eq__(self, other: object) -> bool:
            raise ValueError("The truth value of an array is ambiguous.")

        def __repr__(self) -> str:
            return "array([1, 2])"

    assert repr(ToolResult("ok", data=Array())) == "ToolResult(llm_content='ok', data=array([1, 2]))"


def test_nothing_that_holds_a_key_shows_it() -> None:
    settings = {"model": {"name": "openai:gpt-4.1", "api_key": "sk-very-secret-key"}}
    agent = Agent("shop", settings=settings)
    values: list[Any] = [agent, agent.settings, agent.requester, agent.runtime, Dovetail(settings)]
    values += [Settings(settings), Settings(settings).section(ModelSettings), agent.get_prompt(True)]
    assert "very-secret" not in "".join(map(repr, values))
