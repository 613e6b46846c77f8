"""The judge: a model says in words which tool it needs, as a plan (rule A43), and the plan becomes a call.

Judging is done in two ways. `stream_judged` serves the loop with a model that calls no functions: each reply
is a plan or the answer, and earlier calls and results are shown to the model in the same form. `open_plan`
and `read_plan` are the judging request of an agent (rules A40 to A50): a request of its own, before the one
that answers.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, TypeAlias

from dovetail.data.shapes import is_mapping
from dovetail.errors import DovetailError
from dovetail.events.call import ChatMessage, ModelRequest, ToolSpec
from dovetail.events.delta import Delta, FinishDelta, TextDelta, ToolCallDelta, Usage
from dovetail.ids import new_id
from dovetail.prompt.prompt import Prompt
from dovetail.requesters.content import build_messages, read_text
from dovetail.requesters.requester import Requester
from dovetail.requesters.think_tags import split_thoughts
from dovetail.requesters.tracing import stream_traced
from dovetail.response.field_event import FieldEvent
from dovetail.response.parser import AnswerFormat, InstantParser
from dovetail.response.response import Correction, Response
from dovetail.settings import Settings
from dovetail.settings.limits import LimitSettings
from dovetail.settings.sections import ResponseSettings
from dovetail.tools.snapshot import ToolSnapshot


@dataclass(frozen=True, slots=True)
class Plan:
    """A call that the model wants to make."""

    tool_name: str
    tool_kwargs: dict[str, Any]
    purpose: str


@dataclass(frozen=True, slots=True)
class NoPlan:
    """No call: the model needs none, or `problem` says why its plan cannot be followed."""

    problem: str | None = None


def read_command(command: Any) -> Plan | NoPlan:
    """Read the `tool_command` of a reply."""
    if command is None:
        return NoPlan("the plan wants a tool, but its tool_command is null")
    name = command.get("tool_name") if is_mapping(command) else None
    if not name:
        return NoPlan(f"the plan names no tool: {command!r}")
    kwargs = command.get("tool_kwargs")
    purpose = command.get("purpose") or f"use {name}"
    return Plan(str(name), dict(kwargs) if is_mapping(kwargs) else {}, str(purpose))


def write_plan_schema(tools: Iterable[ToolSpec]) -> dict[str, Any]:
    """Return the schema of a plan: whether a tool is needed, and its command, with one form per tool."""
    return _close({"use_tool": {"type": "boolean"}, "tool_command": _write_choice(tools, {"type": "null"})})


def write_reply_schema(tools: Iterable[ToolSpec], *, must_call: bool) -> dict[str, Any]:
    """Return the schema of a plan whose last field is the answer, for a reply without a tool."""
    if must_call:
        return _close({"use_tool": {"const": True}, "tool_command": _write_choice(tools)})
    plan = write_plan_schema(tools)
    return _close({**plan["properties"], "answer": {"type": ["string", "null"]}})


def _write_choice(tools: Iterable[ToolSpec], *others: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [*others, *(_write_command(tool) for tool in tools)]}


def _write_command(tool: ToolSpec) -> dict[str, Any]:
    return _close(
        {
            "purpose": {"type": "string"},
            "tool_name": {"type": "string", "const": tool.name},
            "tool_kwargs": dict(tool.parameters),
        }
    )


def _close(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_FIELDS = ("use_tool", "tool_command", "answer")
_FORM = """\
Reply with one JSON object and nothing else. To use a tool:
{"use_tool": true, "tool_command": {"purpose": "…", "tool_name": "…", "tool_kwargs": {}}, "answer": null}
To answer:
{"use_tool": false, "tool_command": null, "answer": "your answer"}"""
_MUST = "You must use a tool now."


async def stream_judged(requester: Requester, request: ModelRequest) -> AsyncGenerator[Delta, None]:
    """Stream the answer's deltas, with calls, from a model without function calling."""
    asked = replace(request, messages=_write_in_words(request.messages), tools=())
    if not request.tools or request.tool_choice == "none":
        async with aclosing(requester.stream(asked)) as deltas:
            async for delta in deltas:
                yield delta
        return
    must_call = request.tool_choice == "required"
    schema = write_reply_schema(request.tools, must_call=must_call) if requester.follows_schema else None
    messages = _add_tools(asked.messages, request.tools, must_call=must_call)
    reading = _Reading()
    answer = requester.stream(replace(asked, messages=messages, schema=schema))
    async with aclosing(split_thoughts(answer)) as deltas:
        async for delta in deltas:
            if isinstance(delta, TextDelta):
                for found in reading.take(delta.text):
                    yield found
            elif isinstance(delta, FinishDelta):
                for found in reading.end():
                    yield found
                yield replace(delta, reason="tool-calls") if reading.has_call else delta
            else:
                yield delta


