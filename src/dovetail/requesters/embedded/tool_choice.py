"""How an embedded model uses tools: each of its replies begins with one line of JSON, its choice.

The choice is held to a closed schema: a tool with its own parameters, or one of a few ways to answer. A small
model chooses far better between named ways than between a tool and nothing, and their order matters. After a
way to answer it goes on in plain text. Earlier turns are shown in the same form, so they are read only once.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.messages.request import ToolSpec
from dovetail.requesters.embedded.closed_schema import join_choices

KNOWLEDGE = {"general_knowledge": "facts that everybody can know"}
TALK = {
    "small_talk": "greetings, thanks, questions about you",
    "write_text": "write, translate or explain something",
    "write_code": "write code",
}
TELL = "tell_user"
TELL_LINE = json.dumps({"tool": TELL})
"""How every answer begins, whatever way led to it, so that a conversation reads the same later on."""

LONGEST_DESCRIPTION = 100


def describe_tools(tools: Sequence[ToolSpec]) -> str:
    """The part of the system text that lists the tools and asks for the choice."""
    form = '{"tool": "name", "arguments": {...}}'
    return "\n".join(
        [
            "# Tools",
            *_list_ways(KNOWLEDGE),
            *(f"- {_sign(tool)}: {_shorten(tool.description)}" for tool in tools),
            *_list_ways({**TALK, TELL: "tell the user what a tool gave"}),
            "",
            f"Every reply begins with a JSON line that names the tool for it: {form}.",
        ]
    )


def choose_ways(tools: Sequence[ToolSpec], *, has_result: bool) -> list[str]:
    """The ways to answer: after a tool's result to tell it, otherwise all others; a tool's own name wins."""
    names = {tool.name for tool in tools}
    ways = [TELL] if has_result else [*KNOWLEDGE, *TALK]
    return [way for way in ways if way not in names] or ["answer"]


def build_choice_schema(tools: Sequence[ToolSpec], ways: Sequence[str]) -> dict[str, Any]:
    """The closed schema of the choice between tools and ways to answer."""
    choices: dict[str, Mapping[str, Any] | None] = dict.fromkeys(ways)
    for tool in tools:
        choices[tool.name] = tool.parameters or {"type": "object", "properties": {}}
    return join_choices(choices, "tool", "arguments")


def _list_ways(ways: Mapping[str, str]) -> list[str]:
    return [f"- {name}(): {use}" for name, use in ways.items()]


def write_call(name: str, arguments: str) -> str:
    """A call as the model writes it."""
    return f'{{"tool": {json.dumps(name, ensure_ascii=False)}, "arguments": {arguments or "{}"}}}'


@dataclass(slots=True)
class ChoiceReader:
    """Reads the choice while it is written; the engine's spelling is fixed, so no parser is needed."""

    text: str = ""
    name: str | None = None
    _given: int = 0

    def feed(self, piece: str) -> str:
        """Take a piece; what is new of the call's arguments."""
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


def _sign(tool: ToolSpec) -> str:
    # Types and notes are left out: the schema holds the model to them, and each word takes time to read.
    properties: Mapping[str, Any] = tool.parameters.get("properties") or {}
    return f"{tool.name}({', '.join(_sign_parameter(*each) for each in properties.items())})"


def _sign_parameter(name: str, schema: Any) -> str:
    # A default shows what to write when nothing else is known; without it a small model makes a value up.
    has_default = is_mapping(schema) and "default" in schema
    return f"{name}={json.dumps(schema['default'], ensure_ascii=False)}" if has_default else name


def _shorten(text: str) -> str:
    """The first paragraph on one line, cut."""
    line = " ".join(text.strip().split("\n\n")[0].split())
    return line if len(line) <= LONGEST_DESCRIPTION else line[: LONGEST_DESCRIPTION - 1].rstrip() + "…"
