"""Write files atomically: a reader sees the old content or the new, never a part."""

import os
import stat
import uuid

from dovetail.errors import ToolError
from dovetail.extensions.workspace import Workspace, explain

MOST_BYTES = 1_000_000


def write_text(workspace: Workspace, path: str, content: str) -> str:
    """Write a temporary file into the same folder and rename it."""
    data = content.encode("utf-8", errors="surrogatepass")
    if len(data) > MOST_BYTES:
        raise ToolError(
            f"The content is too large: {len(data)} bytes, at most {MOST_BYTES} can be written.",
            type="too_large",
        )
    place = workspace.resolve(path)
    if place == workspace.root or place.is_dir():
        raise ToolError(f"{path!r} is a folder, not a file.", type="is_folder")
    folder = workspace.open_folder(str(place.parent), create=True, asked=path)
    try:
        existed = _write(folder, place.name, data)
    except OSError as error:
        raise explain(error, path) from error
    finally:
        os.close(folder)
    return f"{'replaced' if existed else 'created'} {workspace.show(place)} ({len(data)} bytes)"


def _write(folder: int, name: str, data: bytes) -> bool:
    mode = _find_mode(folder, name)
    draft = f".{uuid.uuid4().hex}.tmp"
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode or 0o644, dir_fd=folder)
    try:
        with os.fdopen(file, "wb") as stream:
            stream.write(data)
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(draft, dir_fd=folder)
        raise
    return mode is not None


def _find_mode(folder: int, name: str) -> int | None:
    """Return the permissions of the file to replace, if any; only regular files can be replaced."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"{name!r} is not a regular file.", type="not_a_file")
    return stat.S_IMODE(status.st_mode)
