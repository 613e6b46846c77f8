"""Conversations exported as Markdown, and imports made sessions again.

An import holds what people saw. The content for the model is made of it, so that no history comes in that a
model would reject: each call has exactly one result, right behind it. Only the parts for a model's provider
(signed reasoning and the like) come as they are.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dovetail.data.text import to_text
from dovetail.data.visible import show_controls
from dovetail.errors import ConfigError
from dovetail.events.call import ChatMessage, ToolCall, write_answer, write_result
from dovetail.ids import new_id
from dovetail.sessions.message import USER_MESSAGE, Message, Part, Role, Session, read_user_message
from dovetail.sessions.request import to_chat_messages
from dovetail.tools.pictures import MARK
from dovetail.tools.result import make_result

MOST_MESSAGES = 10_000
"""The most messages of one imported session."""

_NAMES: dict[Role, str] = {"user": "You", "assistant": "Assistant", "system": "System"}
_ROLES: dict[str, Role] = {name: role for role, name in _NAMES.items()}
_HEADING = re.compile(rf"^## ({'|'.join(_ROLES)})[ \t]*$", re.MULTILINE)
_ESCAPED = re.compile(rf"^\\(?=\\*## (?:{'|'.join(_ROLES)})[ \t]*$)", re.MULTILINE)
_LIKE_HEADING = re.compile(rf"^(?=\\*## (?:{'|'.join(_ROLES)})[ \t\r]*$)", re.MULTILINE)
_DENIED = "The user declined the call."
_CUT_OFF = "The call was interrupted; whether it had an effect is not known."


def to_markdown(session: Session, path: Iterable[Message]) -> str:
    """Return the messages from the root to the head, with their tool calls."""
    blocks = [f"# {' '.join(session.title.split()) or 'Conversation'}"]
    for message in path:
        pieces = list(_split_answer(message))
        for role, parts in pieces:
            texts = [_escape_headings(text) for part in parts if (text := _write_part(part))]
            if texts or len(pieces) == 1:
                blocks += [f"## {_NAMES[role]}", *texts]
    return show_controls("\n\n".join(blocks)) + "\n"


def _split_answer(message: Message) -> Iterator[tuple[Role, Sequence[Part]]]:
    """Yield a message in pieces: between them is what the user said while the answer was written."""
    piece: list[Part] = []
    for part in message.parts:
        if part.get("type") == USER_MESSAGE and part["data"]["kind"] == "steer":
            yield message.role, piece
            yield "user", read_user_message(part)
            piece = []
        else:
            piece.append(part)
    yield message.role, piece


def read_markdown(text: str) -> tuple[str, list[Message]]:
    """Return the title and the messages, each the child of the one before it."""
    head, *pieces = _HEADING.split(text.replace("\r\n", "\n"))
    if not pieces:
        raise ConfigError(
            "This Markdown contains no message.", hint="Begin each message with a line `## You`."
        )
    if len(pieces) // 2 > MOST_MESSAGES:
        raise ConfigError(
            f"This Markdown contains {len(pieces) // 2} messages; at most {MOST_MESSAGES} are allowed."
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


def collect_provider_parts(message: Message) -> list[dict[str, Any]]:
    """Return the parts for a model's provider; `answer` counts the model's answers within the message."""
    answers = [each for each in message.content if each["role"] == "assistant"]
    return [
        {"answer": number, **part}
        for number, answer in enumerate(answers)
        for part in answer.get("provider_parts") or ()
    ]


def make_content(
    role: str, parts: Sequence[Part], provider_parts: Sequence[Mapping[str, Any]] = ()
) -> list[ChatMessage]:
    """Return what a model reads of a message that people see as these parts."""
    if role != "assistant":
        return [{**message, "role": role} for message in to_chat_messages(parts)]
    content = [message for step in _split_steps(parts) for message in _read_step(step)]
    answers = (place for place, message in enumerate(content) if message["role"] == "assistant")
    for number, place in enumerate(answers):
        own = [_leave_out(part, "answer") for part in provider_parts if part["answer"] == number]
        if own:
            content[place] = {**content[place], "provider_parts": own}
    return content


def _leave_out(part: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key != name}


def _split_steps(parts: Sequence[Part]) -> Iterator[Sequence[Part]]:
    starts = [place for place, part in enumerate(parts) if part.get("type") == "step-start"]
    for start, end in zip([0, *starts], [*starts, len(parts)], strict=True):
        yield parts[start:end]


def _read_step(parts: Sequence[Part]) -> list[ChatMessage]:
    """Return the answer of one turn, the results of its calls (one each), and what the user said next."""
    text = "\n\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")
    calls: dict[str, Part] = {}
    for part in parts:
        if part.get("type") == "dynamic-tool":
            calls.setdefault(str(part.get("toolCallId", "")), part)
    said = [content for part in parts for content in _read_said(part)]
    if not text and not calls:
        return said
    answer = write_answer(text, [_read_call(call_id, part) for call_id, part in calls.items()])
    return [answer, *(write_result(call_id, _read_result(part)) for call_id, part in calls.items()), *said]


def _read_said(part: Part) -> list[ChatMessage]:
    """Return what a model reads of a message that reached it between two turns."""
    parts = read_user_message(part)
    return to_chat_messages(parts) if parts else []


def _read_call(call_id: str, part: Part) -> ToolCall:
    name, arguments = str(part.get("toolName", "")), to_text(part.get("input") or {})
    return ToolCall(call_id=call_id, name=name, arguments=arguments)


def _read_result(part: Part) -> str | list[dict[str, Any]]:
    if part.get("state") == "output-available":
        text = to_text(part.get("output"))
        return make_result(part.get("output")).llm_content if MARK in text else text
    return str(part.get("errorText") or (_DENIED if part.get("state") == "output-denied" else _CUT_OFF))


def _escape_headings(text: str) -> str:
    """Return the text such that none of its lines begins a message."""
    return _LIKE_HEADING.sub(r"\\", text)


def _write_part(part: Part) -> str:
    kind = part.get("type")
    if kind == "text":
        return str(part.get("text", "")).strip("\n")
    if kind == "reasoning":
        return _quote(str(part.get("text", "")))
    if kind == "dynamic-tool":
        return _write_call(part)
    if kind == "file":
        return f"[{part.get('filename') or 'file'}]"
    if kind == USER_MESSAGE:
        return _quote("\n\n".join(map(_write_part, read_user_message(part))))
    return ""


def _quote(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.strip().splitlines())


def _write_call(part: Part) -> str:
    lines = [f"`{part.get('toolName', '')}` {to_text(part.get('input'))}"]
    if "output" in part:
        lines.append(f"→ {to_text(part['output'])}")
    elif part.get("errorText"):
        lines.append(f"✗ {part['errorText']}")
    elif part.get("state") == "output-denied":
        lines.append("✗ declined")
    return "\n".join(f"- {line}" if number == 0 else f"  {line}" for number, line in enumerate(lines))
