"""What an MCP server answers, as a `ToolResult`: text and images for the model, everything for programs."""

import json
from typing import Any

from dovetail.tools.result import EMPTY
from dovetail.tools.tool import ToolFailure, ToolResult

MOST_PARTS = 500
MOST_CHARACTERS = 5_000_000
"""Of all texts and pictures together."""


def read_mcp_result(answer: Any) -> ToolResult:
    """A result from the answer to a `tools/call`; what is beyond the limits is left out and noted."""
    parts = _limit([_read_part(block) for block in answer.content[:MOST_PARTS]], len(answer.content))
    texts = [part["text"] for part in parts if part["type"] == "text"]
    text = "\n".join(texts)
    content: str | list[dict[str, Any]] = (text or EMPTY) if len(texts) == len(parts) else parts
    if answer.is_error:
        return ToolResult(f"Error: {text}", error=ToolFailure(text or "the tool failed", "mcp_tool_error"))
    data = answer.structured_content
    if data is None:
        plain = all(block.type == "text" for block in answer.content)
        data = (
            text if plain else [block.model_dump(mode="json", exclude_none=True) for block in answer.content]
        )
    if len(json.dumps(data, default=str)) > 2 * MOST_CHARACTERS:
        data = content
    return ToolResult(content, data=data)


def _limit(parts: list[dict[str, Any]], given: int) -> list[dict[str, Any]]:
    """The parts that fit; a text that does not fit whole is cut."""
    left = MOST_CHARACTERS
    kept: list[dict[str, Any]] = []
    for part in parts:
        if left > 0 and "text" in part:
            kept.append({**part, "text": part["text"][:left]})
            left -= len(part["text"])
        elif left > 0 and (size := len(part["image_url"]["url"])) <= left:
            kept.append(part)
            left -= size
    if left < 0 or given > len(kept):
        kept.append({"type": "text", "text": "[The result is too large: a part of it is left out.]"})
    return kept


def _read_part(block: Any) -> dict[str, Any]:
    if block.type == "text":
        return {"type": "text", "text": block.text}
    if block.type == "image":
        return {"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}
    if block.type == "resource":
        return {"type": "text", "text": _describe_resource(block.resource)}
    if block.type == "resource_link":
        words = ": ".join(filter(None, [block.title or block.name, block.description]))
        return {"type": "text", "text": f"[resource {block.uri}: {words}]"}
    size = len(getattr(block, "data", "") or "") * 3 // 4
    return {"type": "text", "text": f"[{block.type}, {getattr(block, 'mime_type', 'unknown')}, {size} bytes]"}


def _describe_resource(resource: Any) -> str:
    text = getattr(resource, "text", None)
    if isinstance(text, str):
        return f"[resource {resource.uri}]\n{text}"
    size = len(getattr(resource, "blob", "") or "") * 3 // 4
    return f"[resource {resource.uri}, {resource.mime_type or 'binary'}, {size} bytes]"
