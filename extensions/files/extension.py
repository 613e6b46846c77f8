"""Reads, lists, searches and writes files, all inside the workspace."""

from typing import Any

from dovetail.extensions.workspace import Workspace
from dovetail.settings import find_workspace
from dovetail.tools.tool import ToolContext

from .reading import read_lines
from .searching import find_text, list_folder, list_matching
from .writing import write_text

_place: dict[str, Workspace] = {}


def setup(context: Any) -> None:
    """Work in the app's workspace."""
    _place["workspace"] = Workspace(context.workspace)


def _workspace() -> Workspace:
    return _place.get("workspace") or Workspace(find_workspace())


def read_file(path: str, start_line: int, max_lines: int) -> str:
    """The lines of a text file."""
    return read_lines(_workspace(), path, start_line, max_lines)


def list_files(path: str, pattern: str | None, context: ToolContext) -> str:
    """What lies in a folder, or all files below it that match a pattern."""
    if pattern:
        return list_matching(_workspace(), path, pattern, context.check_cancelled)
    return list_folder(_workspace(), path)


def search_files(text: str, path: str, pattern: str, ignore_case: bool, context: ToolContext) -> str:
    """Lines that hold a text."""
    return find_text(_workspace(), path, pattern, (text, ignore_case), context.check_cancelled)


def write_file(path: str, content: str) -> str:
    """Write a whole file."""
    return write_text(_workspace(), path, content)


PATH = {"type": "string", "description": "Path relative to the workspace"}
FOLDER = {"type": "string", "description": "Folder relative to the workspace", "default": "."}

TOOLS = [
    {
        "label": "files",
        "name": "read_file",
        "description": "Read a text file of the workspace",
        "kind": "read",
        "parameters": {
            "path": {**PATH, "required": True},
            "start_line": {"type": "integer", "description": "First line, from 1", "default": 1},
            "max_lines": {"type": "integer", "description": "How many lines, at most 2000", "default": 400},
        },
        "execute": read_file,
    },
    {
        "label": "files",
        "name": "list_files",
        "description": "List a folder of the workspace, or with a pattern all files below it that match",
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
        "description": "Find the lines of the workspace's text files that hold a text (plain, no pattern)",
        "kind": "search",
        "parameters": {
            "text": {"type": "string", "description": "The text to find", "required": True},
            "path": FOLDER,
            "pattern": {"type": "string", "description": "Only in files such as *.py", "default": "*"},
            "ignore_case": {
                "type": "boolean",
                "description": "Whether upper and lower case are alike",
                "default": True,
            },
        },
        "execute": search_files,
    },
    {
        "label": "files",
        "name": "write_file",
        "description": (
            "Write a text file of the workspace, whole; folders are made as needed. "
            "Only when the user wants a file written"
        ),
        "kind": "write",
        "parameters": {
            "path": {**PATH, "required": True},
            "content": {"type": "string", "description": "The whole content", "required": True},
        },
        "execute": write_file,
    },
]
