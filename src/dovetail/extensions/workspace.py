"""Paths confined to one folder, for extension folders that touch files on behalf of a model."""

import errno
import os
from pathlib import Path

from dovetail.data.private_folder import REFUSAL, find_private_path, is_linked_secret, is_private
from dovetail.errors import ToolError


class Workspace:
    """The folder a model may work in; a path that leads out of it, by `..` or a link, is rejected.

    So is one that leads to the folder of Dovetail itself, where secrets and chats may be.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).resolve()

    def resolve(self, path: str) -> Path:
        """Return the real place of a path relative to the root."""
        try:
            place = (self.root / path).resolve()
            place.is_dir()  # raises if a name is too long
        except (OSError, ValueError, RuntimeError) as error:  # also a null byte, a loop of links
            reason = error.strerror if isinstance(error, OSError) else error
            raise ToolError(f"{path[:80]!r} is not a usable path: {reason}", type="invalid_path") from error
        if not place.is_relative_to(self.root):
            raise ToolError(
                f"{path!r} leads out of the workspace; use a path inside it", type="outside_workspace"
            )
        if self.hides(place):
            raise ToolError(f"{path!r} {REFUSAL}.", type="private_place")
        return place

    def hides(self, place: Path) -> bool:
        """Whether a real place is one that no caller may open."""
        return is_private(place, self.root)

    def check_argument(self, text: str, folder: Path) -> None:
        """Reject an argument of a command that names a hidden place, as far as that can be seen in it."""
        if (path := find_private_path(text, folder, self.root)) is not None:
            raise ToolError(f"{path!r} {REFUSAL}.", type="private_place")

    def show(self, place: Path) -> str:
        """Return a real place as a path relative to the root."""
        return place.relative_to(self.root).as_posix()

    def open_folder(self, path: str, *, create: bool = False, asked: str | None = None) -> int:
        """Open the folder without following links created in the meantime; return a file descriptor.

        `asked` is the path to name in an error, if it differs.
        """
        parts = self.resolve(path).relative_to(self.root).parts
        current = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts:
                deeper = _open_part(part, current, create=create)
                os.close(current)
                current = deeper
        except OSError as error:
            os.close(current)
            raise explain(error, path if asked is None else asked) from error
        return current

    def open_file(self, path: str) -> int:
        """Open a regular file for reading; return a file descriptor."""
        place = self.resolve(path)
        if place.is_dir():
            raise ToolError(f"{path!r} is a folder, not a file", type="is_folder")
        folder = self.open_folder(str(place.parent), asked=path)
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # a named pipe must not block
            file = os.open(place.name, flags, dir_fd=folder)
        except OSError as error:
            raise explain(error, path) from error
        finally:
            os.close(folder)
        if is_linked_secret(os.fstat(file), self.root):
            os.close(file)
            raise ToolError(f"{path!r} {REFUSAL}.", type="private_place")
        return file


def _open_part(name: str, parent: int, *, create: bool) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    try:
        return os.open(name, flags, dir_fd=parent)
    except FileNotFoundError:
        if not create:
            raise
        os.mkdir(name, dir_fd=parent)
        return os.open(name, flags, dir_fd=parent)


_REASONS = {
    errno.ENOENT: ("does not exist", "not_found"),
    errno.EACCES: ("cannot be accessed: permission denied", "permission_denied"),
    errno.EPERM: ("cannot be accessed: permission denied", "permission_denied"),
    errno.ELOOP: ("leads through a link that was just created", "outside_workspace"),
    errno.ENOTDIR: ("leads through a file, not a folder", "not_found"),
    errno.EISDIR: ("is a folder, not a file", "is_folder"),
    errno.ENOSPC: ("cannot be written: the disk is full", "disk_full"),
}


def explain(error: OSError, path: str) -> ToolError:
    """Return the error of a file operation, worded for a model."""
    reason, kind = _REASONS.get(error.errno or 0, (f"cannot be used: {error.strerror}", "execution_failed"))
    return ToolError(f"{path!r} {reason}", type=kind)
