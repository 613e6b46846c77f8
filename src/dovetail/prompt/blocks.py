"""The blocks of a rendered prompt, one pure function each; every block is a list of lines."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.data.sanitize import PLAIN, sanitize
from dovetail.data.shapes import has_items, is_mapping
from dovetail.prompt.look import Look, Roles
from dovetail.prompt.parts import Message, read_parts
from dovetail.prompt.slots import Slots, is_empty, order_tool
from dovetail.prompt.structure import render_structure
from dovetail.prompt.yaml_text import to_block_text

logger = logging.getLogger(__name__)

_YAML_BEFORE_INPUT = ("instruct", "examples", "input")
_STRUCTURES = frozenset({"kwargs", "returns"})


def build_text(slots: Slots, look: Look) -> str:
    """The whole prompt as one text (rule P70)."""
    roles, titles = look.roles, look.titles
    lines = [f"{roles.get('user', 'user')}:"]
    for slot, value in (("system", slots.system), ("developer", slots.developer)):
        if not is_empty(value):
            lines += build_yaml(titles[slot], value)
    if slots.chat_history:
        lines += build_history(titles["chat_history"], slots.chat_history, roles)
    lines += build_main(slots, look)
    lines.append(f"{roles.get('assistant', 'assistant')}:")
    return "\n".join(lines)


def build_main(slots: Slots, look: Look) -> list[str]:
    """What is asked, from the tools to the output (rule P100)."""
    titles = look.titles
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
    """A block of YAML or plain text."""
    return [f"{title}:", to_block_text(value), ""]


def build_history(title: str, history: Sequence[Message], roles: Roles) -> list[str]:
    """The messages so far, a line for each text; other parts are left out with a warning."""
    lines = [f"{title}:"]
    for role, content in history:
        if isinstance(content, str):
            lines.append(f"[{roles[role]}]:{content}")
        else:
            lines += [f"[{roles[role]}]:{text}" for text in read_texts(content, "chat_history")]
    lines.append("")
    return lines


def read_texts(parts: list[Any], slot: str) -> list[str]:
    """The texts of content parts; each part of another type is left out with a warning."""
    texts: list[str] = []
    for part in read_parts(parts, slot):
        if part["type"] == "text":
            texts.append(str(part["text"]))
        else:
            warn_skipped(part, slot)
    return texts


def warn_skipped(part: Mapping[str, Any], slot: str) -> None:
    """Say that a part has no place in plain text."""
    logger.warning("a part of type %r in %s is left out: only text fits here", part["type"], slot)


def build_tools(title: str, tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """The tools, each in brackets, a line for each key."""
    lines = [f"{title}:"]
    for tool in tools:
        lines.append("[")
        for key, value in order_tool(tool).items():
            lines.append(f"{key}: {render_structure(value) if key in _STRUCTURES else value}")
        lines.append("]")
    return lines


def build_info(title: str, info: Any) -> list[str]:
    """What the model should know: a line for each item, or the plain text."""
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
    """What the answer must look like."""
    if output_format == "json":
        return [
            f"{title}:",
            "Data Format: JSON",
            "Data Structure:",
            render_structure(output, described=True),
            "",
        ]
    if output_format == "markdown":
        return [f"{title}:", "Data Format: markdown text"]
    if output_format != "text":
        logger.warning(
            "output_format %r is not known, so nothing is said of it: use json, markdown or text",
            output_format,
        )
    return []
