"""The model of the fault tests: it plans from the seed alone, and checks every history it receives.

Its next answer depends on the number of its answers since the last question, so a lost or repeated turn
shows at once.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.events.call import ModelRequest, ToolCall
from dovetail.testing.replies import Reply
from dovetail.testing.script import Script

PLANS = (
    ("note",),
    ("note", "note"),
    ("look", "look", "look"),
    ("spend",),
    ("note", "spend"),
    ("pick",),
    ("helper",),
    ("helper", "note"),
)
HELPER = "You are the helper of the fault tests."
HELPER_FILE = f"""---
name: helper
description: Does a task with tools of its own.
inputs:
  task: {{type: string, description: What to do., required: true}}
query: "${{task}}"
tools: [note, spend]
---
{HELPER}
"""


def plan_job(job: str, seed: int) -> list[tuple[str, ...]]:
    """Return the tools that each turn of a job calls, without the last turn, which only answers."""
    chance = random.Random(f"{seed} {job}")
    return [chance.choice(PLANS) for _ in range(chance.randint(1, 3))]


def say(job: str, turn: int) -> str:
    """Return the model's text in a turn of a job."""
    return f"[{job} turn {turn}: a few words to be cut somewhere]"


class Brain(Script):
    """An endless script; `complaints` are histories that model APIs would reject."""

    def __init__(self, seed: int) -> None:
        super().__init__(())
        self.seed = seed
        self.complaints: list[str] = []

    def take(self, request: ModelRequest) -> Reply:
        """Return the next answer."""
        messages = request.messages
        self.complaints += find_faults(messages)
        question = max(place for place, message in enumerate(messages) if message["role"] == "user")
        turn = sum(message["role"] == "assistant" for message in messages[question:])
        said = str(messages[question]["content"])
        if any(HELPER in str(message["content"]) for message in messages[:question]):
            return self._help(said, turn)
        return self._work(said, turn)

    def _work(self, job: str, turn: int) -> Reply:
        plan = plan_job(job, self.seed)
        names = plan[turn] if turn < len(plan) else ()
        calls = [_call(place, name, f"{job}/{turn}/{place}") for place, name in enumerate(names)]
        return Reply(text=say(job, turn), tool_calls=calls, cut=6, delay=0.004)

    def _help(self, task: str, turn: int) -> Reply:
        calls = [_call(0, name, f"{task}/{name}") for name in ("note", "spend")[turn : turn + 1]]
        return Reply(text="" if calls else f"helped with {task}", tool_calls=calls, delay=0.004)


def _call(place: int, name: str, key: str) -> ToolCall:
    """Return a call of a model that restarts the count of its calls in every answer, as some do."""
    arguments = {"task": key} if name == "helper" else {"key": key}
    return ToolCall(call_id=f"call_{place}", name=name, arguments=arguments)


def find_faults(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the problems of a history: each call needs exactly one result, right after it."""
    faults: list[str] = []
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                faults.append(f"a result without a call: {message}")
            else:
                waiting.remove(message["tool_call_id"])
        else:
            faults += [f"no result for {call_id}" for call_id in waiting]
            waiting = [call["id"] for call in message.get("tool_calls") or ()]
    return faults + [f"no result for {call_id}" for call_id in waiting]
