"""Answers of real models are recorded once and replayed with the same deltas."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dovetail import Agent
from dovetail.errors import ConfigError, ContextLengthError, TransientModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProgressDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from dovetail.requesters.requester import Requester
from dovetail.testing import Cassette, Reply, ScriptedRequester, ScriptedServer
from dovetail.testing.cassette import CassetteMode


def ask(text: str = "hello") -> ModelRequest:
    return ModelRequest(messages=[{"role": "user", "content": text}])


async def collect(requester: Requester, request: ModelRequest | None = None) -> list[Delta]:
    return [delta async for delta in requester.stream(request or ask())]


def count_stock(item: str) -> int:
    """Count the pieces of an item."""
    return {"chisel": 3}.get(item, 0)


async def test_replay_yields_the_recorded_deltas(tmp_path: Path) -> None:
    steps: list[Any] = [
        ProgressDelta("read", 40, 100),
        ReasoningDelta("Hm."),
        "Hel",
        "lo",
        ProviderPartDelta("anthropic", {"signature": "abc"}),
        ToolCallDelta(0, "call_7", "add"),
        ToolCallDelta(0, arguments='{"a": 1}'),
        FinishDelta("tool-calls", model="m-1", request_id="r-1", payload={"id": 7}, requested="x:m"),
    ]
    with Cassette(tmp_path / "a.json") as cassette:
        recorded = await collect(cassette.requester(ScriptedRequester([steps])))
    with Cassette(tmp_path / "a.json") as cassette:
        replayed = await collect(cassette.requester("scripted:model"))
    assert replayed == recorded[1:]  # how fast the model was is not recorded
    assert recorded[0] == steps[0]
    assert recorded[2:4] == [TextDelta("Hel"), TextDelta("lo")]
    assert recorded[-1] == steps[-1]


def test_run_with_tools_and_a_sub_agent_is_replayed_without_any_model(tmp_path: Path) -> None:
    def work(cassette: Cassette, model: Any) -> str:
        requester = cassette.requester(model)
        helper = Agent("helper", model=requester, system="You count.", tools=[count_stock])
        return Agent("boss", model=requester, tools=[helper]).run("How many chisels?").text

    def call(name: str, **arguments: Any) -> Reply:  # without an id: every run makes another one
        return Reply(steps=[ToolCallDelta(0, name=name, arguments=json.dumps(arguments))])

    replies = [call("helper", task="Count."), call("count_stock", item="chisel"), "There are 3.", "Three."]
    with Cassette(tmp_path / "run.json") as cassette:
        assert work(cassette, ScriptedRequester(replies)) == "Three."
    with Cassette(tmp_path / "run.json", mode="replay") as cassette:
        assert work(cassette, "scripted:model") == "Three."
        assert cassette.unused == []


async def test_requests_at_the_same_time_get_their_own_answers(tmp_path: Path) -> None:
    questions = ["door", "boat", "bow"]
    replies = [{"when": text, "text": f"wood for a {text}"} for text in questions]
    with Cassette(tmp_path / "a.json") as cassette:
        agent = Agent(model=cassette.requester(ScriptedRequester(replies)))
        recorded = await asyncio.gather(*(agent.input(text).async_start() for text in questions))
    with Cassette(tmp_path / "a.json") as cassette:
        agent = Agent(model=cassette.requester("scripted:model"))
        replayed = await asyncio.gather(*(agent.input(text).async_start() for text in reversed(questions)))
    assert replayed == recorded[::-1]


async def test_same_request_twice_gets_its_answers_in_order(tmp_path: Path) -> None:
    with Cassette(tmp_path / "a.json") as cassette:
        requester = cassette.requester(ScriptedRequester(["One.", "Two."]))
        recorded = [await collect(requester), await collect(requester)]
    with Cassette(tmp_path / "a.json") as cassette:
        requester = cassette.requester("scripted:model")
        assert [await collect(requester), await collect(requester)] == recorded
        with pytest.raises(ConfigError, match=r"all 2 recorded answers have been used, and one more request"):
            await collect(requester)


async def test_request_that_was_not_recorded_shows_the_difference(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with Cassette(path) as cassette:
        requester = cassette.requester(ScriptedRequester(["Oak.", "No."]))
        await Agent(model=requester, system="Be brief.\nKnow woods.").input("For a door?").async_start()
        await Agent(model=requester).input("Something else").async_start()
    with Cassette(path) as cassette:
        agent = Agent(model=cassette.requester("scripted:model"), system="Be brief.\nKnow metals.")
        with pytest.raises(ConfigError) as raised:
            await agent.input("For a door?").async_start()
    text = str(raised.value)
    assert "-Know woods.\n+Know metals." in text
    assert "Something else" not in text
    assert "delete the file" in text


async def test_keys_are_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-house-1234")
    steps = ["The key is key-of-", "the-house-", "1234.", ReasoningDelta("sk-abcdefghijkl")]
    with Cassette(tmp_path / "a.json", clean=lambda text: text.replace("Ann", "someone")) as cassette:
        requester = cassette.requester(ScriptedRequester([steps]))
        await collect(requester, ask("Ann asks: is my key key-of-the-house-1234?"))
    stored = (tmp_path / "a.json").read_text()
    assert "house-" not in stored
    assert "sk-abc" not in stored
    assert "someone asks: is my key ***?" in stored
    with Cassette(tmp_path / "a.json", clean=lambda text: text.replace("Ann", "someone")) as cassette:
        requester = cassette.requester("scripted:model")
        deltas = await collect(requester, ask("Ann asks: is my key key-of-the-house-1234?"))
    assert deltas[0] == TextDelta("The key is ***.")


@pytest.mark.parametrize(
    "error",
    [
        TransientModelError("Busy.", provider="openai", status=529, retry_after=2.0),
        ContextLengthError("Too long.", provider="openai", limit=100),
    ],
)
async def test_errors_of_the_model_are_replayed(error: Any, tmp_path: Path) -> None:
    with Cassette(tmp_path / "a.json") as cassette, pytest.raises(type(error)):
        await collect(cassette.requester(ScriptedRequester([error])))
    with Cassette(tmp_path / "a.json") as cassette, pytest.raises(type(error)) as raised:
        await collect(cassette.requester("scripted:model"))
    assert vars(raised.value) == vars(error)


async def test_answer_that_was_left_early_says_so_where_it_ends(tmp_path: Path) -> None:
    with Cassette(tmp_path / "a.json") as cassette:
        stream = cassette.requester(ScriptedRequester([["One ", "two ", "three"]])).stream(ask())
        await anext(stream)
        await stream.aclose()
    with Cassette(tmp_path / "a.json") as cassette:
        stream = cassette.requester("scripted:model").stream(ask())
        assert await anext(stream) == TextDelta("One ")
        with pytest.raises(ConfigError, match="its reader left it early"):
            await anext(stream)


def test_block_that_fails_records_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with Cassette(tmp_path / "a.json"):
            raise RuntimeError("the test failed")

    with pytest.raises(RuntimeError):
        fail()
    assert not (tmp_path / "a.json").exists()


def test_modes_decide_between_the_file_and_the_model(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.json"
    modes: list[tuple[CassetteMode, list[str]]] = [("auto", ["One."]), ("auto", []), ("record", ["Two."])]
    texts: list[str] = []
    for mode, replies in modes:
        with Cassette(path, mode=mode) as cassette:
            texts.append(Agent(model=cassette.requester(ScriptedRequester(replies))).input("Hi.").start())
    assert texts == ["One.", "One.", "Two."]


def test_broken_and_missing_files_and_wrong_names_are_clear_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with pytest.raises(ConfigError, match="Cannot read the cassette"):
        Cassette(path, mode="replay")
    path.write_text("[]")
    with pytest.raises(ConfigError, match="is not a cassette of format 1"):
        Cassette(path)
    path.write_text(json.dumps({"format": 1, "models": {"openai:a": {}}, "exchanges": []}))
    with pytest.raises(ConfigError, match=r"Unknown model 'openai:b'. Expected one of: openai:a"):
        Cassette(path).requester("openai:b")
    with pytest.raises(ConfigError, match="Unknown mode of a cassette 'once'"):
        Cassette(path, mode="once")  # type: ignore[arg-type]


def test_traffic_of_a_real_server_is_recorded_and_replayed_after_the_server_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(cassette: Cassette) -> tuple[list[str], dict[str, Any]]:
        agent = Agent(model=cassette.requester("openai:gpt-4.1-mini"))
        response = agent.input("A wood?").output({"wood": (str,)}).get_response()
        pieces = list(response.get_generator("delta"))
        return pieces, response.get_data()

    monkeypatch.setenv("DOVETAIL_API_KEY", "key-of-the-house-1234")
    with ScriptedServer([Reply(text='{"wood": "oak"}', cut=4)], key="key-of-the-house-1234") as server:
        monkeypatch.setenv("DOVETAIL_BASE_URL", server.url)
        monkeypatch.setattr("dovetail.agent.runtime._default", None)
        with Cassette(tmp_path / "a.json") as cassette:
            recorded = work(cassette)
    with Cassette(tmp_path / "a.json") as cassette:
        assert work(cassette) == recorded
    assert (len(recorded[0]), recorded[1]) == (4, {"wood": "oak"})
    assert "key-of-the-house" not in (tmp_path / "a.json").read_text()
