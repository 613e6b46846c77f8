"""A conversation that was kept as Markdown, read again: `# title`, then `## You` or `## Assistant` and texts.

What was a tool call or a thought stays in the text where it was written down; branches that were not shown
are not in it. JSON keeps all of that.
"""

import re

from dovetail.errors import ConfigError
from dovetail.sessions.importing import MOST_MESSAGES, make_content
from dovetail.sessions.message import Message, Part, Role
from dovetail.store.ids import new_id

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
