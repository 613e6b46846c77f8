"""Journals of runs: a long one with every kind of event, and random ones."""

import random
from collections.abc import Iterable, Iterator
from typing import Any

from hypothesis import strategies as st

from dovetail.events.delta import Usage
from dovetail.events.model_events import (
    ModelRequestEvent,
    ModelResponseEvent,
    ReasoningDeltaEvent,
    ReasoningEnd,
    ReasoningStart,
    TextDeltaEvent,
    TextEnd,
    TextStart,
    ToolInputDeltaEvent,
    ToolInputEnd,
    ToolInputStart,
)
from dovetail.events.run_events import (
    AskAnswer,
    AskRequest,
    Entry,
    Event,
    RunEnd,
    RunResume,
    RunStart,
    ToolEnd,
    ToolHold,
    ToolProgress,
    ToolStart,
    TurnEnd,
    TurnReset,
    UserMessage,
)

ROOT = ("run",)
CHILD = ("run", "child")
TOOLS: dict[str, dict[str, Any]] = {
    "look": {"title": "Look", "kind": "read", "needs_tab": False},
    "write": {"title": "Write", "kind": "write", "needs_tab": False},
    "open": {"title": "Open", "kind": "other", "needs_tab": True},
}
"""The tools that a stream describes; a call of any other is an unknown tool."""


def number_entries(events: Iterable[tuple[tuple[str, ...], Event]]) -> list[Entry]:
    """Return the events as entries of one journal."""
    return [
        Entry(number, path[0], path, 1_000.0 + number / 4, event)
        for number, (path, event) in enumerate(events, start=1)
    ]


def _long_run() -> Iterator[tuple[tuple[str, ...], Event]]:
    yield ROOT, RunStart("master", "large", 3, "session")
    yield ROOT, ModelRequestEvent(1, "large", ({"role": "user", "content": "Hi"},), tools=("look",))
    yield ROOT, ReasoningStart("reasoning-1-1")
    yield ROOT, ReasoningDeltaEvent("reasoning-1-1", "Let me ")
    yield ROOT, ReasoningDeltaEvent("reasoning-1-1", "see.\n")
    yield ROOT, ReasoningEnd("reasoning-1-1")
    yield ROOT, TextStart("text-1-2")
    yield ROOT, TextDeltaEvent("text-1-2", 'I "look" at 世界\u2028\n')
    yield ROOT, TextDeltaEvent("text-1-2", "first.")
    yield ROOT, TextEnd("text-1-2")
    for call_id, name in (("c1", "look"), ("c2", "write"), ("c3", "write"), ("c4", "open"), ("c5", "lost")):
        yield ROOT, ToolInputStart(call_id, name)
        yield ROOT, ToolInputDeltaEvent(call_id, '{"key":')
        yield ROOT, ToolInputDeltaEvent(call_id, ' "v"}')
    for call_id, name in (("c1", "look"), ("c2", "write"), ("c3", "write"), ("c4", "open"), ("c5", "lost")):
        yield ROOT, ToolInputEnd(call_id, name, {"key": "v", "of": call_id})
    yield ROOT, ModelResponseEvent(1, Usage(20, 9))
    yield ROOT, ToolEnd("c5", "error", None, {"type": "tool_error", "message": "Unknown tool."})
    yield ROOT, ToolHold(("c2", "c3"))
    yield ROOT, AskRequest("a2", "approval", "c2", {"tool": "write", "title": "Write a note"}, 30.0)
    yield ROOT, AskRequest("a3", "approval", "c3", {"tool": "write"})
    yield ROOT, AskAnswer("a3", {"approved": False, "reason": "No."})
    yield ROOT, ToolEnd("c3", "denied", {"llm_content": "declined"}, {"message": "The user declined."})
    yield ROOT, AskAnswer("a2", {"approved": True})
    yield ROOT, ToolStart("c1", "read", "Look around")
    yield ROOT, ToolStart("c2", "write", "Write a note")
    yield ROOT, ToolProgress("c1", {"done": 0.5})
    yield ROOT, ToolStart("c4", "other", "Open a page")
    yield ROOT, AskRequest("a4", "browser", "c4", {"url": "https://a.example"}, 30.0)
    yield CHILD, RunStart("helper", "small", 3, None, "c2")
    yield CHILD, ModelRequestEvent(1, "small", ({"role": "user", "content": "Help"},))
    yield CHILD, TextStart("text-1-1")
    yield CHILD, TextDeltaEvent("text-1-1", "Helping.")
    yield CHILD, ToolInputEnd("c1", "write", {"deep": True})
    yield CHILD, AskRequest("a5", "approval", "c1", {"title": "Write below"})
    yield ROOT, ToolEnd("c1", "ok", {"llm_content": "seen", "data": {"seen": 1}}, None, 0.25)
    yield CHILD, AskAnswer("a5", {"status": "timeout"})
    yield CHILD, ToolEnd("c1", "denied", None, {"message": "Nobody answered."})
    yield CHILD, RunEnd("max-turns", "half", Usage(3, 2))
    yield ROOT, AskAnswer("a4", {"status": "success", "output": "opened"})
    yield ROOT, ToolEnd("c4", "ok", {"llm_content": "opened", "return_display": "# Opened"}, None, 1.5)
    yield ROOT, ToolEnd("c2", "timeout", None, {"type": "timeout", "message": "Timed out."}, 30.0)
    yield ROOT, TurnEnd(1, Usage(20, 9), "tool-calls")
    yield ROOT, TextStart("text-2-1")
    yield ROOT, TextDeltaEvent("text-2-1", "Void ")
    yield ROOT, ToolInputStart("c6", "look")
    yield ROOT, RunResume(58)
    yield ROOT, TurnReset()
    yield ROOT, TextStart("text-2-1")
    yield ROOT, TextDeltaEvent("text-2-1", "Again: ")
    yield ROOT, TextEnd("text-2-1")
    yield ROOT, ToolInputStart("c6", "look")
    yield ROOT, ToolEnd("c6", "interrupted", None, {"type": "interrupted", "message": "It broke off."})
    yield ROOT, ModelResponseEvent(2, Usage(5, 1), "summary")
    yield ROOT, TurnEnd(2, Usage(25, 4, 3, 2), "stop")
    yield ROOT, TextStart("text-3-1")
    yield ROOT, TextDeltaEvent("text-3-1", "Done.")
    error = {"type": "model_error", "message": "Rate limit exceeded.", "hint": "Wait."}
    yield ROOT, RunEnd("error", None, Usage(50, 15), error)


