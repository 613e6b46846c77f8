"""What writing a file would change: a diff, or a sentence where a diff would not help."""

import difflib
import os
import stat
from collections.abc import Iterable
from typing import Any

from dovetail.errors import ToolError
from dovetail.extensions.workspace import Workspace

MOST_COMPARED = 400_000
MOST_LINES = 8_000
LONGEST_DIFF = 20_000


def describe_change(workspace: Workspace, path: str, content: str) -> dict[str, Any]:
    """Return the preview of a write: a diff, also of a new file, or a text about a binary or huge one."""
    place = workspace.resolve(path)
    shown = workspace.show(place)
    size = len(content.encode("utf-8", errors="surrogatepass"))
    old = _read(workspace, path) if os.path.lexists(place) else None
    if old is None:
        return _make_diff(shown, "", content, is_new=True)
    if isinstance(old, int):
        return _explain(f"Replaces {shown}, which is too large to compare: {old} bytes before, {size} after.")
    if b"\0" in old:
        return _explain(
            f"Replaces {shown}, which is a binary file of {len(old)} bytes, by {size} bytes of text."
        )
    before = old.decode("utf-8", errors="replace")
    if before == content:
        return _explain(f"Changes nothing: {shown} has this content already.")
    if before.count("\n") + content.count("\n") > MOST_LINES or len(before) + len(content) > MOST_COMPARED:
        return _explain(f"Replaces {shown}: {len(old)} bytes before, {size} after.")
    return _make_diff(shown, before, content, is_new=False)


def _explain(text: str) -> dict[str, Any]:
    return {"kind": "text", "text": text}


def _read(workspace: Workspace, path: str) -> bytes | int:
    """Return the content of the file, or its size if it is too large to compare."""
    with os.fdopen(workspace.open_file(path), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(f"{path!r} is not a regular file.", type="not_a_file")
        return status.st_size if status.st_size > MOST_COMPARED else file.read()


def _make_diff(path: str, before: str, after: str, *, is_new: bool) -> dict[str, Any]:
    origin = "/dev/null" if is_new else f"a/{path}"
    lines = difflib.unified_diff(_split(before), _split(after), origin, f"b/{path}", lineterm="")
    return {"kind": "diff", "path": path, "diff": _join(lines), "is_new": is_new}


def _split(text: str) -> list[str]:
    """Return the lines; a last one without a line break is marked, so that adding the break is a change."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else [*lines[:-1], f"{lines[-1]}\n\\ No newline at end of file"]


def _join(lines: Iterable[str]) -> str:
    kept: list[str] = []
    length = left = 0
    for line in lines:
        length += len(line) + 1
        if length <= LONGEST_DIFF:
            kept.append(line)
        else:
            left += 1
    return "\n".join([*kept, f"\\ {left} more lines"] if left else kept)
