"""Which names of tools belong to agents, known before the agents themselves are read."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dovetail.data.front_matter import split_front_matter
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError
from dovetail.subagents.completion import COMPLETE_TASK
from dovetail.subagents.dispatcher import DISPATCHER
from dovetail.subagents.file import list_agent_files
from dovetail.subagents.host import AgentHost
from dovetail.subagents.override import is_switched_off


def reserve_agent_names(app: AgentHost, folders: Iterable[Path]) -> dict[str, str]:
    """The names that agents from code and of these folders have as tools, with their owners."""
    names = {DISPATCHER: "the tool that starts agents by name", COMPLETE_TASK: "the tool that ends agents"}
    if not app.settings.get("subagents.enabled", True):
        return names
    off = _list_switched_off(app.settings.get("agents"))
    for folder in folders:
        names |= {name: f"agent {name!r} ({folder})" for name in list_agent_names(folder) if name not in off}
    return names | {
        definition.name: f"agent {definition.name!r} ({definition.source})"
        for definition in app.get_agent_registry().get_all_definitions()
        if definition.is_tool and definition.source == "code"
    }


def _list_switched_off(overrides: Any) -> set[str]:
    if not is_mapping(overrides):
        return set()
    return {name for name, each in overrides.items() if is_mapping(each) and is_switched_off(each)}


def list_agent_names(folder: Path) -> list[str]:
    """The names of the agents that the files of a folder offer as tools; a broken file keeps its own name."""
    return [name for path in list_agent_files(folder) if (name := _read_name(path))]


def _read_name(path: Path) -> str | None:
    try:
        front, _ = split_front_matter(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ConfigError):
        return path.stem  # its last good version may still serve
    return str(front.get("name") or path.stem) if front.get("tool", True) is not False else None