LONG_RUN = number_entries(_long_run())


class _Maker:
    """Makes the events of one run as a loop would, in random order."""

    def __init__(self, chance: random.Random, path: tuple[str, ...] = ROOT) -> None:
        self.chance = chance
        self.path = path
        self.calls = 0
        self.breaks = 0

    def happens(self, share: float) -> bool:
        return self.chance.random() < share

    def run(self, parent_call_id: str | None = None) -> Iterator[tuple[tuple[str, ...], Event]]:
        yield self.path, RunStart("agent", "model", 1, None, parent_call_id)
        for turn in range(1, self.chance.randint(1, 3) + 1):
            yield from self.message(f"m{turn}")
            while len(self.path) == 1 and self.happens(0.2):
                yield from self.broken_off(turn)
                self.breaks += 1
                yield from self.message(f"m{turn}-{self.breaks}")
            yield from self.turn(turn)
        yield self.path, RunEnd(self.chance.choice(("goal", "max-tokens", "timeout")), "result", Usage(2, 3))

    def message(self, message_id: str) -> Iterator[tuple[tuple[str, ...], Event]]:
        if len(self.path) == 1 and self.happens(0.3):
            parts = ({"type": "text", "text": "Wait."},)
            content = ({"role": "user", "content": "Wait."},)
            yield self.path, UserMessage(message_id, "steer", parts, content)

    def broken_off(self, turn: int) -> Iterator[tuple[tuple[str, ...], Event]]:
        said = [*self.texts(turn), *self.inputs(["void"])]
        for event in said[: self.chance.randint(0, len(said))]:
            yield self.path, event
        yield self.path, RunResume(1)
        yield self.path, TurnReset()

    def turn(self, turn: int) -> Iterator[tuple[tuple[str, ...], Event]]:
        call_ids = [f"c{turn}-{index}" for index in range(self.chance.randint(0, 3))]
        names = {call_id: self.chance.choice((*TOOLS, "lost")) for call_id in call_ids}
        for event in (*self.texts(turn), *self.inputs(call_ids, names)):
            yield self.path, event
        yield self.path, ModelResponseEvent(turn, Usage(1, 1))
        if call_ids:
            yield self.path, ToolHold(tuple(call_ids))
        ways = [self.call(call_id) for call_id in call_ids]
        while ways:
            way = self.chance.choice(ways)
            step = next(way, None)
            if step is None:
                ways.remove(way)
            else:
                yield step
        yield self.path, TurnEnd(turn, Usage(1, 1), "stop")

    def texts(self, turn: int) -> Iterator[Event]:
        for segment in range(self.chance.randint(0, 3)):
            is_text = self.happens(0.6)
            identity = f"{'text' if is_text else 'reasoning'}-{turn}-{segment}"
            yield TextStart(identity) if is_text else ReasoningStart(identity)
            for _ in range(self.chance.randint(0, 3)):
                delta = self.chance.choice(("a", "é\n", '"\\', "世 界 ", "\u2028"))
                yield TextDeltaEvent(identity, delta) if is_text else ReasoningDeltaEvent(identity, delta)
            yield TextEnd(identity) if is_text else ReasoningEnd(identity)

    def inputs(self, call_ids: list[str], names: dict[str, str] | None = None) -> Iterator[Event]:
        for call_id in call_ids:
            yield ToolInputStart(call_id, (names or {}).get(call_id, "look"))
            yield ToolInputDeltaEvent(call_id, '{"a":1}')
        for call_id in call_ids:
            yield ToolInputEnd(call_id, (names or {}).get(call_id, "look"), {"a": self.chance.random()})

    def call(self, call_id: str) -> Iterator[tuple[tuple[str, ...], Event]]:
        ask_id = "/".join((*self.path, call_id))
        if self.happens(0.3):
            payload = {"title": "Ask"} if self.happens(0.5) else {}
            yield self.path, AskRequest(ask_id, "approval", call_id, payload)
            is_approved = self.happens(0.6)
            yield self.path, AskAnswer(ask_id, {"approved": True} if is_approved else {"status": "timeout"})
            if not is_approved:
                yield self.path, ToolEnd(call_id, "denied", None, {"message": "Declined."})
                return
        if self.happens(0.9):
            yield self.path, ToolStart(call_id, "read", f"Do {call_id}")
            yield from self.work(call_id, ask_id)
        result = self.chance.choice(({"llm_content": "a", "data": [1]}, {"llm_content": "b"}, "c", None))
        if self.happens(0.7):
            yield self.path, ToolEnd(call_id, "ok", result, None, 0.5)
        else:
            yield self.path, ToolEnd(call_id, "error", None, self.chance.choice(({"message": "No."}, None)))

    def work(self, call_id: str, ask_id: str) -> Iterator[tuple[tuple[str, ...], Event]]:
        for step in range(self.chance.randint(0, 2)):
            yield self.path, ToolProgress(call_id, step)
        if self.happens(0.2):
            yield self.path, AskRequest(f"{ask_id}/tab", "browser", call_id, {})
            yield self.path, AskAnswer(f"{ask_id}/tab", {"status": "success"})
        if len(self.path) < 3 and self.happens(0.3):
            child = (*self.path, f"{self.path[-1]}.{self.calls}")
            self.calls += 1
            yield from _Maker(self.chance, child).run(call_id)


def make_journal(chance: random.Random) -> list[Entry]:
    """Return a random journal; some end in the middle, like those of cancelled runs."""
    events = list(_Maker(chance).run())
    if chance.random() < 0.3:
        events = [*events[: chance.randint(1, len(events))], (ROOT, RunEnd("cancelled", None, Usage(1, 1)))]
    return number_entries(events)


def journals() -> st.SearchStrategy[list[Entry]]:
    """Random journals, drawn as one number: a journal has too many choices to draw each."""
    return st.integers(min_value=0, max_value=2**32).map(lambda seed: make_journal(random.Random(seed)))
