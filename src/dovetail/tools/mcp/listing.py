"""The tools that an MCP server lists, within limits: a server may be wrong or hostile."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from dovetail.data.text import shorten
from dovetail.errors import ToolError

LIST_SECONDS = 30.0
MOST_PAGES = 100
MOST_TOOLS = 1000
MOST_CHARACTERS = 5_000_000
_LONGEST_REASON = 300


async def list_all(client: Any, server: str, fault: "asyncio.Future[str]") -> list[Any]:
    """Return the descriptions of all tools; `fault` is set when the server sent something unreadable.

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
    """Wait for the list, or for the news that its answer could not be read and will never come."""
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
    """The first thing that is wrong with an answer, without the page of details that the package adds."""
    read: Any = getattr(error, "errors", None)
    if read is not None:
        first: Any = read()[0]
        where = ".".join(str(step) for step in first["loc"])
        return f"{where}: {first['msg']}, got {shorten(first['input'])}"
    text = str(error) or type(error).__name__
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"


def _explain(server: str, reason: str) -> ToolError:
    return ToolError(f"The tool list of MCP server {server!r} cannot be used: {reason}.", type="mcp_error")
