"""The conversation as an embedded model reads it: system, user and assistant texts only.

With tools, the system text lists them, and each reply begins with a JSON line that names the tool for it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.errors import ModelError
from dovetail.events.call import ChatMessage, ToolSpec
from dovetail.requesters.content import build_messages, read_text, settle_attachments
from dovetail.requesters.local.closed_schema import join_choices

KNOWLEDGE = {"general_knowledge": "facts that everybody can know"}
TALK = {
    "small_talk": "greetings, thanks, questions about you",
    "write_text": "write, translate or explain something",
    "write_code": "write code",
}
TELL = "tell_user"
TELL_LINE = json.dumps({"tool": TELL})
"""The first line of every answer, whatever way was chosen, so that the conversation reads the same later."""

LONGEST_DESCRIPTION = 100
_ABOUT_TOOLS = re.compile(r"\btools\b|工具", re.IGNORECASE)
TextMessage = dict[str, str]


def build_texts(
    messages: Sequence[ChatMessage], tools: Sequence[ToolSpec], model: str = "The embedded model"
) -> list[TextMessage]:
    """Return the conversation as the model reads it; with tools, its own turns begin with their choice.

    Tools follow the first system text: further ones may change, and the text before them stays cached.
    """

    def refuse(part: Mapping[str, Any]) -> None:
        raise ModelError(
            f"{model} reads text only, but the message contains: {part['type']}.",
            provider="local",
            hint="Use another model: set DOVETAIL_MODEL or model.name.",
        )

    built = build_messages(settle_attachments(messages, refuse))
    names = _name_calls(built)
    texts = [_build_text(message, names, has_tools=bool(tools)) for message in built]
    for last, answer in pairwise(range(len(built))):
        if _is_answer(built[answer]):
            texts[last] = _ask_for_answer(texts[last], built[last], tools)
    system = [text["content"] for text in texts if text["role"] == "system"]
    if tools:
        first, *further = system or ["You are a helpful assistant."]
        system = [first, describe_tools(tools), *further]
    others = [text for text in texts if text["role"] != "system"]
    head: list[TextMessage] = [{"role": "system", "content": "\n\n".join(system)}] if system else []
    return [*head, *others]


def begin_answer(
    texts: Sequence[TextMessage], messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]
) -> list[TextMessage]:
    """Return the conversation when the model starts to answer, as `build_texts` writes it afterwards."""
    *before, last = texts
    last = _ask_for_answer(last, messages[-1], tools)
    return [*before, last, {"role": "assistant", "content": f"{TELL_LINE}\n"}]


def _is_result(message: Mapping[str, Any]) -> bool:
    return message["role"] == "tool"


def _is_answer(message: Mapping[str, Any]) -> bool:
    return message["role"] == "assistant" and not message.get("tool_calls")


def _ask_for_answer(text: TextMessage, message: Mapping[str, Any], tools: Sequence[ToolSpec]) -> TextMessage:
    """Return a result or a question with what a small model needs to answer it."""
    if _is_result(message):
        # Without it, a small model often thanks for the result or refuses instead of reporting it.
        return {**text, "content": f"{text['content']}\n\nNow answer my question with it."}
    if tools and text["role"] == "user" and _ABOUT_TOOLS.search(text["content"]):
        # Otherwise it counts the ways to answer among its tools.
        names = ", ".join(tool.name for tool in tools)
        return {**text, "content": f"{text['content']}\n\n(Your only tools: {names}.)"}
    return text


def _name_calls(messages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    return {call["id"]: call["function"]["name"] for call in calls}


def _build_text(message: Mapping[str, Any], names: Mapping[str, str], *, has_tools: bool) -> TextMessage:
    role = message["role"]
    text = read_text(message.get("content"))
    if role in ("system", "developer"):
        return {"role": "system", "content": text}
    if role == "tool":
        name = names.get(message.get("tool_call_id", ""), "the tool")
        return {"role": "user", "content": f"Result of {name}: {text}"}
    if role != "assistant":
        return {"role": "user", "content": text}
    if calls := message.get("tool_calls"):
        lines = [write_call(call["function"]["name"], call["function"]["arguments"]) for call in calls]
        return {"role": "assistant", "content": "\n".join(lines)}
    return {"role": "assistant", "content": f"{TELL_LINE}\n{text}" if has_tools else text}


def describe_tools(tools: Sequence[ToolSpec]) -> str:
    """Return the part of the system text that lists the tools and asks for a choice."""
    form = '{"tool": "name", "arguments": {...}}'
    return "\n".join(
        [
            "# Tools",
            *_list_ways(KNOWLEDGE),
            *(f"- {_sign(tool)}: {shorten(tool.description)}" for tool in tools),
            *_list_ways({**TALK, TELL: "tell the user what a tool gave"}),
            "",
            f"Every reply begins with a JSON line that names the tool for it: {form}.",
        ]
    )


def _list_ways(ways: Mapping[str, str]) -> list[str]:
    return [f"- {name}(): {use}" for name, use in ways.items()]


def _sign(tool: ToolSpec) -> str:
    # Types and notes are left out: the schema holds the model to them, and each word takes time to read.
    properties: Mapping[str, Any] = tool.parameters.get("properties") or {}
    return f"{tool.name}({', '.join(_sign_parameter(*each) for each in properties.items())})"


def _sign_parameter(name: str, schema: Any) -> str:
    # A default shows what to write when nothing else is known; without it a small model makes a value up.
    has_default = is_mapping(schema) and "default" in schema
    return f"{name}={json.dumps(schema['default'], ensure_ascii=False)}" if has_default else name


def shorten(text: str) -> str:
    """Return the first paragraph of a description on one line, shortened."""
    line = " ".join(text.strip().split("\n\n")[0].split())
    return line if len(line) <= LONGEST_DESCRIPTION else line[: LONGEST_DESCRIPTION - 1].rstrip() + "…"


def choose_ways(tools: Sequence[ToolSpec], *, has_result: bool) -> list[str]:
    """Return the ways to answer: after a result to report it, otherwise all others; names of tools win."""
    names = {tool.name for tool in tools}
    ways = [TELL] if has_result else [*KNOWLEDGE, *TALK]
    return [way for way in ways if way not in names] or ["answer"]


def build_choice_schema(tools: Sequence[ToolSpec], ways: Sequence[str]) -> dict[str, Any]:
    """Return the closed schema of the choice between tools and ways to answer."""
    choices: dict[str, Mapping[str, Any] | None] = dict.fromkeys(ways)
    for tool in tools:
        choices[tool.name] = tool.parameters or {"type": "object", "properties": {}}
    return join_choices(choices, "tool", "arguments")


def build_name_schema(tools: Sequence[ToolSpec], ways: Sequence[str]) -> dict[str, Any]:
    """Return the closed schema of the name alone: of a tool, or of a way to answer."""
    return join_choices(dict.fromkeys([*ways, *(tool.name for tool in tools)]), "tool", "arguments")


def write_call(name: str, arguments: str) -> str:
    """Return a call as the model writes it."""
    return f'{{"tool": {json.dumps(name, ensure_ascii=False)}, "arguments": {arguments or "{}"}}}'


@dataclass(slots=True)
class ChoiceReader:
    """Reader of a choice while it is written; the engine's spelling is fixed, so no parser is needed."""

    text: str = ""
    name: str | None = None
    _given: int = 0

    def feed(self, piece: str) -> str:
        """Read a piece and return the new part of the call's arguments."""
        self.text += piece
        if self.name is None and not self._find_name():
            return ""
        # The last brace closes the choice itself, so one character is always held back.
        new = self.text[self._given : -1]
        self._given = max(self._given, len(self.text) - 1)
        return new

    def _find_name(self) -> bool:
        head, mark, _ = self.text.partition(', "arguments": ')
        if not mark:
            return False
        self.name = json.loads(head + "}")["tool"]
        self._given = len(head) + len(mark)
        return True
