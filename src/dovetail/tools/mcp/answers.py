"""Answers of MCP servers as a `ToolResult`: text and images for the model, everything for programs."""

import asyncio
import json
from collections.abc import Awaitable
from typing import Any

from dovetail.data.text import cut, shorten
from dovetail.errors import ToolError
from dovetail.tools.result import EMPTY
from dovetail.tools.tool import ToolFailure, ToolResult

MOST_PARTS = 500
MOST_CHARACTERS = 5_000_000
"""The limit for all texts and images together."""


def read_mcp_result(answer: Any) -> ToolResult:
    """Return the answer to a `tools/call` as a result; parts beyond the limits are left out, with a note."""
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
    """Return the parts that fit; a text that does not fit is cut."""
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


LIST_SECONDS = 30.0
MOST_PAGES = 100
MOST_TOOLS = 1000
_LONGEST_REASON = 300


async def list_all(client: Any, server: str, fault: "asyncio.Future[str]") -> list[Any]:
    """Return the descriptions of all tools; `fault` is set if the server sends something unreadable.

    Raises:
        ToolError: it lists too much, too slowly, in circles, or something that is not a list of tools.
    """
    try:
        async with asyncio.timeout(LIST_SECONDS):
            return await _unless(fault, _read_pages(client, server))
    except TimeoutError as error:
        raise _explain(server, f"it took longer than {LIST_SECONDS:g} s") from error
    except ToolError:
        raise
    except Exception as error:  # the package checks the answers and raises what it likes
        raise _explain(server, _describe(error)) from error


async def _unless(fault: "asyncio.Future[str]", work: Awaitable[list[Any]]) -> list[Any]:
    """Wait for the list, or for the notice that its answer could not be read and will never come."""
    listing = asyncio.ensure_future(work)
    try:
        await asyncio.wait([listing, fault], return_when=asyncio.FIRST_COMPLETED)
        if not listing.done():
            raise ValueError(fault.result())
        return listing.result()
    finally:
        listing.cancel()


async def _read_pages(client: Any, server: str) -> list[Any]:
    tools: list[Any] = []
    characters = 0
    cursors: set[str] = set()
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        tools += page.tools
        characters += sum(len(tool.model_dump_json()) for tool in page.tools)
        if len(tools) > MOST_TOOLS:
            raise _explain(server, f"it has more than {MOST_TOOLS} tools")
        if characters > MOST_CHARACTERS:
            raise _explain(server, f"the descriptions have more than {MOST_CHARACTERS} characters")
        cursor = page.next_cursor
        if not cursor:
            return tools
        if cursor in cursors:
            raise _explain(server, f"it repeats the cursor {shorten(cursor)}")
        cursors.add(cursor)
    raise _explain(server, f"it has more than {MOST_PAGES} pages")


def _describe(error: Exception) -> str:
    """Return the first problem of an answer, without the details that the package adds."""
    read: Any = getattr(error, "errors", None)
    if read is not None:
        first: Any = read()[0]
        where = ".".join(str(step) for step in first["loc"])
        return f"{where}: {first['msg']}, got {shorten(first['input'])}"
    return cut(str(error) or type(error).__name__, _LONGEST_REASON)


def _explain(server: str, reason: str) -> ToolError:
    return ToolError(f"The tool list of MCP server {server!r} cannot be used: {reason}.", type="mcp_error")
