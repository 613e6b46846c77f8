"""Fetch web pages as text that a model can read."""

import os
from functools import partial
from typing import Any

from dovetail.errors import ToolError
from dovetail.tools import ToolContext
from dovetail.tools.public_address import AddressRules
from dovetail.tools.threads import run_in_thread

from .fetching import Page, fetch
from .markup import to_text

DEFAULT_CHARACTERS, MOST_CHARACTERS = 20_000, 100_000


async def fetch_url(url: str, start: int, max_chars: int) -> str:
    """Return a page's final address, status, title and text."""
    page = await fetch(url, AddressRules.read(os.environ))
    title, text = await run_in_thread(partial(_read, page))
    start = max(start, 0)
    number = DEFAULT_CHARACTERS if max_chars <= 0 else min(max_chars, MOST_CHARACTERS)
    head = [f"url: {page.url}", f"status: {page.status}"]
    head += [f"title: {title}"] if title else []
    if page.is_cut:
        head.append("note: only the beginning of the page was loaded")
    if (end := start + number) < len(text):
        head.append(f"note: characters {start} to {end} of {len(text)}; continue with start={end}")
    return "\n".join([*head, "", text[start : start + number] or "(no text)"])


def show_request(arguments: dict[str, Any], context: ToolContext) -> dict[str, str]:
    """Show the request before it is approved."""
    return {"kind": "request", "method": "GET", "url": arguments["url"]}


def _read(page: Page) -> tuple[str, str]:
    if page.media_type in ("text/html", "application/xhtml+xml"):
        return to_text(page.text, page.url)
    if page.media_type.startswith("text/") or page.media_type.endswith(("json", "xml", "javascript", "yaml")):
        return "", page.text
    raise ToolError(f"{page.url} is not text but {page.media_type}.", type="not_text")


TOOL = {
    "label": "web",
    "name": "fetch_url",
    "description": "Load a web page (http or https) and get its text, links included",
    "kind": "fetch",
    "time_limit": 60,
    "parameters": {
        "url": {
            "type": "string",
            "description": "The full address, such as https://example.org",
            "required": True,
        },
        "start": {"type": "integer", "description": "First character to return", "default": 0},
        "max_chars": {
            "type": "integer",
            "description": f"How many characters, at most {MOST_CHARACTERS}",
            "default": DEFAULT_CHARACTERS,
        },
    },
    "execute": fetch_url,
    "preview": show_request,
}
