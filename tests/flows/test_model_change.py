"""A conversation changes its model half-way and comes back: each API gets its own parts, and no other's."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail import Agent, Kind, tool
from dovetail.app import Dovetail
from dovetail.events.call import ChatMessage
from dovetail.requesters.local.messages import read_conversation
from dovetail.testing import ScriptedRequester
from mock_provider import MockProvider
from patience import PATIENCE
from serving import Serving, serve_app, text_of
from speakers import SPEAKERS, Answer, Speaker

PAIRS = [(first, second) for first in SPEAKERS for second in SPEAKERS if first != second]


def say(provider: MockProvider, speaker: Speaker, *answers: Answer) -> None:
    for answer in answers:
        provider.replay(speaker.write(answer), content_type=speaker.content_type)


def configure(provider: MockProvider, **model: Any) -> dict[str, Any]:
    """Settings with which all speakers are reached at the mock provider."""
    providers = {
        speaker.provider: {"base_url": f"{provider.url}{speaker.path}", "api_key": "test-key-1"}
        for speaker in SPEAKERS.values()
    }
    return {"model": {"providers": providers, "retries": {"attempts": 1}, "thinking": "low", **model}}


@tool(kind=Kind.Read)
def look() -> str:
    """Look."""
    return "a fox"


@asynccontextmanager
async def talk(folder: Path, provider: MockProvider) -> AsyncGenerator[Serving]:
    app = Dovetail(configure(provider), workspace=folder)
    app.tools.register_tool(look)
    async with serve_app(app) as address, httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
        yield Serving(app, ScriptedRequester([]), client, address)


def find_marks(text: str, answers: Sequence[Answer]) -> list[str]:
    """The thoughts whose marks are in a request."""
    return [answer.thought for answer in answers if answer.mark in text]


@pytest.mark.parametrize("first", SPEAKERS)
async def test_a_chat_changes_its_model_and_comes_back(
    first: str, tmp_path: Path, mock_provider: MockProvider
) -> None:
    async with talk(tmp_path, mock_provider) as server:
        for second in SPEAKERS:
            if second != first:
                mock_provider.reset()
                await change_and_come_back(server, mock_provider, SPEAKERS[first], SPEAKERS[second])


async def change_and_come_back(server: Serving, provider: MockProvider, one: Speaker, two: Speaker) -> None:
    called, told = Answer("think 1", "I look.", "call_1"), Answer("think 2", "I saw it.")
    other_called, other_told = Answer("other 3", "", "call_2"), Answer("other 4", "A fox.")
    say(provider, one, called, told)
    say(provider, two, other_called, other_told)
    say(provider, one, Answer("think 5", "Yes."))

    async def ask(text: str, speaker: Speaker) -> str:
        return text_of(await server.chat(text, session_id=two.provider, model=speaker.model))

    assert await ask("What is there?", one) == "I look.I saw it."
    assert await ask("Look again.", two) == "A fox."
    assert await ask("Sure?", one) == "Yes."

    requests = provider.requests
    for request, speaker in zip(requests, [one, one, two, two, one], strict=True):
        speaker.check(request.body)
    own = [find_marks(request.text, [called, told]) for request in requests]
    assert own == [[], ["think 1"], [], [], ["think 1", "think 2"]]
    others = [find_marks(request.text, [other_called, other_told]) for request in requests]
    assert others == [[], [], [], ["other 3"], []]
    assert all("I saw it." in request.text for request in requests[2:])
    assert "A fox." in requests[4].text
    assert [request.text.count("a fox") for request in requests] == [0, 1, 1, 2, 2]
    assert not any("provider_parts" in request.text for request in requests)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_fallback_takes_over_in_the_middle_of_a_tool_loop(
    first: str, second: str, mock_provider: MockProvider
) -> None:
    one, two = SPEAKERS[first], SPEAKERS[second]
    called, told = Answer("think 1", "I look.", "call_1"), Answer("think 3", "Two foxes.")
    other = Answer("other 2", "Once more.", "call_2")
    say(mock_provider, one, called)
    mock_provider.replay(b'{"error": {"message": "busy"}}', status=503, content_type="application/json")
    say(mock_provider, two, other)
    say(mock_provider, one, told)

    agent = Agent(model=one.model, settings=configure(mock_provider, fallbacks=[two.model]))
    agent.role("A guide.").use_tool(look)
    assert agent.run("What is there?").text == "Two foxes."

    requests = mock_provider.requests
    for request, speaker in zip(requests, [one, one, two, one], strict=True):
        speaker.check(request.body)
    marks = [find_marks(request.text, [called, other]) for request in requests]
    assert marks == [[], ["think 1"], [], ["think 1"]]
    assert [request.text.count("a fox") for request in requests] == [0, 1, 1, 2]


CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def remember(source: str) -> list[ChatMessage]:
    """A conversation with a part that only `source` can read."""
    part = {"source": source, "text": 0, "calls": 0, "data": {"type": "thinking", "signature": "SECRET"}}
    return [
        {"role": "user", "content": "What is there?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [CALL], "provider_parts": [part]},
        {"role": "tool", "tool_call_id": "call_1", "content": "a fox"},
        {"role": "assistant", "content": "A fox.", "provider_parts": [part]},
    ]


@pytest.mark.parametrize("source", [*SPEAKERS, "scripted"])
def test_embedded_models_and_the_judge_get_plain_words(source: str) -> None:
    texts = read_conversation([*remember(source), {"role": "user", "content": "Sure?"}]).build_texts()
    assert "SECRET" not in str(texts)
    assert "A fox." in str(texts)

    requester = ScriptedRequester(["Yes."], calls_tools=False)
    agent = Agent(requester=requester).set_chat_history(remember(source))
    agent.use_tool(look)
    assert "Yes." in agent.run("Sure?").text
    assert "SECRET" not in str(requester.requests[0].messages)
    assert "a fox" in str(requester.requests[0].messages)


@pytest.mark.parametrize("name", SPEAKERS)
def test_parts_of_an_unknown_source_reach_no_api(name: str, mock_provider: MockProvider) -> None:
    speaker = SPEAKERS[name]
    say(mock_provider, speaker, Answer("think", "Yes."))
    agent = Agent(model=speaker.model, settings=configure(mock_provider))
    agent.set_chat_history(remember("scripted"))
    agent.role("A guide.").use_tool(look)

    assert agent.run("Sure?").text == "Yes."

    (request,) = mock_provider.requests
    assert "SECRET" not in request.text
    speaker.check(request.body)
