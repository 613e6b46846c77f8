"""Estimates of the tokens that messages take in a model's context window.

They err on the high side: a request that does not fit costs more than room that stays unused.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.events.call import ChatMessage, ToolSpec

FULL = 0.8
"""The share of the window that messages may take; above it there would be no room for the answer."""

_FRAME = 8  # the role and the marks around a message
_IMAGE = 1_500  # a large image, at most providers
_BYTES = 50  # of a file for one token; a page of a PDF has about 2,000 tokens
_COUNTED_APART = frozenset({"role", "content", "provider_parts"})
_MEDIA = frozenset({"image", "image_url", "input_image"})
_SEALED = re.compile(r"[\w+/=-]{64,}", re.ASCII)
"""A signature or an encrypted text: it takes no room among the messages that the model reads."""

_FILES = frozenset({"file", "audio", "input_audio", "video", "document", "input_file"})


def fits(messages: Sequence[ChatMessage], window: int) -> bool:
    """Whether the messages leave room for an answer in `window` tokens."""
    return estimate_tokens(messages) <= int(window * FULL)


def estimate_tokens(messages: Sequence[ChatMessage]) -> int:
    """Estimate the tokens of messages; attachments count as what they show, not as text."""
    return sum(estimate_message(message) for message in messages)


def estimate_message(message: ChatMessage) -> int:
    """Estimate the tokens of one message."""
    content = message.get("content")
    rest = {key: value for key, value in message.items() if key not in _COUNTED_APART}
    tokens = _FRAME + (estimate_text(_write(rest)) if rest else 0)
    if parts := message.get("provider_parts"):
        tokens += sum(_estimate_own(part.get("data")) for part in parts)
    if isinstance(content, str):
        return tokens + estimate_text(content)
    if is_list(content):
        return tokens + sum(_estimate_part(part) for part in content)
    return tokens if content is None else tokens + estimate_text(_write(content))


def estimate_tools(tools: Sequence[ToolSpec]) -> int:
    """Estimate the tokens of the descriptions of tools."""
    return sum(estimate_text(tool.name + tool.description + _write(dict(tool.parameters))) for tool in tools)


def estimate_text(text: str) -> int:
    """Estimate the tokens of a text: a third of a token per ASCII character, one for any other."""
    plain = len(text) if text.isascii() else sum(character.isascii() for character in text)
    return plain // 3 + (len(text) - plain)


def is_attachment(part: Any) -> bool:
    """Whether a part of a message is an image or a file."""
    return is_mapping(part) and part.get("type") in _MEDIA | _FILES


def _estimate_part(part: Any) -> int:
    if not is_attachment(part):
        return estimate_text(_write(part))
    return _IMAGE if part["type"] in _MEDIA else max(_IMAGE, _measure(part) // _BYTES)


def _estimate_own(value: Any) -> int:
    """Estimate a provider's own part by the texts in it; what is sealed counts in a tool's result only."""
    if isinstance(value, str):
        return 0 if _SEALED.fullmatch(value) else estimate_text(value)
    if is_list(value):
        return sum(map(_estimate_own, value))
    if not is_mapping(value):
        return 0
    if str(value.get("type")).endswith("_result"):
        return estimate_text(_write(value))
    return sum(map(_estimate_own, value.values()))


def _measure(value: Any) -> int:
    """Return the size of the data in a part."""
    if isinstance(value, str | bytes):
        return len(value)
    return sum(_measure(item) for item in value.values()) if is_mapping(value) else 0


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