class _Reading:
    """Read one reply while it streams."""

    def __init__(self) -> None:
        self.has_call = False
        self._has_text = False
        self._parser = InstantParser(dict.fromkeys(_FIELDS))
        self._pieces: list[str] = []

    def take(self, text: str) -> Iterator[Delta]:
        """Return what this piece of the reply adds to the answer, or the call that it completes."""
        self._pieces.append(text)
        for event in self._parser.feed(text):
            yield from self._read(event)

    def end(self) -> Iterator[Delta]:
        """Return the rest; a reply that is not a plan is the answer as it stands."""
        for event in self._parser.finish():
            yield from self._read(event, is_cut_off=True)
        if not self.has_call and not self._has_text:
            data = self._parser.data
            answer = data.get("answer") if is_mapping(data) else "".join(self._pieces)
            if answer:
                yield TextDelta(read_text(answer))

    def _read(self, event: FieldEvent, *, is_cut_off: bool = False) -> Iterator[Delta]:
        path = event.path
        if path == "answer" and not event.is_complete:
            self._has_text = True
            yield TextDelta(event.delta)
        elif path == "tool_command" and event.is_complete:
            yield from self._read_command(event.value, is_cut_off=is_cut_off)

    def _read_command(self, command: Any, *, is_cut_off: bool) -> Iterator[Delta]:
        plan = read_command(command)
        if isinstance(plan, Plan) and not self.has_call:
            self.has_call = True
            arguments = json.dumps(plan.tool_kwargs, ensure_ascii=False)
            if is_cut_off:  # the call is refused, as every other one that is not whole
                arguments = arguments.removesuffix("}")
            yield ToolCallDelta(0, new_id("call"), plan.tool_name, arguments)


def _add_tools(
    messages: Sequence[ChatMessage], tools: Sequence[ToolSpec], *, must_call: bool
) -> list[ChatMessage]:
    """Describe the tools after the first system text."""
    listed = [
        f"- {tool.name}: {tool.description}\n  tool_kwargs: {json.dumps(tool.parameters)}" for tool in tools
    ]
    described = "\n".join(["# Tools", *listed, "", _FORM, *([_MUST] if must_call else [])])
    first = messages[0] if messages else None
    if first is None or first["role"] != "system":
        return [{"role": "system", "content": described}, *messages]
    return [{**first, "content": f"{read_text(first['content'])}\n\n{described}"}, *messages[1:]]


