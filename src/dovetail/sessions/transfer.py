"""A conversation that was exported, made a session again.

The export holds what people saw; what a model reads is made of that, so that no history comes in that a model
would refuse: each call has exactly one result, right behind it.
"""

import re
from collections.abc import Iterable, Sequence

from dovetail.data.text import to_text
from dovetail.errors import ConfigError
from dovetail.events.call import ChatMessage, ToolCall, write_answer, write_result
from dovetail.ids import new_id
from dovetail.sessions.message import Message, Part, Role, Session
from dovetail.sessions.request import to_chat_messages

MOST_MESSAGES = 10_000
"""Messages of one session that comes in at once."""
_ROUGH_ENDS = {"output-denied": "The user declined the call."}
_CUT_OFF = "The call was interrupted; whether it had an effect is not known."


def check_tree(messages: Sequence[Message], head: str | None) -> None:
    """See that ids differ, that parents come before their children, and that the head is one of them."""
    seen: set[str] = set()
    for message in messages:
        if message.id in seen:
            raise ConfigError(f"two messages have the id {message.id!r}")
        if message.parent_id is not None and message.parent_id not in seen:
            raise ConfigError(
                f"message {message.id!r} names a parent {message.parent_id!r} that does not come before it",
                hint="Send the messages in the order of the export, parents first.",
            )
        seen.add(message.id)
    if head is not None and head not in seen:
        raise ConfigError(f"the head {head!r} is none of the messages", hint="Leave it out for the last one.")


def make_content(role: str, parts: Sequence[Part]) -> list[ChatMessage]:
    """What a model reads of a message that people see as these parts."""
    if role != "assistant":
        return [{**message, "role": role} for message in to_chat_messages(parts)]
    fold = _Fold()
    for part in parts:
        fold.take(part)
    return fold.end()


class _Fold:
    """Gathers one turn after the other."""

    def __init__(self) -> None:
        self._messages: list[ChatMessage] = []
        self._texts: list[str] = []
        self._calls: dict[str, Part] = {}

    def take(self, part: Part) -> None:
        kind = part.get("type")
        if kind == "step-start":
            self._flush()
        elif kind == "text":
            self._texts.append(str(part.get("text", "")))
        elif kind == "dynamic-tool":
            self._calls.setdefault(str(part.get("toolCallId", "")), part)

    def end(self) -> list[ChatMessage]:
        self._flush()
        return self._messages

    def _flush(self) -> None:
        text = "\n\n".join(self._texts)
        if text or self._calls:
            calls = [_make_call(call_id, part) for call_id, part in self._calls.items()]
            self._messages.append(write_answer(text, calls))
        for call_id, part in self._calls.items():
            self._messages.append(write_result(call_id, _make_result(part)))
        self._texts, self._calls = [], {}


def _make_call(call_id: str, part: Part) -> ToolCall:
    name, arguments = str(part.get("toolName", "")), to_text(part.get("input") or {})
    return ToolCall(call_id=call_id, name=name, arguments=arguments)


def _make_result(part: Part) -> str:
    if part.get("state") == "output-available":
        return to_text(part.get("output"))
    return str(part.get("errorText") or _ROUGH_ENDS.get(str(part.get("state")), _CUT_OFF))


NAMES: dict[Role, str] = {"user": "You", "assistant": "Assistant", "system": "System"}
_ROLES: dict[str, Role] = {name: role for role, name in NAMES.items()}
_HEADING = re.compile(rf"^## ({'|'.join(_ROLES)})[ \t]*$", re.MULTILINE)
_ESCAPED = re.compile(rf"^\\(?=\\*## (?:{'|'.join(_ROLES)})[ \t]*$)", re.MULTILINE)
_LIKE_HEADING = re.compile(rf"^(?=\\*## (?:{'|'.join(_ROLES)})[ \t\r]*$)", re.MULTILINE)


def escape_headings(text: str) -> str:
    """The text such that none of its lines begins a message."""
    return _LIKE_HEADING.sub(r"\\", text)


def read_markdown(text: str) -> tuple[str, list[Message]]:
    """The title and the messages, one after the other."""
    head, *pieces = _HEADING.split(text.replace("\r\n", "\n"))
    if not pieces:
        raise ConfigError("there is no message in this Markdown", hint="Begin each with a line `## You`.")
    if len(pieces) // 2 > MOST_MESSAGES:
        raise ConfigError(
            f"There are {len(pieces) // 2} messages in this Markdown, at most {MOST_MESSAGES} fit."
        )
    title = next((line[2:].strip() for line in head.splitlines() if line.startswith("# ")), "")
    messages: list[Message] = []
    for name, said in zip(pieces[::2], pieces[1::2], strict=True):
        parts: list[Part] = [{"type": "text", "text": _ESCAPED.sub("", said.strip("\n"))}]
        parent_id = messages[-1].id if messages else None
        role = _ROLES[name]
        content = make_content(role, parts)
        messages.append(
            Message(id=new_id("msg"), parent_id=parent_id, role=role, parts=parts, content=content)
        )
    return title, messages


def to_markdown(session: Session, path: Iterable[Message]) -> str:
    """The messages from the root to the head, with their tool calls."""
    blocks = [f"# {session.title or 'Conversation'}"]
    for message in path:
        blocks.append(f"## {NAMES[message.role]}")
        blocks += [escape_headings(text) for part in message.parts if (text := _write_part(part))]
    return "\n\n".join(blocks) + "\n"


def _write_part(part: Part) -> str:
    kind = part.get("type")
    if kind == "text":
        return str(part.get("text", "")).strip("\n")
    if kind == "reasoning":
        return "\n".join(f"> {line}" for line in str(part.get("text", "")).strip().splitlines())
    if kind == "dynamic-tool":
        return _write_call(part)
    if kind == "file":
        return f"[{part.get('filename') or 'file'}]"
    return ""


def _write_call(part: Part) -> str:
    lines = [f"`{part.get('toolName', '')}` {to_text(part.get('input'))}"]
    if "output" in part:
        lines.append(f"→ {to_text(part['output'])}")
    elif part.get("errorText"):
        lines.append(f"✗ {part['errorText']}")
    elif part.get("state") == "output-denied":
        lines.append("✗ declined")
    return "\n".join(f"- {line}" if number == 0 else f"  {line}" for number, line in enumerate(lines))
