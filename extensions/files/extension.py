"""Read, list, search and write files inside the workspace."""

from typing import Any

from dovetail.errors import ToolError
from dovetail.extensions.workspace import Workspace
from dovetail.settings import find_workspace
from dovetail.tools import ToolContext, ToolResult

from .changes import describe_change
from .reading import read_lines
from .searching import find_text, list_folder, list_matching
from .writing import write_text

_place: dict[str, Workspace] = {}


def setup(context: Any) -> None:
    """Use the app's workspace."""
    _place["workspace"] = Workspace(context.workspace)


def _workspace() -> Workspace:
    return _place.get("workspace") or Workspace(find_workspace())


def read_file(path: str, start_line: int, max_lines: int) -> str:
    """Return lines of a text file."""
    return read_lines(_workspace(), path, start_line, max_lines)


def list_files(path: str, pattern: str | None, context: ToolContext) -> str:
    """List the entries of a folder, or all files below it that match a pattern."""
    if pattern:
        return list_matching(_workspace(), path, pattern, context.check_cancelled)
    return list_folder(_workspace(), path)


def search_files(text: str, path: str, pattern: str, ignore_case: bool, context: ToolContext) -> str:
    """Return the lines that contain a text."""
    return find_text(_workspace(), path, pattern, (text, ignore_case), context.check_cancelled)


def write_file(path: str, content: str) -> ToolResult:
    """Write a whole file; people see what has changed."""
    change = find_change(path, content)
    text = write_text(_workspace(), path, content)
    return ToolResult(text, return_display=change, data=text)


def find_change(path: str, content: str) -> dict[str, Any] | None:
    """Return the difference that a write makes, if it can be shown."""
    try:
        change = describe_change(_workspace(), path, content)
    except ToolError:  # the write says why
        return None
    return {name: change[name] for name in ("path", "diff", "is_new")} if change["kind"] == "diff" else None


def show_change(arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
    """Show what a write would change, before it is approved."""
    return describe_change(_workspace(), arguments["path"], arguments["content"])


PATH = {"type": "string", "description": "Path relative to the workspace"}
FOLDER = {"type": "string", "description": "Folder relative to the workspace", "default": "."}

TOOLS = [
    {
        "label": "files",
        "name": "read_file",
        "description": "Read a text file in the workspace",
        "kind": "read",
        "parameters": {
            "path": {**PATH, "required": True},
            "start_line": {
                "type": "integer",
                "description": "First line to read, counted from 1",
                "default": 1,
            },
            "max_lines": {"type": "integer", "description": "How many lines, at most 2000", "default": 400},
        },
        "execute": read_file,
    },
    {
        "label": "files",
        "name": "list_files",
        "description": "List a folder in the workspace, or with a pattern all files below it that match",
        "kind": "read",
        "parameters": {
            "path": FOLDER,
            "pattern": {"type": "string", "description": "Such as *.py or docs/**/*.md"},
        },
        "execute": list_files,
    },
    {
        "label": "files",
        "name": "search_files",
        "description": "Find lines in the workspace's text files that contain a text (plain, not a pattern)",
        "kind": "search",
        "parameters": {
            "text": {"type": "string", "description": "The text to find", "required": True},
            "path": FOLDER,
            "pattern": {"type": "string", "description": "Only in files such as *.py", "default": "*"},
            "ignore_case": {
                "type": "boolean",
                "description": "Ignore upper and lower case",
                "default": True,
            },
        },
        "execute": search_files,
    },
    {
        "label": "files",
        "name": "write_file",
        "description": (
            "Write a whole text file in the workspace; missing folders are created. "
            "Use it only when the user wants a file written"
        ),
        "kind": "write",
        "parameters": {
            "path": {**PATH, "required": True},
            "content": {
                "type": "string",
                "description": "The whole text that the file will have, line by line",
                "required": True,
            },
        },
        "execute": write_file,
        "preview": show_change,
    },
]
