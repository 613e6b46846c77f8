"""Files that commands create from templates: whole projects, and single agents, skills and prompts."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from dovetail.app import Dovetail
from dovetail.cli.terminal import show_path
from dovetail.concurrency import run_sync
from dovetail.errors import ConfigError
from dovetail.extensions.scaffold import find_template
from dovetail.sources import Source, SourceKind, Sources

_ANSWERS_CHATS = "master"
_PARTS: dict[SourceKind, str] = {"agents": "agent.md", "skills": "SKILL.md", "prompts": "prompt.yaml"}


def write_files(folder: Path, texts: Mapping[str, str], *, force: bool) -> list[str]:
    """Write the texts to their paths below the folder, and return the paths; with `force`, also over files.

    Raises:
        ConfigError: a file exists, or cannot be written. Nothing is written if one exists.
    """
    existing = [name for name in texts if (folder / name).exists() or (folder / name).is_symlink()]
    if existing and not force:
        raise ConfigError(
            f"{folder} already has {', '.join(existing)}.",
            hint="Choose another folder, or overwrite these files with --force.",
        )
    try:
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"Cannot write {error.filename}: {error.strerror}.") from error
    return list(texts)


def create_source(kind: SourceKind, name: str, workspace: Path | None) -> Source:
    """Create an agent, a skill or a prompt in the workspace that works and can be changed.

    Raises:
        ConfigError: the name is invalid or taken.
    """

    async def create() -> Source:
        async with Dovetail(workspace=workspace) as dovetail:
            if kind == "agents" and (tool := dovetail.tools.snapshot().tools.get(name)) is not None:
                raise ConfigError(
                    f"Tool {name!r} already exists in {tool.owner}.", hint="Choose another name."
                )
            text = find_template("parts", _PARTS[kind]).read_text(encoding="utf-8")
            return Sources(dovetail).create(kind, name, text.replace(f"my_{kind[:-1]}", name))

    return run_sync(create())


def find_list(dovetail: Dovetail, tool: str) -> str | None:
    """Return the file of the agent that answers chats if it lists its tools, and not this one."""
    for definition in dovetail.agents.get_all_definitions():
        names = definition.tool_config.names
        if definition.name == _ANSWERS_CHATS and names is not None:
            is_listed = any(fnmatchcase(tool, pattern) for pattern in names)
            return None if is_listed else show_path(Path(definition.source))
    return None
