"""A text file that several people may edit: checked before it is written, replaced in one step.

Promises: a text that the check refuses leaves the file as it is; a change that was made to an older text than
the present one is refused; changes happen one after the other, also those of other processes; readers see the
old text or the new one, nothing between.
"""

import fcntl
import hashlib
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dovetail.errors import ConfigError, ConflictError


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """The text of a file; `version` changes with it."""

    text: str
    version: str


class EditedFile:
    """Read and change one file; `check` raises `ConfigError` for a text that it must not have."""

    def __init__(self, path: Path, check: Callable[[str], object]) -> None:
        self.path = path
        self._check = check

    def read(self) -> FileText:
        """Return the text of the file, empty if it does not exist.

        Raises:
            ConfigError: it cannot be read.
        """
        try:
            text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"Cannot read {self.path}: {error}") from error
        return FileText(text=text, version=hashlib.sha256(text.encode()).hexdigest()[:16])

    def write(self, text: str, version: str | None = None) -> FileText:
        """Replace the text; with `version` only if the file still has the text of that version.

        Raises:
            ConfigError: the text is invalid, or the file cannot be written; the file stays as it is.
            ConflictError: the file has changed since.
        """
        return self.change(lambda now: text, version)

    def change(self, edit: Callable[[str], str], version: str | None = None) -> FileText:
        """Replace the text by what `edit` returns for the present one; raises as `write` does."""
        self._check(edit(self.read().text))  # an invalid text creates no folder
        try:
            with self._locked():
                now = self.read()
                if version is not None and now.version != version:
                    raise ConflictError(
                        f"{self.path.name} has changed since it was read.",
                        hint="Read it again, and repeat the change in the new text.",
                    )
                text = edit(now.text)
                self._check(text)
                self._replace(text)
        except OSError as error:
            raise ConfigError(f"Cannot write {self.path}: {error}") from error
        return self.read()

    def _replace(self, text: str) -> None:
        draft = self.path.with_name(f".{self.path.name}.draft")
        draft.write_text(text, encoding="utf-8")
        if self.path.exists():
            draft.chmod(self.path.stat().st_mode)
        draft.replace(self.path.resolve())

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Let no other thread or process change files of the folder; the lock leaves no file behind."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)