def _write_in_words(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Rewrite a conversation without function calls: each call as a plan, each result as text."""
    built = build_messages(messages)
    calls = [call for message in built for call in message.get("tool_calls") or ()]
    names = {call["id"]: call["function"]["name"] for call in calls}
    return [_write_message(message, names) for message in built]


def _write_message(message: dict[str, Any], names: Mapping[str, str]) -> ChatMessage:
    if message["role"] == "tool":
        name = names.get(message.get("tool_call_id", ""), "the tool")
        return {"role": "user", "content": f"Result of {name}:\n{read_text(message.get('content'))}"}
    if calls := message.get("tool_calls"):
        lines = [_write_plan(call["function"]) for call in calls]
        return {"role": "assistant", "content": "\n".join(lines)}
    return message


def _write_plan(function: Mapping[str, Any]) -> str:
    name = json.dumps(function["name"], ensure_ascii=False)
    command = f'{{"tool_name": {name}, "tool_kwargs": {function.get("arguments") or "{}"}}}'
    return f'{{"use_tool": true, "tool_command": {command}, "answer": null}}'


INSTRUCTION = (
    "Judge if you need to use tool to answer {input}. If you can answer without one, set {use_tool} to false "
    "and {tool_command} to null. If you cannot, choose the one tool of {tools} that helps most now, say in "
    "{purpose} what you want to learn or do with it, and fill {tool_kwargs} exactly as its kwargs ask."
)
OUTPUT: dict[str, Any] = {
    "use_tool": (bool, "whether a tool is needed"),
    "tool_command": {
        "purpose": (str, "what the call is for, in a few words"),
        "tool_name": (str, "the name of the tool, as it is listed"),
        "tool_kwargs": (dict, "the arguments of the tool by name"),
    },
}
CheckCall: TypeAlias = Callable[[str, ToolSpec, dict[str, Any]], Awaitable[dict[str, Any] | None]]
_LAST_WORD = 0.25  # seconds that the end of a plan may take once its command is known
_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
_NO = (False, 0, "false", "False", "no")


@dataclass(frozen=True, slots=True)
class Choices:
    """What a plan may name: the tools, and ways to answer without one, each by name and use.

    The requester of a small model brings such ways (`answer_ways`): asked whether it needs a tool it says yes
    too easily, but it chooses well between a tool and a named way. A tool's own name wins.
    """

    tools: ToolSnapshot
    listed: list[dict[str, Any]]
    before: Mapping[str, str]
    behind: Mapping[str, str]

    @classmethod
    def make(cls, requester: Requester, tools: ToolSnapshot, listed: list[dict[str, Any]]) -> Self:
        """Combine the tools with the ways to answer that this requester brings."""
        ways: tuple[Mapping[str, str], ...] = getattr(requester, "answer_ways", ({}, {}))
        before, behind = ({name: way[name] for name in way if name not in tools} for way in ways)
        return cls(tools, listed, before, behind)

    def is_way(self, name: str) -> bool:
        """Return whether a name stands for an answer without a tool."""
        return name in self.before or name in self.behind

    def describe(self) -> list[dict[str, Any]]:
        """List the choices for the prompt: common knowledge before the tools, small talk after them."""
        return [*_list_ways(self.before), *self.listed, *_list_ways(self.behind)]

    def write_schema(self) -> dict[str, Any]:
        """Return the closed schema of the plan."""
        ways = [
            ToolSpec(name=name, description=use, parameters=_NO_PARAMETERS)
            for name, use in {**self.before, **self.behind}.items()
        ]
        return write_plan_schema([*self.tools.specs, *ways])


def _list_ways(ways: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "desc": use, "kwargs": {}} for name, use in ways.items()]


def open_plan(
    prompt: Prompt,
    settings: Settings,
    requester: Requester,
    choices: Choices,
    so_far: Mapping[str, Any] | None = None,
) -> Response[Any]:
    """Open the judging request; it has the input and the tools, but no system, history or info.

    `so_far` holds the results of earlier rounds of this request by their purpose.
    """
    planning = Prompt(settings=settings)
    for key, value in (
        ("input", prompt.get("input")),
        ("extra instruction", prompt.get("instruct")),
        ("results so far", dict(so_far or {}) or None),
        ("tools", choices.describe()),
        ("instruct", INSTRUCTION),
        ("output", OUTPUT),
    ):
        if value is not None:
            planning.set(key, value)
    schema = choices.write_schema() if requester.follows_schema else None
    request = ModelRequest(
        messages=planning.to_messages(),
        model=requester.model,
        schema=schema,
        sizes=settings.section(LimitSettings).answer,
    )
    timeout = settings.section(ResponseSettings).timeout
    return Response(
        partial(_send, requester, request), AnswerFormat(schema=OUTPUT, is_typed=True), timeout=timeout
    )


def _send(
    requester: Requester, request: ModelRequest, correction: Correction | None
) -> AsyncGenerator[Delta, None]:
    return stream_traced(requester, request)


async def read_plan(response: Response[Any], choices: Choices) -> Plan | NoPlan:
    """Return the plan as soon as it is certain, without waiting for the rest of the reply."""
    async with aclosing(response.async_get_generator("instant")) as events:
        async for event in events:
            if event.path == "use_tool" and event.is_complete and event.value in _NO:
                return NoPlan()
            if event.path == "tool_command" and event.is_complete:
                plan = read_command(event.value)
                return NoPlan() if isinstance(plan, Plan) and choices.is_way(plan.tool_name) else plan
    received = response.received
    if received.parsed is None:
        return NoPlan("the plan is not a JSON object")
    if received.is_cut_off:  # what it has of a command is never carried out
        return NoPlan() if received.parsed.get("use_tool") in _NO else NoPlan("the plan is cut off")
    return NoPlan("the plan has no tool_command")


async def confirm_plan(
    plan: Plan | NoPlan, prompt: Prompt, requester: Requester, tools: ToolSnapshot
) -> Plan | NoPlan:
    """Return the plan as the requester's `check_call` leaves it, if it has one: corrected, or none at all."""
    check: CheckCall | None = getattr(requester, "check_call", None)
    spec = next(
        (spec for spec in tools.specs if isinstance(plan, Plan) and spec.name == plan.tool_name), None
    )
    if check is None or isinstance(plan, NoPlan) or spec is None:
        return plan
    question = " ".join(read_text(prompt.get("input")).split())
    kwargs = await check(question, spec, plan.tool_kwargs)
    return NoPlan() if kwargs is None else replace(plan, tool_kwargs=kwargs)


async def end_plan(response: Response[Any]) -> Usage:
    """Stop the judging request, if it is still in progress, and return its usage.

    Models report usage at the very end, so a request that is stopped before counts as nothing.
    """
    try:
        async with asyncio.timeout(_LAST_WORD):
            await response.async_get_meta()
    except (TimeoutError, DovetailError):
        response.cancel()
    finish = response.received.finish
    return finish.usage if finish else Usage()
