"""Check how well an embedded model chooses tools: `python -m evals.tool_choice [model] [way] [set]`.

The questions of a set (`held-back` unless `tuning` is named) are asked in two ways: in the judging request of
rule A40 (`judge`), and by function calling as in a chat (`native`). Then two conversations that end with a
tool's result, which must be answered in text.
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

NEEDED = {"held-back": 55, "tuning": 30}
SETS = {each.name: each for each in (HELD_BACK, TUNING)}


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
) -> tuple[str | None, str]:
    """Return the tool that was called, if any, and the arguments or the text."""
    name, said = None, ""
    request = ModelRequest(messages=messages, tools=tools, options={"max_tokens": 1})
    if messages[-1]["role"] == "tool":
        request = replace(request, options={"max_tokens": 40})
    async for delta in model.stream(request):
        if isinstance(delta, ToolCallDelta):
            name = delta.name or name
            said += delta.arguments
        elif isinstance(delta, TextDelta):
            said += delta.text
    return name, said


async def judge(model: LocalRequester, question: str, tools: Sequence[ToolSpec]) -> tuple[str | None, str]:
    """Return the tool that the judging request names, if any, and its arguments as JSON."""
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
    if isinstance(plan, Plan):
        return plan.tool_name, json.dumps(plan.tool_kwargs)
    return None, plan.problem or ""


async def choose(model: LocalRequester, question: str, tools: Sequence[ToolSpec]) -> tuple[str | None, str]:
    """Return the tool that the model calls by itself, if any, and its arguments as JSON."""
    return await ask(model, [{"role": "user", "content": question}], tools)


WAYS = {"judge": judge, "native": choose}


async def count(model: LocalRequester, way: str, asked: QuestionSet) -> int:
    """Return for how many questions the right tool was chosen, or rightly none."""
    right, begin = 0, time.monotonic()
    for question, wanted in asked.questions:
        began = time.monotonic()
        chosen, said = await WAYS[way](model, question, asked.tools)
        right += chosen == wanted
        show(chosen == wanted, question, f"{chosen or 'answer'}: {said}", time.monotonic() - began)
    seconds = (time.monotonic() - begin) / len(asked.questions)
    total = len(asked.questions)
    print(f"{asked.name}, {way}: {right} of {total} choices right, {seconds:.1f} s each", flush=True)
    return right


async def main(name: str, ways: Sequence[str], asked: QuestionSet) -> int:
    """Ask all questions and print the score; return the exit code."""
    model = LocalRequester(require(name), f"local:{name}")
    right = [await count(model, way, asked) for way in ways]
    answered = 0
    for messages, word in RESULTS:
        begin = time.monotonic()
        chosen, said = await ask(model, messages, TUNING.tools)
        is_right = chosen is None and word in said
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
