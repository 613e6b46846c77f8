"""The model of the soak: it plans each job from the seed, and gives every call an id that was never there.

A question that begins with `job` is worked on by its plan. Other messages of users, such as news and
steering, change nothing about the plan, so a lost or repeated turn shows at once.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.events.call import ModelRequest, ToolCall
from dovetail.ids import new_id
from dovetail.testing.replies import Reply
from faults.brain import HELPER, Brain, find_faults, say
from soak.workspace import CLERK

TASK = "task"
"""A plan's word for the helper in the background."""
PLANS = (
    ("note",),
    ("look", "look", "look"),
    ("spend",),
    ("note", "spend"),
    ("pick",),
    ("helper",),
    ("helper", "helper"),
    ("helper", "note"),
    (TASK,),
    (TASK, "note"),
    ("clerk",),
    ("clerk", "helper"),
)
DELAY = 0.004
Message = Mapping[str, Any]


def plan_job(job: str, seed: int) -> list[tuple[str, ...]]:
    """Return the calls of each turn of a job, without the last turn, which only answers."""
    chance = random.Random(f"{seed} {job}")
    return [chance.choice(PLANS) for _ in range(chance.randint(0, 3))]


class SoakBrain(Brain):
    """An endless script of these plans; `complaints` are histories that model APIs would reject."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.requests = 0

    def take(self, request: ModelRequest) -> Reply:
        """Return the next answer."""
        messages = request.messages
        self.requests += 1
        self.complaints += find_faults(messages)
        is_clerk = _is_said(CLERK, messages)
        is_helper = is_clerk or _is_said(HELPER, messages)
        place = find_question(messages, is_helper)
        job = str(messages[place]["content"])
        turn = sum(message["role"] == "assistant" for message in messages[place:])
        if is_clerk:
            return _count(job, turn)
        if is_helper:
            calls = [make_call(name, f"{job}/{name}") for name in ("note", "spend")[turn : turn + 1]]
            return Reply(text="" if calls else f"helped with {job}", tool_calls=calls, delay=DELAY)
        plan = plan_job(job, self.seed)
        names = plan[turn] if turn < len(plan) else ()
        calls = [make_call(name, f"{job}/{turn}/{number}") for number, name in enumerate(names)]
        return Reply(text=say(job, turn), tool_calls=calls, cut=6, delay=DELAY)


def count_letters(task: str) -> dict[str, Any]:
    """Return the result that the clerk must hand in."""
    return {"what": task, "letters": len(task)}


def _count(task: str, turn: int) -> Reply:
    """Note something first, and hand in a result of the wrong type before the right one."""
    given = [
        ("note", {"key": f"{task}/note"}),
        ("complete_task", {"count": {"what": task, "letters": "many"}}),
        ("complete_task", {"count": count_letters(task)}),
    ][min(turn, 2)]
    call = ToolCall(call_id=new_id("call"), name=given[0], arguments=given[1])
    return Reply(text="", tool_calls=[call], delay=DELAY)


def _is_said(prompt: str, messages: Sequence[Message]) -> bool:
    return any(prompt in str(message["content"]) for message in messages[:2])


def find_question(messages: Sequence[Message], is_helper: bool) -> int:
    """Return the place of the question that is worked on."""
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    jobs = [place for place in users if str(messages[place]["content"]).startswith("job")]
    return (users if is_helper or not jobs else jobs)[0 if is_helper else -1]


def make_call(name: str, key: str) -> ToolCall:
    """Return a call with a new id, as those of real models are."""
    if name == "clerk":
        return ToolCall(call_id=new_id("call"), name=name, arguments={"task": key})
    if name not in ("helper", TASK):
        return ToolCall(call_id=new_id("call"), name=name, arguments={"key": key})
    given: dict[str, Any] = {"task": key, **({"background": True} if name == TASK else {})}
    return ToolCall(call_id=new_id("call"), name="helper", arguments=given)
