"""A run with agents below it is cut off after each of its events in turn, and continues from there."""

from collections import Counter
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent_host import Host
from dovetail.agents.definition import AgentDefinition
from dovetail.agents.prepare import prepare_loop
from dovetail.events.call import Kind, ModelRequest, ToolCall
from dovetail.events.cancel import CancelSignal
from dovetail.events.delta import Usage
from dovetail.events.model_events import ModelRequestEvent, ModelResponseEvent, ToolInputEnd
from dovetail.events.run_context import RunContext, current_context
from dovetail.events.run_events import Entry, Event, RunEnd, RunStart, ToolEnd, ToolStart, TurnEnd
from dovetail.events.run_result import RunResult
from dovetail.events.tool_context import ToolContext
from dovetail.loop.budget import Budget, BudgetLimits
from dovetail.loop.repetition import REPEATS
from dovetail.loop.replay import replay
from dovetail.loop.resume import resume_loop
from dovetail.runs.journal import Block, Journal
from dovetail.runs.recovery import repair
from dovetail.testing.replies import Reply
from dovetail.testing.script import Script
from dovetail.tools.tool import Tool

ROOT = ("r",)
LEAP = 100_000
REPORT = {"cost": 3, "done": True}
PLANS: dict[str, list[list[tuple[str, dict[str, Any]]]]] = {
    "root": [[("boss", {"query": "a"}), ("scout", {"query": "b"})]],
    "boss": [[("note", {"key": "1"}), ("note", {"key": "2"})], [("worker", {"query": "c"})]],
    "worker": [[("spend", {"key": "3"})], [("complete_task", {"result": REPORT})]],
    "scout": [[("look", {"key": "4"})]],
}
"""What each agent calls in its turns; after them it answers in text."""


