"""One skill: a folder with a `SKILL.md`, instructions that a model loads when it needs them (rule C30)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail.data.front_matter import split_front_matter
from dovetail.data.shapes import is_list
from dovetail.data.text import shorten
from dovetail.errors import ConfigError

FILE = "SKILL.md"
_LARGEST = 200_000
_LONGEST_DESCRIPTION = 1000
_NAME = re.compile(r"[^\s/\\]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """The contents of a `SKILL.md`; `scope` says where it was found, `allowed_tools` is None if not given."""

    name: str
    description: str
    body: str
    folder: Path
    scope: str
    allowed_tools: tuple[str, ...] | None = None

    @property
    def path(self) -> Path:
        """The path of the `SKILL.md`."""
        return self.folder / FILE


def read_skill(folder: Path, scope: str) -> Skill:
    """Read the skill of a folder.

    Raises:
        ConfigError: it cannot be read, is too large or has an invalid front matter.
    """
    path = folder / FILE
    try:
        if (size := path.stat().st_size) > _LARGEST:
            raise ConfigError(f"too large: {size} bytes, at most {_LARGEST} are allowed")
        front, body = split_front_matter(path.read_text(encoding="utf-8"))
        return Skill(
            name=_read_name(front, folder),
            description=_read_description(front, body),
            body=body.strip(),
            folder=folder,
            scope=scope,
            allowed_tools=_read_tools(front),
        )
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", hint=error.hint) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read {path}: {error}") from error


def _read_name(front: Mapping[str, Any], folder: Path) -> str:
    name = front.get("name", folder.name)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(
            f"name must be one word without slashes, got {shorten(name)}", hint="It is typed as /skill/name."
        )
    return name


def _read_description(front: Mapping[str, Any], body: str) -> str:
    """Return the description, otherwise the first line of the body."""
    description = front.get("description")
    if description is None:
        lines = (line.strip().lstrip("#").strip() for line in body.splitlines())
        description = next((line for line in lines if line), "")
    if not isinstance(description, str):
        raise ConfigError(f"description must be text, got {shorten(description)}")
    return " ".join(description.split())[:_LONGEST_DESCRIPTION]


def _read_tools(front: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the allowed tools: a list, or names separated by commas or spaces."""
    tools = front.get("allowed-tools", front.get("allowed_tools"))
    if tools is None:
        return None
    if isinstance(tools, str):
        return tuple(tools.replace(",", " ").split())
    if not is_list(tools) or not all(isinstance(name, str) for name in tools):
        raise ConfigError(f"allowed-tools must be a list of tool names, got {shorten(tools)}")
    return tuple(tools)
