"""How an embedded model uses tools: each of its replies begins with one line of JSON, its choice.

The choice is held to a closed schema: a tool with its own parameters, or `answer`. After `answer` the model
goes on in plain text. Earlier turns are shown to it in the same form: what it read once is not read again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.messages.request import ToolSpec
from dovetail.requesters.closed_schema import join_choices

ANSWER = "answer"
ANSWER_LINE = json.dumps({"tool": ANSWER})
LONGEST_DESCRIPTION = 240


def describe_tools(tools: Sequence[ToolSpec]) -> str:
    """The part of the system text that lists the tools and asks for the choice."""
    lines = [f"- {_sign(tool)}: {_shorten(tool.description)}" for tool in tools]
    return "\n".join(
        [
            "# Tools",
            *lines,
            f"- {ANSWER}(): reply in your own words",
            "",
            "Every reply begins with a JSON line. If a tool gives what the user wants, call it: "
            '{"tool": "name", "arguments": {...}}. For greetings, general knowledge, writing or code: '
            f"{ANSWER_LINE}, then the reply.",
        ]
    )


def build_choice_schema(tools: Sequence[ToolSpec], *, may_answer: bool) -> dict[str, Any]:
    """The closed schema of the choice."""
    choices: dict[str, Mapping[str, Any] | None] = {ANSWER: None} if may_answer else {}
    for tool in tools:
        choices[tool.name] = tool.parameters or {"type": "object", "properties": {}}
    return join_choices(choices, "tool", "arguments")


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

    @property
    def is_answer(self) -> bool:
        """Whether the model chose to answer."""
        return self.name is None

    def _find_name(self) -> bool:
        head, mark, _ = self.text.partition(', "arguments": ')
        if not mark:
            return False
        self.name = json.loads(head + "}")["tool"]
        self._given = len(head) + len(mark)
        return True


def _sign(tool: ToolSpec) -> str:
    properties: Mapping[str, Any] = tool.parameters.get("properties") or {}
    required = tool.parameters.get("required") or ()
    signed = [
        f"{name}{'' if name in required else '?'}: {_name_type(schema)}"
        for name, schema in properties.items()
    ]
    return f"{tool.name}({', '.join(signed)})"


def _name_type(schema: Any) -> str:
    if not is_mapping(schema):
        return "any"
    if values := schema.get("enum"):
        return "|".join(str(value) for value in values[:8])
    kind = schema.get("type", "any")
    name = str(kind) if isinstance(kind, str) else "|".join(str(one) for one in kind)
    if note := schema.get("description"):
        return f"{name} ({_shorten(str(note), 60)})"
    return name


def _shorten(text: str, longest: int = LONGEST_DESCRIPTION) -> str:
    """The first paragraph on one line; reading a long description costs a small machine seconds."""
    line = " ".join(text.strip().split("\n\n")[0].split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"