class Planner(Script):
    """A model that finds its place in the plan from the conversation alone."""

    def take(self, request: ModelRequest) -> Reply:
        system = str(request.messages[0]["content"])
        agent = system.removeprefix("You are ").removesuffix(".")
        turn = sum(message["role"] == "assistant" for message in request.messages)
        plan = PLANS[agent][turn] if turn < len(PLANS[agent]) else []
        calls = [
            ToolCall(
                call_id=f"{agent}-{turn}-{place}", name=self.rename(name), arguments=self.wrap(name, args)
            )
            for place, (name, args) in enumerate(plan)
        ]
        text = "" if calls else f"{agent} is done."
        return Reply(text=text, tool_calls=calls, usage=Usage(10, 2))

    def rename(self, name: str) -> str:
        return name

    def wrap(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        return args


class Dispatching(Planner):
    """The same model with all agents behind one tool."""

    def rename(self, name: str) -> str:
        return "sub-agent" if name in PLANS else name

    def wrap(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        return {"name": name, "inputs": args} if name in PLANS else args


@dataclass
class Life:
    """One process in which the run works: its journal, the effects of its tools, and what it asked."""

    journal: Journal = field(default_factory=lambda: Journal("r"))
    shape: str = "tools"
    effects: list[str] = field(default_factory=list[str])
    asked: list[tuple[tuple[str, ...], str]] = field(default_factory=list[tuple[tuple[str, ...], str]])
    is_abandoned: bool = False

    @property
    def is_resumed(self) -> bool:
        return self.journal.is_resumed

    async def flush(self) -> None:
        return None

    async def confirm(self) -> None:
        return None

    async def history(self) -> list[Entry]:
        return self.journal.after(0)

    @contextmanager
    def attend(self, run_id: str, cancel: CancelSignal) -> Generator[None]:
        yield

    async def close_children(self, path: tuple[str, ...], keep: Collection[str]) -> None:
        self.journal.close_children(path, keep)

    async def ask(
        self, kind: str, call_id: str, payload: Mapping[str, Any], time_limit: float | None, /
    ) -> Mapping[str, Any]:
        self.asked.append((current_context().run_path, call_id))
        return {"approved": True}

    async def live(self) -> RunResult:
        host = self._make_host()
        loop = prepare_loop(host, _define("root", "*"))
        done = replay(self.journal.after(0), ROOT)
        context = RunContext(
            run_path=ROOT,
            agent_path=("root",),
            emit=self._emit,
            ask=self.ask,
            journal=self,
            budget=Budget(BudgetLimits(depth=2, width=2, total=3), spent=done.spent),
        )
        messages = [{"role": "system", "content": "You are root."}, {"role": "user", "content": "Go."}]
        result = await resume_loop(loop, messages, context, done)
        self.journal.close_calls()
        return result

    def _emit(self, event: Event, /) -> None:
        self.journal.append(event, ROOT)

    def _make_host(self) -> Host:
        tools = [
            self._make_tool("note", Kind.Other),
            self._make_tool("spend", Kind.Execute),
            self._make_tool("look", Kind.Read, idempotent=True),
        ]
        host = Host([], *tools)
        host.settings.set("subagents.shape", self.shape)
        host.settings.set("policy.mode", "default")
        host.runtime.scripted.script = Planner([]) if self.shape == "tools" else Dispatching([])
        host.offer(
            _define("boss", "note", "worker", "spend"),
            _define("worker", "spend", output_config={"schema": {"type": "object"}}),
            _define("scout", "look"),
        )
        return host

    def _make_tool(self, name: str, kind: Kind, **choices: Any) -> Tool:
        async def execute(args: dict[str, Any], context: ToolContext) -> str:
            self.effects.append(f"{name} {args['key']}")
            return f"{name} {args['key']} is done"

        schema = {"type": "object", "properties": {"key": {"type": "string"}}}
        return Tool(name=name, description=name, parameters=schema, execute=execute, kind=kind, **choices)


def _define(name: str, *tools: str, **config: Any) -> AgentDefinition:
    prompt = {"system_prompt": f"You are {name}."}
    return AgentDefinition(
        name=name, description=name, prompt_config=prompt, tool_config={"tools": tools}, **config
    )


async def live_once(shape: str) -> tuple[Life, list[Block], RunResult]:
    first = Life(shape=shape)
    first.journal.append(RunStart("root", "", 0, None), ROOT)
    result = await first.live()
    return first, first.journal.take_unsaved(), result


def live_again(blocks: list[Block], shape: str) -> Life:
    again = Life(shape=shape)
    again.journal.extend(blocks)
    repair(again.journal, again.journal.last + LEAP)
    return again


def events_of(journal: Journal, kind: type, after: int = 0) -> list[Any]:
    return [entry for entry in journal.after(after) if isinstance(entry.event, kind)]


@pytest.mark.parametrize("shape", ["tools", "dispatcher"])
async def test_a_tree_of_agents_continues_from_wherever_it_was_cut_off(shape: str) -> None:
    first, blocks, whole = await live_once(shape)
    assert (whole.text, whole.turns) == ("root is done.", 2)
    assert sorted(first.effects) == ["look 4", "note 1", "note 2", "spend 3"]
    assert [call for _, call in first.asked] == ["worker-0-0"]
    for cut in range(1, len(blocks) + 1):
        again = live_again(blocks[:cut], shape)
        result = await again.live()
        found = f"cut after {cut}: {blocks[cut - 1].event}"
        assert (result.text, result.turns, result.reason) == ("root is done.", 2, "goal"), found
        assert result.usage == whole.usage, found
        _check_tree(again.journal, found)
        _check_work(again, blocks[:cut], found)


def _check_tree(journal: Journal, found: str) -> None:
    """Check that each child began and ended once, with all of its calls."""
    starts = [entry.path for entry in events_of(journal, RunStart)]
    ends = Counter(entry.path for entry in events_of(journal, RunEnd))
    assert sorted(map(len, starts)) == [1, 2, 2, 3], found
    assert [ends[path] for path in starts if len(path) > 1] == [1, 1, 1], found
    assert {entry.event.reason for entry in events_of(journal, RunEnd)} == {"goal"}, found
    made = {(entry.path, entry.event.call_id) for entry in events_of(journal, ToolInputEnd)}
    results = Counter((entry.path, entry.event.call_id) for entry in events_of(journal, ToolEnd))
    assert results == Counter(made), found


def _check_work(again: Life, before: list[Block], found: str) -> None:
    """Check that nothing which was stored is asked for or done again."""
    answered = {(block.path, block.event.turn) for block in before if _is_answer(block.event)}
    asked = {(entry.path, entry.event.turn) for entry in events_of(again.journal, ModelRequestEvent, LEAP)}
    assert not answered & asked, found
    started = {block.event.call_id for block in before if isinstance(block.event, ToolStart)}
    names = {"boss-0-0": "note 1", "boss-0-1": "note 2", "worker-0-0": "spend 3"}
    assert not {names[call] for call in started if call in names} & set(again.effects), found
    assert len(again.effects) == len(set(again.effects)), found


def _is_answer(event: Event) -> bool:
    return isinstance(event, TurnEnd) or (isinstance(event, ModelResponseEvent) and event.purpose == "answer")


async def test_a_child_that_had_ended_hands_over_its_stored_result() -> None:
    first, blocks, _ = await live_once("tools")
    end = next(
        place
        for place, block in enumerate(blocks)
        if isinstance(block.event, RunEnd) and len(block.path) == 3
    )
    again = live_again(blocks[: end + 1], "tools")
    await again.live()
    stored, repeated = (
        next(entry.event for entry in events_of(life.journal, ToolEnd) if entry.event.call_id == "boss-1-0")
        for life in (first, again)
    )
    assert repeated.result == stored.result
    assert repeated.result["data"] == REPORT
    assert again.asked == []


async def test_an_agent_that_a_tool_ran_by_itself_ends_as_interrupted() -> None:
    life = Life()
    for event in (RunStart("root", "", 0, None), ToolInputEnd("c", "look", {"key": "4"})):
        life.journal.append(event, ROOT)
    life.journal.append(ToolStart("c", "read", "Look"), ROOT)
    for event in (RunStart("scout", "", 0, None), ToolInputEnd("x", "note", {"key": "1"})):
        life.journal.append(event, ("r", "own"))
    life.journal.append(RunStart("scout", "", 0, None, "c"), ("r", "given"))
    again = live_again(life.journal.take_unsaved(), "tools")
    await again.live()
    ends = {entry.path: entry.event.reason for entry in events_of(again.journal, RunEnd)}
    assert (ends["r", "own"], ends["r", "given"]) == ("interrupted", "interrupted")
    assert again.effects[0] == "look 4"


async def test_a_call_of_an_agent_that_is_gone_ends_together_with_what_it_had_begun() -> None:
    life = Life()
    for event in (RunStart("root", "", 0, None), ToolInputEnd("c", "former", {"query": "x"})):
        life.journal.append(event, ROOT)
    life.journal.append(ToolStart("c", "think", "Former"), ROOT)
    life.journal.append(RunStart("former", "", 0, None, "c"), ("r", "f"))
    life.journal.append(ToolInputEnd("x", "spend", {"key": "3"}), ("r", "f"))
    life.journal.append(ModelResponseEvent(1, Usage()), ("r", "f"))
    again = live_again(life.journal.take_unsaved(), "tools")
    await again.live()
    ended = {entry.event.call_id: entry.event for entry in events_of(again.journal, ToolEnd)}
    assert "whether it had an effect is not known" in ended["c"].result["llm_content"]
    assert ended["x"].error["type"] == "not_started"
    assert next(entry.event.reason for entry in events_of(again.journal, RunEnd)) == "interrupted"


async def test_a_model_that_repeats_its_calls_is_stopped_although_it_was_interrupted_in_between() -> None:
    first = RunStart("root", "", 0, None)
    life = Life()
    life.journal.append(first, ROOT)
    for turn in range(1, REPEATS):
        call_id = f"c{turn}"
        for event in (
            ToolInputEnd(call_id, "look", {"key": "4"}),
            ToolEnd(call_id, "ok", {"llm_content": "nothing"}),
            TurnEnd(turn, Usage(), "tool-calls"),
        ):
            life.journal.append(event, ROOT)
    life.journal.append(ToolInputEnd("last", "look", {"key": "4"}), ROOT)
    life.journal.append(ModelResponseEvent(REPEATS, Usage()), ROOT)
    again = live_again(life.journal.take_unsaved(), "tools")
    result = await again.live()
    assert again.effects == ["look 4"]
    assert result.limit == "no-completion"
