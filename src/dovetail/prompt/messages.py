"""The prompt as chat messages: system and developer, the history, and the request (rule P150)."""

from collections.abc import Sequence
from typing import Any

from dovetail.data.sanitize import sanitize
from dovetail.prompt.blocks import build_main, read_texts, warn_skipped
from dovetail.prompt.look import Look, Roles
from dovetail.prompt.parts import Message, is_text_part, read_parts
from dovetail.prompt.slots import Slots, is_empty
from dovetail.prompt.yaml_text import to_block_text

ChatMessage = dict[str, Any]
CONTINUE = "[User continue input]"


def build_messages(
    slots: Slots, look: Look, rich_content: bool | None, strict_role_orders: bool | None
) -> list[ChatMessage]:
    """The messages of a prompt; with `rich_content` their content is a list of parts."""
    messages: list[ChatMessage] = []
    for role, value in (("system", slots.system), ("developer", slots.developer)):
        if not is_empty(value):
            messages.append({"role": str(look.roles.get(role, role)), "content": to_block_text(value)})
    if slots.chat_history:
        title = look.titles["chat_history"]
        if rich_content is False:
            messages += build_plain_history(
                slots.chat_history, look.roles, title if strict_role_orders else None
            )
        else:
            messages += build_rich_history(
                slots.chat_history, look.roles, title if strict_role_orders else None
            )
    return messages + build_request(slots, look, bool(rich_content))


def build_plain_history(history: Sequence[Message], roles: Roles, title: str | None) -> list[ChatMessage]:
    """The history as messages of text; with a title, in strict order."""
    merged: list[tuple[str, list[str]]] = []
    for role, content in history:
        name = roles[role]
        texts = [content] if isinstance(content, str) else read_texts(content, "chat_history")
        if title is not None and merged and merged[-1][0] == name:
            merged[-1][1].extend(texts)
        else:
            merged.append((name, texts))
    messages = [{"role": name, "content": "\n\n".join(texts)} for name, texts in merged]
    return messages if title is None else _repair(messages, title, CONTINUE)


def build_rich_history(history: Sequence[Message], roles: Roles, title: str | None) -> list[ChatMessage]:
    """The history as messages of parts; with a title, in strict order."""
    messages: list[ChatMessage] = []
    for role, content in history:
        name = roles[role]
        parts = [_text_part(content)] if isinstance(content, str) else read_parts(content, "chat_history")
        if title is not None and messages and messages[-1]["role"] == name:
            messages[-1]["content"].extend(parts)
        else:
            messages.append({"role": name, "content": parts})
    return messages if title is None else _repair(messages, [_text_part(title)], [_text_part(CONTINUE)])


def _repair(messages: list[ChatMessage], opening: Any, ending: Any) -> list[ChatMessage]:
    """Let the history begin with the user and end with the assistant, as many models demand."""
    if messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": opening})
    if messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": ending})
    return messages


def build_request(slots: Slots, look: Look, rich: bool) -> list[ChatMessage]:
    """What the user asks now: the input alone, the attachment alone, or the main prompt with both."""
    role = look.roles.get("user", "user")
    if not _has_context(slots):
        if is_empty(slots.input) and slots.attachment:
            return [{"role": role, "content": slots.attachment}] if rich else _attach(slots, role)
        if not is_empty(slots.input) and not slots.attachment:
            return [{"role": role, "content": sanitize(slots.input)}]
    text = "\n".join(build_main(slots, look))
    if rich:
        return [{"role": role, "content": [_text_part(text), *slots.attachment]}]
    return [*_attach(slots, role), {"role": role, "content": text}]


def _has_context(slots: Slots) -> bool:
    return bool(slots.tools or slots.extra) or not all(
        is_empty(value) for value in (slots.action_results, slots.info, slots.instruct, slots.output)
    )


def _attach(slots: Slots, role: str) -> list[ChatMessage]:
    messages: list[ChatMessage] = []
    for part in slots.attachment:
        if is_text_part(part):
            messages.append({"role": role, "content": part["text"]})
        else:
            warn_skipped(part, "attachment")
    return messages


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
