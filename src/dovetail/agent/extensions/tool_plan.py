"""The judging request (rule A40): does the model need a tool, which one, with which arguments?"""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from dovetail.agent.expectation import Expectation
from dovetail.agent.request import AgentRequest, ExtensionHandlers
from dovetail.data.shapes import is_mapping
from dovetail.errors import DovetailError
from dovetail.events.call import ToolSpec
from dovetail.events.delta import Usage
from dovetail.loop.judged import write_plan_schema
from dovetail.prompt.prompt import Prompt
from dovetail.requesters.requester import Requester
from dovetail.response.parser import Shape
from dovetail.response.response import Response
from dovetail.settings import Settings

if TYPE_CHECKING:
    from dovetail.tools.registry import ToolSnapshot

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
_LAST_WORD = 0.25  # seconds that the end of a plan may take once its command is known
_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
_NO = (False, 0, "false", "False", "no")


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


@dataclass(frozen=True, slots=True)
class Choices:
    """What a plan may name: the tools, and ways to answer without one, by name and use.

    The requester of a small model brings such ways (`answer_ways`): asked whether it needs a tool it says yes
    too easily, but it chooses well between a tool and a named way. A tool's own name wins.
    """

    tools: "ToolSnapshot"
    listed: list[dict[str, Any]]
    before: Mapping[str, str]
    behind: Mapping[str, str]

    @classmethod
    def make(cls, requester: Requester, tools: "ToolSnapshot", listed: list[dict[str, Any]]) -> Self:
        """The tools, with the ways that this requester brings."""
        ways: tuple[Mapping[str, str], ...] = getattr(requester, "answer_ways", ({}, {}))
        before, behind = ({name: way[name] for name in way if name not in tools} for way in ways)
        return cls(tools, listed, before, behind)

    def is_way(self, name: str) -> bool:
        """Whether a name stands for an answer without a tool."""
        return name in self.before or name in self.behind

    def describe(self) -> list[dict[str, Any]]:
        """The list for the prompt, common knowledge before the tools and talk behind them."""
        return [*_list_ways(self.before), *self.listed, *_list_ways(self.behind)]

    def write_schema(self) -> dict[str, Any]:
        """The closed schema of the plan."""
        ways = [
            ToolSpec(name=name, description=use, parameters=_NO_PARAMETERS)
            for name, use in {**self.before, **self.behind}.items()
        ]
        return write_plan_schema([*self.tools.specs, *ways])


def _list_ways(ways: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "desc": use, "kwargs": {}} for name, use in ways.items()]


def open_plan(
    prompt: Prompt, settings: Settings, requester: Requester, choices: Choices, so_far: Mapping[str, Any]
) -> Response[Any]:
    """The response of the judging request; it knows the request, but no system, history or info.

    `so_far` holds the results of earlier rounds of this request by their purpose.
    """
    planning = Prompt(settings=settings)
    for key, value in (
        ("input", prompt.get("input")),
        ("extra instruction", prompt.get("instruct")),
        ("results so far", dict(so_far) or None),
        ("tools", choices.describe()),
        ("instruct", INSTRUCTION),
        ("output", OUTPUT),
    ):
        if value is not None:
            planning.set(key, value)
    request = AgentRequest(
        prompt=planning, settings=settings, requester=requester, handlers=ExtensionHandlers()
    )
    schema = choices.write_schema() if requester.follows_schema else None
    return request.open(Expectation(Shape(schema=OUTPUT), schema))


async def read_plan(response: Response[Any], choices: Choices) -> Plan | NoPlan:
    """The plan, as soon as it is certain; what the model says after it is not waited for."""
    async with aclosing(response.async_get_generator("instant")) as events:
        async for event in events:
            if event.path == "use_tool" and event.is_complete and event.value in _NO:
                return NoPlan()
            if event.path == "tool_command" and event.is_complete:
                plan = _read_command(event.value)
                return NoPlan() if isinstance(plan, Plan) and choices.is_way(plan.tool_name) else plan
    if response.received.parsed is None:
        return NoPlan("the plan is no JSON object")
    return NoPlan("the plan has no tool_command")


async def end_plan(response: Response[Any]) -> Usage:
    """Stop the judging request, which is over as a rule, and say what it has used, as far as it was told.

    A model tells at the very end, so a request that was stopped before it is counted as nothing.
    """
    try:
        async with asyncio.timeout(_LAST_WORD):
            await response.async_get_meta()
    except (TimeoutError, DovetailError):
        response.cancel()
    finish = response.received.finish
    return finish.usage if finish else Usage()


def _read_command(command: Any) -> Plan | NoPlan:
    if command is None:
        return NoPlan("the plan wants a tool, but its tool_command is null")
    name = command.get("tool_name") if is_mapping(command) else None
    if not name:
        return NoPlan(f"the plan names no tool: {command!r}")
    kwargs = command.get("tool_kwargs")
    purpose = command.get("purpose") or f"use {name}"
    return Plan(str(name), dict(kwargs) if is_mapping(kwargs) else {}, str(purpose))
