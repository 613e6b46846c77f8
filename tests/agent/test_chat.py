"""`agent.chat`, and runs that continue from the messages of an earlier one."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from dovetail import Agent
from dovetail.agent import ChatSessionExtension, FolderChatStore
from dovetail.errors import ModelError, SignatureError
from dovetail.events.call import ModelRequest
from dovetail.events.run_events import RunEnd
from dovetail.requesters.anthropic import body as anthropic_body
from dovetail.requesters.bedrock import body as bedrock_body
from dovetail.requesters.google import body as google_body
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.openai import body as openai_body
from dovetail.requesters.openai import responses_body
from dovetail.testing import ScriptedRequester

ENDPOINT = Endpoint(provider="any", model="m", base_url="https://example.com")
COUNT = {"tool_calls": [{"name": "count", "arguments": {"item": "chisel"}}]}


class Stock(BaseModel):
    pieces: int


def count(item: str) -> int:
    """Count the pieces of an item."""
    return 3


def make_agent(*replies: Any, tools: Any = (count,), **options: Any) -> tuple[Agent, ScriptedRequester]:
    model = ScriptedRequester(replies)
    return Agent(model=model, system="You keep the stock.", tools=tools, **options), model


def show(messages: Any) -> list[tuple[str, Any, int]]:
    return [(each["role"], each["content"], len(each.get("tool_calls", ()))) for each in messages]


FIRST_TURN = [
    ("user", "How many chisels?", 0),
    ("assistant", "", 1),
    ("tool", "3", 0),
    ("assistant", "Three.", 0),
]


def test_second_run_of_a_chat_reads_the_first_with_its_calls_and_results() -> None:
    agent, model = make_agent(COUNT, "Three.", "Enough.")
    chat = agent.chat("ann")
    assert chat.run("How many chisels?").text == "Three."
    assert chat.run("Is that enough?").text == "Enough."
    last = show(model.requests[-1].messages)
    assert last == [("system", "You keep the stock.", 0), *FIRST_TURN, ("user", "Is that enough?", 0)]
    assert show(chat.messages) == [*last[1:], ("assistant", "Enough.", 0)]


async def test_chat_may_be_awaited_streamed_and_typed() -> None:
    handed_in = {"tool_calls": [{"name": "complete_task", "arguments": {"result": {"pieces": 3}}}]}
    agent, model = make_agent("Hello.", "Hi again.", handed_in)
    chat = agent.chat("ann")
    await chat.async_run("Hello!")
    stream = chat.run_stream("Still there?")
    assert isinstance([event async for event in stream][-1], RunEnd)
    assert (await chat.async_run("How many?", returns=Stock)).data == Stock(pieces=3)
    said = [message["content"] for message in chat.messages]
    assert said == ["Hello!", "Hello.", "Still there?", "Hi again.", "How many?", '{"pieces": 3}']
    assert [message["content"] for message in model.requests[-1].messages[1:]] == said[:-1]


def test_chats_of_one_agent_are_kept_apart_by_their_ids() -> None:
    agent, _ = make_agent("Hello Ann.", "Hello Bob.")
    agent.chat("ann").run("I am Ann.")
    agent.chat("bob").run("I am Bob.")
    assert [message["content"] for message in agent.chat("ann").messages] == ["I am Ann.", "Hello Ann."]
    agent.chat("ann").clear()
    assert (agent.chat("ann").messages, len(agent.chat("bob").messages)) == ([], 2)


def test_stored_chat_continues_in_another_process(tmp_path: Path) -> None:
    store = FolderChatStore(tmp_path)
    make_agent(COUNT, "Three.")[0].chat("ann", store=store).run("How many chisels?")
    agent, model = make_agent("Yes.")
    agent.chat("ann", store=FolderChatStore(tmp_path)).run("Sure?")
    assert show(model.requests[0].messages)[1:-1] == FIRST_TURN


def test_run_that_fails_leaves_the_chat_as_it_was() -> None:
    agent, _ = make_agent("Hello.", {"error": "overloaded"})
    chat = agent.chat()
    chat.run("Hello!")
    with pytest.raises(ModelError):
        chat.run("And now?")
    assert len(chat.messages) == 2


async def test_runs_of_a_chat_at_a_time_are_all_recorded_whole(tmp_path: Path) -> None:
    asked = [f"question {number:02}" for number in range(30)]
    agent, _ = make_agent(*({"when": each, "text": each.upper()} for each in asked))
    chats = [agent.chat("ann", store=FolderChatStore(tmp_path)) for _ in asked]  # as requests to a service do
    await asyncio.gather(*(chat.async_run(each) for chat, each in zip(chats, asked, strict=True)))
    said = [message["content"] for message in chats[0].messages]
    assert sorted(zip(said[::2], said[1::2], strict=True)) == [(each, each.upper()) for each in asked]


def test_oldest_turns_are_left_out_over_the_budget() -> None:
    agent, model = make_agent("One.", "Two.", settings={"chat_session": {"token_budget": 40}})
    chat = agent.chat("ann")
    chat.run("word " * 200)
    chat.run("Short.")
    assert [message["role"] for message in model.requests[-1].messages] == ["system", "user"]
    assert len(chat.messages) == 4


def test_unknown_option_of_a_chat_is_refused() -> None:
    with pytest.raises(SignatureError, match="limit"):
        make_agent()[0].chat("ann").run("Hello!", limit=3)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize("way", ["history", "set_chat_history", "add_chat_history", "session"])
def test_messages_of_a_result_continue_the_conversation(way: str) -> None:
    first, _ = make_agent(COUNT, "Three.")
    result = first.run("How many chisels?")
    assert show(result.messages) == FIRST_TURN
    agent, model = make_agent("Enough.")
    if way == "history":
        agent.run("Is that enough?", history=result.messages)
    elif way == "session":
        chatter = type("Chatter", (ChatSessionExtension, Agent), {})(
            model=model, tools=[count], system="Be brief."
        )
        chatter.activate_chat_session("ann")
        chatter.set_chat_history(result.messages).run("Is that enough?")
    else:
        getattr(agent, way)(result.messages).run("Is that enough?")
    assert show(model.requests[0].messages)[1:] == [*FIRST_TURN, ("user", "Is that enough?", 0)]


def test_messages_of_each_result_hold_the_conversation_so_far() -> None:
    agent, model = make_agent(COUNT, "Three.", "Enough.", "Goodbye.")
    result = agent.run("How many chisels?")
    for task in ("Is that enough?", "Thanks."):
        result = agent.run(task, history=(message for message in result.messages))
    said = [*FIRST_TURN, ("user", "Is that enough?", 0), ("assistant", "Enough.", 0)]
    assert show(model.requests[-1].messages)[1:] == [*said, ("user", "Thanks.", 0)]
    assert show(result.messages) == [*said, ("user", "Thanks.", 0), ("assistant", "Goodbye.", 0)]


def test_result_of_a_chat_has_its_messages() -> None:
    agent, _ = make_agent(COUNT, "Three.", "Enough.")
    chat = agent.chat("ann")
    chat.run("How many chisels?")
    assert chat.run("Is that enough?").messages == chat.messages


def test_history_with_calls_reaches_a_request_of_start_as_well() -> None:
    first, _ = make_agent(COUNT, "Three.")
    agent, model = make_agent("Enough.", tools=())
    agent.set_chat_history(first.run("How many chisels?").messages)
    assert agent.input("Is that enough?").start() == "Enough."
    assert show(model.requests[0].messages)[1:-1] == FIRST_TURN


WRITERS: dict[str, Callable[[ModelRequest], Any]] = {
    "openai": lambda request: openai_body.build_body(request, extra={}, without=set()),
    "responses": lambda request: responses_body.build_body(request, ENDPOINT, set(), "own"),
    "anthropic": lambda request: anthropic_body.build_body(request, ENDPOINT, "anthropic", set()),
    "google": lambda request: google_body.build_body(request, extra={}, without=set()),
    "bedrock": lambda request: bedrock_body.build_body(request, ENDPOINT, "bedrock-anthropic", set()),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
def test_stored_chat_is_written_for_every_protocol_as_the_run_itself_was(
    write: Callable[[ModelRequest], Any], tmp_path: Path
) -> None:
    agent, model = make_agent(COUNT, "Three.", "Enough.")
    chat = agent.chat("ann", store=FolderChatStore(tmp_path))
    chat.run("How many chisels?")
    chat.run("Is that enough?")
    during, later = (json.dumps(write(replace(each, model="m"))) for each in model.requests[1:])
    said = during.partition('"How many chisels?"')[2].partition('"count"')[2].partition("]")[0]
    assert said
    assert said in later
