"""Render a prompt as one text, or as chat messages: system and developer, history, request (rule P150)."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.data.sanitize import PLAIN, sanitize
from dovetail.data.shapes import has_items, is_mapping
from dovetail.prompt.options import RenderOptions, Roles
from dovetail.prompt.parts import Message, is_text_part, read_parts
from dovetail.prompt.slots import Slots, is_empty, order_tool
from dovetail.prompt.structure import render_structure
from dovetail.prompt.yaml_text import to_block_text

logger = logging.getLogger(__name__)

_YAML_BEFORE_INPUT = ("instruct", "examples", "input")
_STRUCTURES = frozenset({"kwargs", "returns"})


def build_text(slots: Slots, options: RenderOptions) -> str:
    """Return the whole prompt as one text (rule P70)."""
    roles, titles = options.roles, options.titles
    lines = [f"{roles.get('user', 'user')}:"]
    for slot, value in (("system", slots.system), ("developer", slots.developer)):
        if not is_empty(value):
            lines += build_yaml(titles[slot], value)
    if slots.chat_history:
        lines += build_history(titles["chat_history"], slots.chat_history, roles)
    lines += build_main(slots, options)
    lines.append(f"{roles.get('assistant', 'assistant')}:")
    return "\n".join(lines)


def build_main(slots: Slots, options: RenderOptions) -> list[str]:
    """Return the lines of the main prompt, from the tools to the output (rule P100)."""
    titles = options.titles
    lines: list[str] = []
    if slots.tools:
        lines += build_tools(titles["tools"], slots.tools)
    if not is_empty(slots.action_results):
        lines += build_yaml(titles["action_results"], slots.action_results)
    if not is_empty(slots.info):
        lines += build_info(titles["info"], slots.info)
    for key, value in slots.extra.items():
        lines += build_yaml(f"[{key}]", value)
    for slot in _YAML_BEFORE_INPUT:
        value = getattr(slots, slot)
        if not is_empty(value):
            lines += build_yaml(titles[slot], value)
    if not is_empty(slots.output):
        lines += build_requirement(titles["output_requirement"], slots.output, slots.output_format)
    lines.append(f"{titles['output']}:")
    return lines


def build_yaml(title: str, value: Any) -> list[str]:
    """Return a block of YAML or plain text."""
    return [f"{title}:", to_block_text(value), ""]


def build_history(title: str, history: Sequence[Message], roles: Roles) -> list[str]:
    """Return the history, one line per text; other parts are omitted with a warning."""
    lines = [f"{title}:"]
    for role, content in history:
        if isinstance(content, str):
            lines.append(f"[{roles[role]}]:{content}")
        else:
            lines += [f"[{roles[role]}]:{text}" for text in read_texts(content, "chat_history")]
    lines.append("")
    return lines


def read_texts(parts: list[Any], slot: str) -> list[str]:
    """Return the texts of content parts; parts of other types are omitted with a warning."""
    texts: list[str] = []
    for part in read_parts(parts, slot):
        if part["type"] == "text":
            texts.append(str(part["text"]))
        else:
            warn_skipped(part, slot)
    return texts


def warn_skipped(part: Mapping[str, Any], slot: str) -> None:
    """Warn that a part cannot be shown in plain text."""
    logger.warning("Omitted a part of type %r in %s: only text can be rendered here.", part["type"], slot)


def build_tools(title: str, tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the tools, each in brackets, one line per key."""
    lines = [f"{title}:"]
    for tool in tools:
        lines.append("[")
        for key, value in order_tool(tool).items():
            lines.append(f"{key}: {render_structure(value) if key in _STRUCTURES else value}")
        lines.append("]")
    return lines


def build_info(title: str, info: Any) -> list[str]:
    """Return the info block: one line per item, or the plain text."""
    if is_mapping(info):
        rows = [f"- {key} : {_inline(value)}" for key, value in info.items()]
    elif has_items(info):
        rows = [f"- {_inline(value)}" for value in info]
    else:
        rows = [_inline(info)]
    return [f"{title}:", *rows, ""]


def _inline(value: Any) -> str:
    return str(value if type(value) in PLAIN else sanitize(value))


def build_requirement(title: str, output: Any, output_format: str) -> list[str]:
    """Return the description of the expected answer."""
    if output_format == "json":
        return [
            f"{title}:",
            "Data Format: JSON",
            "Data Structure:",
            render_structure(output),
            "",
        ]
    if output_format == "markdown":
        return [f"{title}:", "Data Format: markdown text"]
    if output_format != "text":
        logger.warning(
            "Unknown output_format %r is ignored. Expected one of: json, markdown, text.",
            output_format,
        )
    return []


ChatMessage = dict[str, Any]
CONTINUE = "[User continue input]"


def build_messages(
    slots: Slots, options: RenderOptions, rich_content: bool | None, strict_role_orders: bool | None
) -> list[ChatMessage]:
    """Return the messages of a prompt; with `rich_content` their content is a list of parts."""
    messages: list[ChatMessage] = []
    for role, value in (("system", slots.system), ("developer", slots.developer)):
        if not is_empty(value):
            messages.append({"role": str(options.roles.get(role, role)), "content": to_block_text(value)})
    if slots.chat_history:
        title = options.titles["chat_history"]
        if rich_content is False:
            messages += build_plain_history(
                slots.chat_history, options.roles, title if strict_role_orders else None
            )
        else:
            messages += build_rich_history(
                slots.chat_history, options.roles, title if strict_role_orders else None
            )
    return messages + build_request(slots, options, bool(rich_content))


def build_plain_history(history: Sequence[Message], roles: Roles, title: str | None) -> list[ChatMessage]:
    """Return the history as messages of text; with a title, in strict order."""
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
    """Return the history as messages of parts; with a title, in strict order."""
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
    """Make the history begin with the user and end with the assistant, as many models require."""
    if messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": opening})
    if messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": ending})
    return messages


def build_request(slots: Slots, options: RenderOptions, rich: bool) -> list[ChatMessage]:
    """Return the user's request: the input alone, the attachment alone, or the main prompt with both."""
    role = options.roles.get("user", "user")
    if not _has_context(slots):
        if is_empty(slots.input) and slots.attachment:
            return [{"role": role, "content": slots.attachment}] if rich else _attach(slots, role)
        if not is_empty(slots.input) and not slots.attachment:
            return [{"role": role, "content": sanitize(slots.input)}]
    text = "\n".join(build_main(slots, options))
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
