"""The result of a reload: what the extension folders bring, and what failed.

An extension folder is `extensions/<name>/extension.py` (rule F1). A reload publishes one immutable
`ExtensionSnapshot`; holding a snapshot, or one tool of it, keeps that version of the code alive.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dovetail.extensions.settings import FolderSettings
from dovetail.extensions.web_files import WebFiles
from dovetail.tools.tool import Tool

POLICY = "policy.toml"
AGENTS = "agents"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionFailure:
    """Why a folder could not be loaded; `kept` is true if its last good version stays in service.

    `unchanged`: it failed in the same way in the reload before.
    """

    extension: str
    error: str
    file: str | None = None
    line: int | None = None
    kept: bool = False
    unchanged: bool = False

    def __str__(self) -> str:
        place = f" ({self.file}:{self.line})" if self.line else f" ({self.file})" if self.file else ""
        kept = "; the last good version stays in service" if self.kept else ""
        return f"extension {self.extension!r}: {self.error}{place}{kept}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionNotice:
    """A warning about a folder that works."""

    extension: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionSnapshot:
    """One generation of all extension folders.

    `loaded_extensions` are the folders whose files on disk are in service, `unchanged` those of them that
    were not imported again, `kept` those whose newest edit failed and whose last good version stays.
    `loading` are those that an earlier reload still imports; it publishes them in a further generation, and
    their last good version stays until then.
    `web` are the files for the page, `settings` the declared settings, both by folder.
    """

    version: int = 0
    loaded_extensions: tuple[str, ...] = ()
    failed_extensions: tuple[ExtensionFailure, ...] = ()
    tools: tuple[Tool, ...] = ()
    kept: tuple[str, ...] = ()
    loading: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    notices: tuple[ExtensionNotice, ...] = ()
    folders: tuple[Path, ...] = ()
    web: Mapping[str, WebFiles] = field(default_factory=dict[str, WebFiles])
    settings: Mapping[str, FolderSettings] = field(default_factory=dict[str, FolderSettings])

    @property
    def missing_extensions(self) -> tuple[str, ...]:
        """The folders that failed to load and of which no earlier version is in service."""
        return tuple(failure.extension for failure in self.failed_extensions if not failure.kept)

    @property
    def agent_folders(self) -> tuple[Path, ...]:
        """The folders of agent files (`agents/*.md`) in folders that are in service."""
        return tuple(path for folder in self.folders if (path := folder / AGENTS).is_dir())

    @property
    def skill_roots(self) -> tuple[Path, ...]:
        """The folders in service that have skills (`skills/<name>/SKILL.md`)."""
        return tuple(folder for folder in self.folders if (folder / "skills").is_dir())

    @property
    def policy_files(self) -> tuple[Path, ...]:
        """The `policy.toml` files of folders that are in service."""
        return tuple(path for folder in self.folders if (path := folder / POLICY).is_file())

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data, with tools by name (rules F73 to F76)."""
        return {
            "version": self.version,
            "loaded_extensions": list(self.loaded_extensions),
            "failed_extensions": [dataclasses.asdict(failure) for failure in self.failed_extensions],
            "tools": [tool.name for tool in self.tools],
            "kept": list(self.kept),
            "loading": list(self.loading),
            "removed": list(self.removed),
            "unchanged": list(self.unchanged),
            "excluded": list(self.excluded),
            "notices": [dataclasses.asdict(notice) for notice in self.notices],
        }
