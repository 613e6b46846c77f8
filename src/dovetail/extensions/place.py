"""Where in a folder's own files something is written, or went wrong."""

import ast
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dovetail.extensions.folder import ENTRY


def find_place(error: BaseException, folder: Path) -> tuple[str, int | None]:
    """The innermost line of the folder's own code that the error, or its cause, passed; else its entry."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if Path(frame.filename).is_relative_to(folder):
            return frame.filename, frame.lineno
    return find_place(error.__cause__, folder) if error.__cause__ else (str(folder / ENTRY), None)


def find_called_execute(error: BaseException, folder: Path, source: bytes) -> int | None:
    """The line of an `"execute": function()` that the error came through, if it did."""
    lines = {
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.name == "<module>" and Path(frame.filename) == folder / ENTRY
    }
    if not lines or isinstance(error, SyntaxError):
        return None
    calls = (
        value for name, value in _list_fields(source) if name == "execute" and isinstance(value, ast.Call)
    )
    return next((call.lineno for call in calls if call.lineno in lines), None)


def _list_fields(source: bytes) -> Iterator[tuple[Any, ast.expr]]:
    """The names and values of all dicts in a file, written `{"name": value}` or `dict(name=value)`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword):
            yield node.arg, node.value
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                yield key.value if isinstance(key, ast.Constant) else None, value


def find_tool_lines(source: bytes, number: int) -> list[int | None]:
    """The lines where the tools are written, as far as they can be told without running the file."""
    values = {
        target.id: node.value
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    value = values.get("TOOL") or values.get("TOOLS")
    if isinstance(value, ast.List | ast.Tuple) and len(value.elts) == number:
        return [element.lineno for element in value.elts]
    return [value.lineno if value is not None else None] * number
