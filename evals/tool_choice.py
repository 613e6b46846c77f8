"""Check how well an embedded model calls tools: `python -m evals.tool_choice [model] [way] [set]`.

The questions of a set (`held-back` unless `tuning` is named) are asked in two ways: in the judging request of
rule A40 (`judge`), and by function calling as in a chat (`native`). A call counts if the tool and its
arguments are right. Then two conversations that end with a tool's result, which must be answered in text.
"""

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dovetail.events.call import ChatMessage, ModelRequest, ToolSpec
from dovetail.events.delta import TextDelta, ToolCallDelta
from dovetail.loop.judged import Choices, Plan, confirm_plan, open_plan, read_plan
from dovetail.prompt import Prompt
from dovetail.requesters.local.requester import LocalRequester
from dovetail.requesters.local.weights import require
from dovetail.schema.notation import read_parameters
from dovetail.settings import default_settings
from dovetail.tools import Tool, ToolContext
from dovetail.tools.snapshot import ToolSnapshot
from evals.questions import HELD_BACK, TUNING, QuestionSet

NEEDED = {"held-back": 57, "tuning": 30}
SETS = {each.name: each for each in (HELD_BACK, TUNING)}
Calls = list[tuple[str, Any]]
"""The calls of one turn: name and arguments."""


async def never_called(args: dict[str, Any], context: ToolContext) -> None:
    """Do nothing: only the choice is checked."""


def after_result(question: str, name: str, arguments: Any, result: str) -> list[ChatMessage]:
    """Return a conversation that ends with a tool's result."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {"role": "user", "content": question},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


RESULTS: list[tuple[list[ChatMessage], str]] = [
    (after_result("What is 127 * 49?", "calculator", {"expression": "127 * 49"}, "6223"), "6223"),
    (after_result("Is it snowing in Oslo?", "weather", {"city": "Oslo"}, "heavy snow, -4 °C"), "snow"),
]


async def ask(
    model: LocalRequester, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]
) -> tuple[Calls, str]:
    """Return the calls of one turn, and its text."""
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    said = ""
    request = ModelRequest(messages=messages, tools=tools, options={"max_tokens": 1})
    if messages[-1]["role"] == "tool":
        request = replace(request, options={"max_tokens": 40})
    async for delta in model.stream(request):
        if isinstance(delta, ToolCallDelta):
            names[delta.index] = delta.name or names.get(delta.index, "")
            arguments[delta.index] = arguments.get(delta.index, "") + delta.arguments
        elif isinstance(delta, TextDelta):
            said += delta.text
    return [(name, read_arguments(arguments[index])) for index, name in names.items()], said


def read_arguments(text: str) -> Any:
    """Return the arguments of a call; the text itself if it is not JSON."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


async def judge(model: LocalRequester, question: str, tools: Sequence[ToolSpec]) -> Calls:
    """Return the call that the judging request names, if any."""
    settings = default_settings()
    snapshot = ToolSnapshot.of(
        Tool(name=spec.name, description=spec.description, parameters=spec.parameters, execute=never_called)
        for spec in tools
    )
    listed = [
        {"name": tool.name, "desc": tool.description, "kwargs": read_parameters(tool.parameters)}
        for tool in snapshot
    ]
    choices = Choices.make(model, snapshot, listed)
    prompt = Prompt({"input": question}, settings=settings)
    response = open_plan(prompt, settings, model, choices)
    try:
        plan = await confirm_plan(await read_plan(response, choices), prompt, model, snapshot)
    finally:
        response.cancel()
    return [(plan.tool_name, plan.tool_kwargs)] if isinstance(plan, Plan) else []


async def call(model: LocalRequester, question: str, tools: Sequence[ToolSpec]) -> Calls:
    """Return the calls that the model makes by itself, if any."""
    calls, _ = await ask(model, [{"role": "user", "content": question}], tools)
    return calls


WAYS = {"judge": judge, "native": call}


async def count(model: LocalRequester, way: str, asked: QuestionSet) -> int:
    """Return for how many questions the right call was made, or rightly none."""
    right, begin = 0, time.monotonic()
    for question in asked.questions:
        began = time.monotonic()
        calls = await WAYS[way](model, question.text, asked.tools)
        name, arguments = calls[0] if calls else (None, {})
        is_right = question.check(name, arguments if isinstance(arguments, dict) else {})
        right += is_right
        show(is_right, question.text, f"{name or 'answer'}: {arguments}", time.monotonic() - began)
    seconds = (time.monotonic() - begin) / len(asked.questions)
    total = len(asked.questions)
    print(f"{asked.name}, {way}: {right} of {total} right, {seconds:.1f} s each", flush=True)
    return right


async def main(name: str, ways: Sequence[str], asked: QuestionSet) -> int:
    """Ask all questions and print the score; return the exit code."""
    model = LocalRequester(require(name), f"local:{name}")
    right = [await count(model, way, asked) for way in ways]
    answered = 0
    for messages, word in RESULTS:
        begin = time.monotonic()
        calls, said = await ask(model, messages, TUNING.tools)
        is_right = not calls and word in said
        answered += is_right
        show(is_right, f"{messages[0]['content']} (with a result)", said, time.monotonic() - begin)
    await model.close()
    print(f"{answered} of {len(RESULTS)} results answered in text")
    return 0 if min(right) >= NEEDED[asked.name] and answered == len(RESULTS) else 1


def show(is_right: bool, question: str, said: str, seconds: float) -> None:
    """Print one line for one question."""
    print(f"{'ok   ' if is_right else 'WRONG'} {seconds:5.1f} s  {question}  →  {said!r}", flush=True)


if __name__ == "__main__":
    given = sys.argv[1:]
    ways = [word for word in given if word in WAYS] or list(WAYS)
    chosen_set = next((SETS[word] for word in given if word in SETS), HELD_BACK)
    names = [word for word in given if word not in WAYS and word not in SETS] or ["good"]
    sys.exit(asyncio.run(main(names[0], ways, chosen_set)))
