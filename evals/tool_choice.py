"""Check whether the good embedded model chooses the right tool: `python -m evals.tool_choice [model] [way]`.

Twenty questions with three tools, asked twice: in the judging request of rule A40 (`judge`), and by function
calling (`native`). Then two conversations that end with a tool's result, which must be answered in text.
"""

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from dovetail.events.call import ChatMessage, ModelRequest, ToolSpec
from dovetail.events.delta import TextDelta, ToolCallDelta
from dovetail.loop.judged import Choices, Plan, open_plan, read_plan
from dovetail.prompt import Prompt
from dovetail.requesters.local.requester import LocalRequester
from dovetail.requesters.local.weights import require
from dovetail.schema.notation import read_parameters
from dovetail.settings import default_settings
from dovetail.tools import Tool, ToolContext
from dovetail.tools.snapshot import ToolSnapshot

NEEDED = 18


def make_tool(name: str, description: str, **properties: Any) -> ToolSpec:
    """Return a tool whose parameters are all required."""
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return ToolSpec(name=name, description=description, parameters=parameters)


async def never_called(args: dict[str, Any], context: ToolContext) -> None:
    """Do nothing: only the choice is checked."""


TOOLS = [
    make_tool("calculator", "Work out an arithmetic expression.", expression={"type": "string"}),
    make_tool("weather", "The weather of a city right now.", city={"type": "string"}),
    make_tool("read_file", "Read a file of the user's project, by its path.", path={"type": "string"}),
]

SNAPSHOT = ToolSnapshot.of(
    Tool(name=spec.name, description=spec.description, parameters=spec.parameters, execute=never_called)
    for spec in TOOLS
)

QUESTIONS: list[tuple[str, str | None]] = [
    ("What is 127 * 49?", "calculator"),
    ("Hello, who are you?", None),
    ("How warm is it in Paris right now?", "weather"),
    ("Show me what is in notes.txt", "read_file"),
    ("Write a haiku about rain.", None),
    ("How much is 17% of 2350?", "calculator"),
    ("Do I need an umbrella in London today?", "weather"),
    ("Translate 'good morning' into French.", None),
    ("Open config/settings.yaml and tell me what it says.", "read_file"),
    ("What is the capital of Japan?", None),
    ("12 boxes hold 37 pens each. How many pens are there?", "calculator"),
    ("Is it snowing in Oslo?", "weather"),
    ("Thank you, that helped!", None),
    ("Divide 98765 by 43.", "calculator"),
    ("Summarise README.md", "read_file"),
    ("Explain recursion in one sentence.", None),
    ("北京今天天气怎么样", "weather"),
    ("What's the square root of 1764, plus 5?", "calculator"),
    ("Give me three names for a cat.", None),
    ("What does main.py do?", "read_file"),
]


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


async def ask(model: LocalRequester, messages: Sequence[ChatMessage]) -> tuple[str | None, str]:
    """Return the tool that was called, if any, and the arguments or the text."""
    name, said = None, ""
    request = ModelRequest(messages=messages, tools=TOOLS, options={"max_tokens": 40})
    async for delta in model.stream(request):
        if isinstance(delta, ToolCallDelta):
            name = delta.name or name
            said += delta.arguments
        elif isinstance(delta, TextDelta):
            said += delta.text
    return name, said


async def judge(model: LocalRequester, question: str) -> tuple[str | None, str]:
    """Return the tool that the judging request names, if any, and its arguments."""
    settings = default_settings()
    listed = [
        {"name": tool.name, "desc": tool.description, "kwargs": read_parameters(tool.parameters)}
        for tool in SNAPSHOT
    ]
    choices = Choices.make(model, SNAPSHOT, listed)
    response = open_plan(Prompt({"input": question}, settings=settings), settings, model, choices)
    try:
        plan = await read_plan(response, choices)
    finally:
        response.cancel()
    return (plan.tool_name, str(plan.tool_kwargs)) if isinstance(plan, Plan) else (None, plan.problem or "")


async def choose(model: LocalRequester, question: str) -> tuple[str | None, str]:
    """Return the tool that the model calls by itself, if any, and its arguments."""
    return await ask(model, [{"role": "user", "content": question}])


WAYS = {"judge": judge, "native": choose}


async def count(model: LocalRequester, way: str) -> int:
    """Return for how many questions the right tool was chosen, or rightly none."""
    right = 0
    for question, wanted in QUESTIONS:
        begin = time.monotonic()
        chosen, said = await WAYS[way](model, question)
        right += chosen == wanted
        show(chosen == wanted, question, f"{chosen or 'answer'}: {said}", time.monotonic() - begin)
    print(f"{way}: {right} of {len(QUESTIONS)} choices right", flush=True)
    return right


async def main(name: str, ways: Sequence[str]) -> int:
    """Ask all questions and print the score; return the exit code."""
    model = LocalRequester(require(name), f"local:{name}")
    right = [await count(model, way) for way in ways]
    answered = 0
    for messages, word in RESULTS:
        begin = time.monotonic()
        chosen, said = await ask(model, messages)
        is_right = chosen is None and word in said
        answered += is_right
        show(is_right, f"{messages[0]['content']} (with a result)", said, time.monotonic() - begin)
    await model.close()
    print(f"{answered} of {len(RESULTS)} results answered in text")
    return 0 if min(right) >= NEEDED and answered == len(RESULTS) else 1


def show(is_right: bool, question: str, said: str, seconds: float) -> None:
    """Print one line for one question."""
    print(f"{'ok   ' if is_right else 'WRONG'} {seconds:5.1f} s  {question}  →  {said!r}", flush=True)


if __name__ == "__main__":
    given = sys.argv[1:]
    ways = [word for word in given if word in WAYS] or list(WAYS)
    sys.exit(asyncio.run(main(next((word for word in given if word not in WAYS), "good"), ways)))
