"""Where in a folder's own files something is written, or went wrong."""

import ast
import traceback
from pathlib import Path

from dovetail.extensions.folder import ENTRY


def find_place(error: BaseException, folder: Path) -> tuple[str, int | None]:
    """The innermost line of the folder's own code that the error, or its cause, passed; else its entry."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if Path(frame.filename).is_relative_to(folder):
            return frame.filename, frame.lineno
    return find_place(error.__cause__, folder) if error.__cause__ else (str(folder / ENTRY), None)


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
