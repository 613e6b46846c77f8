"""The questions of `dovetail models check`: what a model can do, how fast it answers and what that costs."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from dovetail.data.shapes import is_mapping
from dovetail.errors import DovetailError, TransientModelError
from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.events.delta import Usage
from dovetail.requesters.question import QUESTION, Answer, ask, say
from dovetail.requesters.requester import Requester

Verdict: TypeAlias = Literal["yes", "no", "unsure"]

ADD = ToolSpec(
    name="add",
    description="Add two whole numbers.",
    parameters={
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
)
COLOR = {
    "type": "object",
    "properties": {"color": {"type": "string", "enum": ["red", "green", "blue"]}},
    "required": ["color"],
    "additionalProperties": False,
}
RED = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP4z8BAEmIY1TCqYfhqAACQ+f8B8u7oVwAAAABJRU5ErkJggg=="
)
"""A red square of 16 by 16 pixels."""


@dataclass(slots=True)
class CheckResult:
    """What was found; `abilities` are verdicts with a remark, by name."""

    model: str
    answer: str
    first: float
    total: float
    speed: float | None
    usage: Usage
    abilities: dict[str, tuple[Verdict, str]] = field(default_factory=dict[str, tuple[Verdict, str]])
    window: int | None = None


async def check_model(requester: Requester, show: Callable[[str], None], limit: float = 60.0) -> CheckResult:
    """Ask a model one question, and three more for its abilities; `show` is called before each.

    Each answer may take `limit` seconds.

    Raises:
        ModelError: the model does not answer the first question.
    """
    show("text")
    answer = await _ask_within(limit, requester, ModelRequest(messages=say(QUESTION)))
    result = CheckResult(
        model=requester.model,
        answer=answer.text.strip(),
        first=answer.first,
        total=answer.total,
        speed=answer.speed,
        usage=answer.usage,
    )
    result.abilities["text"] = ("yes", "") if result.answer else ("no", "the answer is empty")
    answers = [answer]
    for name, (request, judge) in _TRIALS.items():
        show(name)
        try:
            tried = await _ask_within(limit, requester, request)
        except DovetailError as error:
            result.abilities[name] = _judge_error(error)
            continue
        answers.append(tried)
        result.abilities[name] = judge(tried, requester)
    thinks = any(each.reasoning or each.usage.reasoning_tokens for each in answers)
    result.abilities["reasoning"] = ("yes", "") if thinks else ("no", "none was sent; see model.thinking")
    result.usage = sum((each.usage for each in answers[1:]), answers[0].usage)
    return result


async def _ask_within(limit: float, requester: Requester, request: ModelRequest) -> Answer:
    hint = f"Pass --timeout {limit * 5:g} if the model needs more time, such as to be loaded."
    return await ask(requester, request, limit=limit, hint=hint)


def _judge_error(error: DovetailError) -> tuple[Verdict, str]:
    if isinstance(error, TransientModelError):
        return "unsure", error.message
    return "no", error.message


def _judge_call(answer: Answer, _: Requester) -> tuple[Verdict, str]:
    if answer.call != "add":
        return "unsure", "it answered in words instead of calling the tool"
    right = _read(answer.arguments) == {"a": 2, "b": 3}
    return ("yes", "") if right else ("unsure", f"it called the tool with {answer.arguments[:80]}")


def _judge_object(answer: Answer, requester: Requester) -> tuple[Verdict, str]:
    found = _read(answer.text)
    if not is_mapping(found) or list(found) != ["color"] or found["color"] not in ("red", "green", "blue"):
        return ("unsure" if requester.follows_schema else "no"), "the answer does not follow the schema"
    return "yes", "" if requester.follows_schema else "by the prompt; the server does not enforce it"


def _judge_image(answer: Answer, _: Requester) -> tuple[Verdict, str]:
    return ("yes", "") if "red" in answer.text.lower() else ("unsure", "it did not recognize a red square")


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


_TRIALS: dict[str, tuple[ModelRequest, Callable[[Answer, Requester], tuple[Verdict, str]]]] = {
    "tools": (
        ModelRequest(messages=say("Use the tool to add 2 and 3."), tools=[ADD]),
        _judge_call,
    ),
    "schema": (
        ModelRequest(
            messages=say('Which color has a clear sky? Answer as JSON: {"color": "red", "green" or "blue"}'),
            schema=COLOR,
        ),
        _judge_object,
    ),
    "images": (
        ModelRequest(
            messages=say(
                [
                    {"type": "text", "text": "Which color is this square? Answer in one word."},
                    {"type": "image", "data": RED, "media_type": "image/png"},
                ]
            )
        ),
        _judge_image,
    ),
}
