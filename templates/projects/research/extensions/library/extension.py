"""A library of Markdown files: search it, and read what was found."""

from pathlib import Path
from typing import Annotated

from dovetail import tool
from dovetail.errors import ToolError
from dovetail.tools import ToolContext

SETTINGS = {
    "folder": {"type": "string", "description": "The folder of the sources", "default": "sources"},
    "most": {"type": "integer", "description": "Sources in one search result", "minimum": 1, "default": 5},
}


@tool(kind="search")
def search_library(
    context: ToolContext, words: Annotated[str, "All words that say what is looked for; empty lists all"] = ""
) -> list[dict[str, str]]:
    """Find sources that contain the words, best first. Returns names and matching lines."""
    wanted = words.lower().split()
    found = [(_count(text, wanted), name, text) for name, text in _read_all(context).items()]
    best = max(count for count, _, _ in found)
    least = max(best / 2, bool(wanted))  # sources below share only words that most of them have
    ranked = sorted((each for each in found if each[0] >= least), key=lambda each: (-each[0], each[1]))
    return [
        {"source": name, "line": _find_line(text, wanted)}
        for _, name, text in ranked[: context.settings["most"]]
    ]


@tool(kind="read")
def read_source(source: Annotated[str, "The name, as a search returned it"], context: ToolContext) -> str:
    """Read one source as a whole."""
    texts = _read_all(context)
    if source not in texts:
        raise ToolError(f"Unknown source {source!r}. Expected one of: {', '.join(texts)}.")
    return texts[source]


def _read_all(context: ToolContext) -> dict[str, str]:
    """The sources by name; a relative folder is next to this file."""
    folder = Path(__file__).parent / context.settings["folder"]
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    if not texts:
        raise ToolError(f"The library is empty: {folder.name} has no Markdown files.")
    return texts


def _count(text: str, wanted: list[str]) -> int:
    return sum(text.lower().count(word) for word in wanted)


def _find_line(text: str, wanted: list[str]) -> str:
    """The line that says most about the words; a heading says only what the source is about."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return max(lines, key=lambda line: (not line.startswith("#"), _count(line, wanted)))
