"""Read text files in pieces that fit into a model's context."""

import os
import stat
from collections.abc import Iterator
from itertools import islice

from dovetail.data.known_secrets import hide_known
from dovetail.errors import ToolError
from dovetail.extensions.workspace import Workspace

DEFAULT_LINES, MOST_LINES = 400, 2000
LONGEST_LINE = 2000
MOST_BYTES = 20_000_000
_PROBE = 8192


def read_lines(workspace: Workspace, path: str, start_line: int, max_lines: int) -> str:
    """Return the requested lines, and a last line in brackets if the file has more."""
    start = max(start_line, 1)
    number = DEFAULT_LINES if max_lines <= 0 else min(max_lines, MOST_LINES)
    lines = iterate_lines(workspace, path)
    skipped = sum(1 for _ in islice(lines, start - 1))
    wanted = list(islice(lines, number))
    if not wanted:
        total = skipped
        return "(empty file)" if total == 0 else f"(the file has only {total} lines)"
    if next(lines, None) is not None:
        wanted.append(f"[the file continues: read from line {start + number}]")
    return "\n".join(wanted)


def iterate_lines(workspace: Workspace, path: str) -> Iterator[str]:
    """Yield the lines of a text file, very long ones cut; raise `ToolError` if it is binary or too large."""
    with os.fdopen(workspace.open_file(path), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(f"{path!r} is not a regular file.", type="not_a_file")
        if status.st_size > MOST_BYTES:
            raise ToolError(
                f"{path!r} is too large: {status.st_size} bytes, at most {MOST_BYTES} can be read.",
                type="too_large",
            )
        if b"\0" in file.read(_PROBE):
            raise ToolError(f"{path!r} is not a text file.", type="not_text")
        file.seek(0)
        for line in file:
            text = line.decode("utf-8", errors="replace").rstrip("\r\n")
            is_long = len(text) > LONGEST_LINE
            yield f"{hide_known(text)[:LONGEST_LINE]}… ({len(text)} characters)" if is_long else text
