"""Tools for a model that calls no functions: each reply is a plan (rule A43) or the answer.

The model is told of the tools in words and writes one JSON object. A plan becomes a call; the text of an
answer streams on as it arrives. Earlier calls and results are shown to it in the same form.
"""

import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.events.call import ChatMessage, ModelRequest, ToolSpec
from dovetail.events.delta import Delta, FinishDelta, TextDelta, ToolCallDelta
from dovetail.ids import new_id
from dovetail.requesters.content import build_messages, read_text
from dovetail.requesters.requester import Requester
from dovetail.response.field_event import Instant
from dovetail.response.parser import InstantParser


def write_plan_schema(tools: Iterable[ToolSpec]) -> dict[str, Any]:
    """Whether a tool is needed, and which: one form of command for each tool, or null."""
    return _close({"use_tool": {"type": "boolean"}, "tool_command": _write_choice(tools, {"type": "null"})})


def write_reply_schema(tools: Iterable[ToolSpec], *, must_call: bool) -> dict[str, Any]:
    """A plan whose last field is the answer, where no tool is needed."""
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
    """The answer's deltas, with calls, from a model that calls no functions."""
    asked = replace(request, messages=_tell_in_words(request.messages), tools=())
    if not request.tools or request.tool_choice == "none":
        async with aclosing(requester.stream(asked)) as deltas:
            async for delta in deltas:
                yield delta
        return
    must_call = request.tool_choice == "required"
    schema = write_reply_schema(request.tools, must_call=must_call) if requester.follows_schema else None
    told = _tell_tools(asked.messages, request.tools, must_call=must_call)
    reading = _Reading()
    async with aclosing(requester.stream(replace(asked, messages=told, schema=schema))) as deltas:
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
    """Reads one reply while it is written."""

    def __init__(self) -> None:
        self.has_call = False
        self._has_text = False
        self._parser = InstantParser(dict.fromkeys(_FIELDS))
        self._pieces: list[str] = []

    def take(self, text: str) -> Iterator[Delta]:
        """What this piece of the reply adds to the answer, or the call that it completes."""
        self._pieces.append(text)
        for event in self._parser.feed(text):
            yield from self._read(event)

    def end(self) -> Iterator[Delta]:
        """What is left; a reply that is no plan at all is the answer as it stands."""
        for event in self._parser.finish():
            yield from self._read(event)
        if not self.has_call and not self._has_text:
            data = self._parser.data
            answer = data.get("answer") if is_mapping(data) else "".join(self._pieces)
            if answer:
                yield TextDelta(read_text(answer))

    def _read(self, event: Instant) -> Iterator[Delta]:
        path = event.path
        if path == "answer" and not event.is_complete:
            self._has_text = True
            yield TextDelta(event.delta)
        elif path == "tool_command" and event.is_complete:
            yield from self._read_command(event.value)

    def _read_command(self, command: Any) -> Iterator[Delta]:
        name = command.get("tool_name") if is_mapping(command) else None
        if name and not self.has_call:
            self.has_call = True
            arguments = json.dumps(command.get("tool_kwargs") or {}, ensure_ascii=False)
            yield ToolCallDelta(0, new_id("call"), str(name), arguments)


def _tell_tools(
    messages: Sequence[ChatMessage], tools: Sequence[ToolSpec], *, must_call: bool
) -> list[ChatMessage]:
    """The messages with the tools behind the first system text."""
    listed = [
        f"- {tool.name}: {tool.description}\n  tool_kwargs: {json.dumps(tool.parameters)}" for tool in tools
    ]
    told = "\n".join(["# Tools", *listed, "", _FORM, *([_MUST] if must_call else [])])
    first = messages[0] if messages else None
    if first is None or first["role"] != "system":
        return [{"role": "system", "content": told}, *messages]
    return [{**first, "content": f"{read_text(first['content'])}\n\n{told}"}, *messages[1:]]


def _tell_in_words(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The conversation without function calls: each as the plan it would have been, each result as a text."""
    built = build_messages(messages)
    calls = [call for message in built for call in message.get("tool_calls") or ()]
    names = {call["id"]: call["function"]["name"] for call in calls}
    return [_tell_message(message, names) for message in built]


def _tell_message(message: dict[str, Any], names: Mapping[str, str]) -> ChatMessage:
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
