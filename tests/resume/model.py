"""The model of the matrix: what it answers depends on the conversation alone, so a lost turn shows at once.

Only the ids of calls are new in each answer, as those of real models are.

A question that begins with `job` is worked on by its plan: one list of calls for each turn, then a last
answer. Everything else gets a short answer.
"""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dovetail.data.text import to_text
from dovetail.events.call import ModelRequest, ToolCall
from dovetail.events.delta import ToolCallDelta
from dovetail.testing.replies import Gate, Reply, Step
from dovetail.testing.script import Script
from faults.brain import find_faults

_MARK = "~"
HELPER = "You are the helper of the resume matrix."
Message = Mapping[str, Any]
Plan = Sequence[Sequence[ToolCall]]


def make_call(name: str, key: str, **arguments: Any) -> ToolCall:
    """Return a call whose effect is found by its key."""
    given = {"query" if name == "helper" else "key": key, **arguments}
    return ToolCall(call_id=f"call-{key.replace(' ', '-')}", name=name, arguments=given)


def read_id(call_id: str) -> str:
    """Return the planned id of a call: the model adds a number to it each time it makes the call."""
    return call_id.partition(_MARK)[0]


def say(job: str, turn: int) -> str:
    """Return the text of a turn."""
    return f"[{job}, turn {turn}]"


@dataclass(frozen=True)
class Asked:
    """One request that the model received about a job."""

    job: str
    turn: int
    messages: Sequence[Message]


class Model(Script):
    """An endless script; `asked` are its requests, `complaints` are histories that APIs would reject."""

    def __init__(self) -> None:
        super().__init__(())
        self.plans: dict[str, Plan] = {}
        self.asked: list[Asked] = []
        self.complaints: list[str] = []
        self._numbers = itertools.count()
        self.is_brief = False  # whether it answers jobs in one turn
        self._holds: dict[tuple[str, int], tuple[Gate, bool]] = {}
        self._loop = asyncio.get_running_loop()

    def hold(self, job: str, turn: int, *, after_calls: bool = False) -> Gate:
        """Hold the next answer of a turn, before its first word or before its end."""
        gate = Gate(f"{job} {turn}")
        self._holds[job, turn] = (gate, after_calls)
        return gate

    def take(self, request: ModelRequest) -> Reply:
        """Return the next answer."""
        messages = request.messages
        self.complaints += find_faults(messages)
        place, job = _find_job(messages)
        turn = sum(message["role"] == "assistant" for message in messages[place:])
        self.asked.append(Asked(job, turn, messages))
        plan = self.plans.get(job)
        if plan is None or self.is_brief:
            return Reply(text=f"A short answer to {job}.")
        calls = [self._give_id(call) for call in plan[turn]] if turn < len(plan) else ()
        return self._answer(job, turn, calls)

    def _give_id(self, call: ToolCall) -> ToolCall:
        return replace(call, call_id=f"{call.call_id}{_MARK}{next(self._numbers)}")

    def _answer(self, job: str, turn: int, calls: Sequence[ToolCall]) -> Reply:
        reply = Reply(text=say(job, turn), tool_calls=calls, cut=8)
        gate, after_calls = self._holds.pop((job, turn), (None, False))
        if gate is None:
            return reply
        steps: list[Step] = [*reply.plan(), gate] if after_calls else [gate, *reply.plan()]
        finish = "tool-calls" if any(isinstance(step, ToolCallDelta) for step in steps) else "stop"
        return Reply(steps=steps, finish_reason=finish)


def _find_job(messages: Sequence[Message]) -> tuple[int, str]:
    """Return the place and the text of the question that is worked on."""
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    texts = {place: to_text(read_text(messages[place])) for place in users}
    jobs = [place for place in users if texts[place].startswith("job")]
    place = jobs[-1] if jobs and not texts[users[-1]].startswith("fork") else users[-1]
    return place, texts[place]


def read_text(message: Message) -> str:
    """Return the text of a message, whatever form its content has."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""
