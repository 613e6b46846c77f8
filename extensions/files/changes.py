"""What writing a file would change: a diff, or a sentence where a diff would not help."""

import difflib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from dovetail.errors import ToolError
from dovetail.extensions.workspace import Workspace

MOST_COMPARED = 2_000_000
MOST_LINES = 8_000
"""Lines between the first and the last change, in both texts: comparing them takes their product."""
CONTEXT = 3
LONGEST_DIFF = 20_000


def describe_change(workspace: Workspace, path: str, content: str) -> dict[str, Any]:
    """Return the preview of a write: a diff, also of a new file, or a text about a binary or huge one."""
    place = workspace.resolve(path)
    shown = workspace.show(place)
    size = len(content.encode("utf-8", errors="surrogatepass"))
    old = _read(workspace, path) if os.path.lexists(place) else None
    if old is None:
        return _make_diff(shown, "", content, is_new=True) or _explain(f"Creates {shown} with {size} bytes.")
    if isinstance(old, int):
        return _explain(f"Replaces {shown}, which is too large to compare: {old} bytes before, {size} after.")
    if b"\0" in old:
        return _explain(
            f"Replaces {shown}, which is a binary file of {len(old)} bytes, by {size} bytes of text."
        )
    before = old.decode("utf-8", errors="replace")
    if before == content:
        return _explain(f"Changes nothing: {shown} has this content already.")
    change = _make_diff(shown, before, content, is_new=False) if size <= MOST_COMPARED else None
    return change or _explain(f"Replaces {shown}: {len(old)} bytes before, {size} after.")


def _explain(text: str) -> dict[str, Any]:
    return {"kind": "text", "text": text}


def _read(workspace: Workspace, path: str) -> bytes | int:
    """Return the content of the file, or its size if it is too large to compare."""
    with os.fdopen(workspace.open_file(path), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(f"{path!r} is not a regular file.", type="not_a_file")
        return status.st_size if status.st_size > MOST_COMPARED else file.read()


def _make_diff(path: str, before: str, after: str, *, is_new: bool) -> dict[str, Any] | None:
    """Return the diff; None if too much changes to compare it."""
    old, new = _split(before), _split(after)
    start = max(_count_same(old, new) - CONTEXT, 0)
    old, new = old[start:], new[start:]
    end = max(_count_same(old[::-1], new[::-1]) - CONTEXT, 0)
    old, new = old[: len(old) - end], new[: len(new) - end]
    if old and new and len(old) + len(new) > MOST_LINES:
        return None
    origin = "/dev/null" if is_new else f"a/{path}"
    lines = difflib.unified_diff(old, new, origin, f"b/{path}", n=CONTEXT, lineterm="")
    return {"kind": "diff", "path": path, "diff": _join(_shift(lines, start)), "is_new": is_new}


def _count_same(some: Sequence[str], others: Sequence[str]) -> int:
    """Return with how many equal lines both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(some, others, strict=False)))


def _shift(lines: Iterable[str], start: int) -> Iterator[str]:
    """Yield a diff whose line numbers count from the beginning of the file."""
    for line in lines:
        is_place = start > 0 and line.startswith("@@ ")
        yield re.sub(r"(?<=[-+])\d+", lambda found: str(int(found[0]) + start), line) if is_place else line


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
