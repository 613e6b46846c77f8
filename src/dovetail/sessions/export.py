"""A conversation as a text that people can keep."""

from collections.abc import Iterable

from dovetail.data.text import to_text
from dovetail.sessions.markdown import NAMES, escape_headings
from dovetail.sessions.message import Message, Part
from dovetail.sessions.session import Session


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
