"""A declarative tool is a tool like any other."""

import asyncio
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from dovetail.errors import ToolError
from dovetail.events.call import ToolCall
from dovetail.events.run_events import Event, ToolProgress, ToolStart
from dovetail.policy import MessageBus
from dovetail.tools import (
    BaseDeclarativeTool,
    BaseToolInvocation,
    DeclarativeTool,
    Kind,
    RunContext,
    ToolRegistry,
    ToolResult,
    ToolRunner,
)
from dovetail.tools.makers.declarative import UpdateOutput


class ReadPlank(BaseToolInvocation):
    def get_description(self) -> str:
        return f"Read plank {self.params['number']}"

    async def execute(self, signal: asyncio.Event, update_output: UpdateOutput | None = None) -> ToolResult:
        assert self.context is not None
        if update_output is not None:
            update_output("looking")
        text = f"plank {self.params['number']} for {self.context.scope.owner}, stopped: {signal.is_set()}"
        return ToolResult([{"type": "text", "text": text}], return_display=text)


class ReadPlankTool(BaseDeclarativeTool):
    def __init__(self, message_bus: MessageBus | None = None) -> None:
        super().__init__(
            "read_plank",
            "Read Plank",
            "Read what is written on a plank",
            Kind.Read,
            {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
            is_output_markdown=True,
            can_update_output=True,
            message_bus=message_bus,
        )
        self.read: list[int] = []

    def create_invocation(self, params: Mapping[str, Any]) -> ReadPlank:
        return ReadPlank(params, self.message_bus)


async def test_declarative_tool_runs_through_the_pipeline() -> None:
    registry, events = ToolRegistry(), list[Event]()
    registry.register_tool(ReadPlankTool())
    outcome = await ToolRunner().run_call(
        registry.snapshot(),
        ToolCall(call_id="1", name="read_plank", arguments={"number": 7}),
        RunContext(owner="ann", emit=events.append),
    )
    assert outcome.result.return_display == "plank 7 for ann, stopped: False"
    assert events[:2] == [ToolStart("1", "read", "Read plank 7"), ToolProgress("1", "looking")]


async def test_build_returns_an_invocation_or_says_what_is_wrong() -> None:
    bus = MessageBus()
    tool = ReadPlankTool(bus)
    invocation = tool.build({"number": 3})
    assert invocation.get_description() == "Read plank 3"
    assert isinstance(invocation, ReadPlank)
    assert invocation.message_bus is bus
    with pytest.raises(ToolError, match="`number` is missing"):
        tool.build({})


def test_fields_of_a_declarative_tool_stay_as_they_are() -> None:
    tool = ReadPlankTool()
    with pytest.raises(FrozenInstanceError):
        tool.name = "other"  # pyright: ignore[reportAttributeAccessIssue]
    tool.read.append(1)
    assert (tool.title, tool.kind, tool.is_output_markdown) == ("Read Plank", Kind.Read, True)


def test_declarative_tool_can_be_taken_under_another_name() -> None:
    renamed = ReadPlankTool().with_changes(name="shed_read_plank")
    assert (renamed.name, renamed.title) == ("shed_read_plank", "Read Plank")


def test_an_invocation_that_does_nothing_cannot_be_made() -> None:
    class Idle(BaseToolInvocation):
        pass

    with pytest.raises(TypeError, match="execute"):
        Idle({})


class ShortInvocation(BaseToolInvocation):
    async def execute(self, signal: asyncio.Event) -> ToolResult:  # pyright: ignore[reportIncompatibleMethodOverride]
        content = f"contents of {self.params['path']}"
        return ToolResult([{"text": content}], return_display=content)


class ShortTool(BaseDeclarativeTool):
    def __init__(self) -> None:
        super().__init__(
            "read_file",
            "Read File",
            "Read contents of a file",
            Kind.Read,
            {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        )

    def create_invocation(self, params: Mapping[str, Any]) -> ShortInvocation:  # pyright: ignore[reportIncompatibleMethodOverride]
        return ShortInvocation(params)


async def test_invocation_may_leave_update_output_and_the_type_of_text_parts_out() -> None:
    registry = ToolRegistry()
    registry.register_tool(ShortTool())
    call = ToolCall(call_id="c1", name="read_file", arguments={"path": "a.txt"})
    outcome = await ToolRunner().run_call(registry.snapshot(), call, RunContext())
    assert outcome.status == "ok"
    assert outcome.result.llm_content == [{"type": "text", "text": "contents of a.txt"}]
    assert outcome.result.return_display == "contents of a.txt"


class Shout(DeclarativeTool[Mapping[str, Any], ToolResult]):
    def build(self, params: Mapping[str, Any]) -> "ShoutInvocation":
        return ShoutInvocation(params)


class ShoutInvocation(BaseToolInvocation[Mapping[str, Any], ToolResult]):
    async def execute(self, signal: asyncio.Event, update_output: UpdateOutput | None = None) -> ToolResult:
        return ToolResult(self.params["text"].upper())


async def test_declarative_tool_may_build_its_invocations_itself() -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    tool = Shout("shout", "Shout", "Shout a text", Kind.Think, schema)
    assert (await tool.build({"text": "oak"}).execute(asyncio.Event())).llm_content == "OAK"
    registry = ToolRegistry()
    registry.register_tool(tool)
    call = ToolCall(call_id="c1", name="shout", arguments={"text": "pine"})
    outcome = await ToolRunner().run_call(registry.snapshot(), call, RunContext())
    assert outcome.result.llm_content == "PINE"
    assert issubclass(BaseDeclarativeTool, DeclarativeTool)
