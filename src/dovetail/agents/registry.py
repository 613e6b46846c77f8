"""The agents of an app, from code and from files.

If a file becomes invalid, its last good version stays in service, and the report of the reload says so. A
server for other users only uses agent files whose content is trusted (`TrustRecord`); no agent of another
folder stands in there for a file that is not used, because it could have more rights.
"""

import hashlib
import json
import logging
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dovetail.agents.definition import AgentDefinition, check_definition
from dovetail.agents.file import (
    apply_override,
    is_disabled,
    list_agent_files,
    load_definition,
    locate,
    peek,
)
from dovetail.data.shapes import is_mapping
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError
from dovetail.settings import Settings
from dovetail.settings.sections import McpSettings

logger = logging.getLogger(__name__)

REFUSAL = "This agent file is not trusted yet, or has changed since it was."
HINT = "Review it, then run `dovetail agents trust`, or start with `dovetail serve --trust`."


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """An agent file, or settings of an agent, that are invalid, and why."""

    path: str
    error: str
    keeps_last_good: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReport:
    """What a reload of the agent files has changed."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[BrokenFile, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return asdict(self)


class TrustRecord:
    """The trusted files; files below one of the `own` folders are always trusted."""

    def __init__(self, own: Iterable[Path], path: Path) -> None:
        self._own = tuple(folder.resolve() for folder in own)
        self._path = path

    def check(self, path: Path, content: bytes) -> None:
        """Check that a file is trusted.

        Raises:
            ConfigError: this content of the file is not trusted.
        """
        place = path.resolve()
        if any(place.is_relative_to(folder) for folder in self._own):
            return
        if self._read().get(str(place)) != _hash(content):
            raise ConfigError(REFUSAL, hint=HINT)

    @property
    def mark(self) -> tuple[int, ...] | None:
        """What changes whenever files are acknowledged, also by another process; None without a record."""
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def acknowledge(self, paths: Iterable[Path]) -> list[Path]:
        """Acknowledge these files with their present content; return those that are new or had changed."""
        known = self._read()
        found = {str(path.resolve()): _hash(path.read_bytes()) for path in paths}
        fresh = [Path(place) for place, digest in found.items() if known.get(place) != digest]
        if fresh:
            self._write({**known, **found})
        return fresh

    def _read(self) -> dict[str, str]:
        try:
            data = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"Cannot read the trusted agent files in {self._path}: {error}",
                hint="Fix or remove the file, then run `dovetail agents trust`.",
            ) from error
        return {str(place): str(digest) for place, digest in data.items()} if is_mapping(data) else {}

    def _write(self, record: dict[str, str]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(record, indent=2, ensure_ascii=False), encoding="utf-8")
        draft.replace(self._path)


class AgentRegistry:
    """Agent definitions by name; the first definition of a name wins, invalid files do not stop others.

    `trust`, if set, checks a file before it is read; files that are trusted later are read when an agent is
    looked up next. `settings` may change and disable agents
    (`[agents.<name>]`).

    >>> registry = AgentRegistry()
    >>> registry.register_agent(AgentDefinition(name="woods", description="Knows woods."))
    >>> [definition.name for definition in registry.get_all_definitions()]
    ['woods']
    """

    def __init__(self, trust: TrustRecord | None = None, settings: Settings | None = None) -> None:
        self.trust = trust
        self.broken: list[BrokenFile] = []
        self._known_broken: tuple[BrokenFile, ...] = ()
        self.report = AgentReport()
        self.on_trusted: Callable[[], None] = lambda: None
        """Called when files were read again because trusted ones were added."""
        self._revision = 0
        self._folders: tuple[Path, ...] = ()
        self._mark: tuple[int, ...] | None = None
        self._is_following = threading.Lock()
        self._settings = settings
        self._definitions: dict[str, AgentDefinition] = {}
        self._last_good: dict[Path, AgentDefinition] = {}
        self._refused: dict[str, tuple[Path, ConfigError]] = {}  # files that keep their names from others
        self._lock = threading.Lock()

    @property
    def revision(self) -> int:
        """A number that grows with every change."""
        self._follow_trust()
        return self._revision

    def _follow_trust(self) -> None:
        """Read the files again if some were trusted since, by `dovetail agents trust` in another process."""
        if self.trust is None or not self._folders or self.trust.mark == self._mark:
            return
        if self._is_following.acquire(blocking=False):
            try:
                self.replace_files(self._folders)
            finally:
                self._is_following.release()
            self.on_trusted()

    def register_agent(self, definition: AgentDefinition) -> None:
        """Add an agent.

        Raises:
            ConfigError: the name or the description is invalid, or another agent has the name.
        """
        check_definition(definition)
        with self._lock:
            known = self._definitions.get(definition.name)
            if known is not None and known != definition:
                owners = f"from {known.source} and from {definition.source}"
                raise ConfigError(f"Two agents have the name {definition.name!r}: {owners}.")
            self._definitions[definition.name] = definition
            self._revision += 1

    def get_definition(self, name: str) -> AgentDefinition:
        """Return the agent of that name, as changed by the settings.

        Raises:
            ConfigError: the name is unknown, its file is not trusted, or the settings disable the agent.
        """
        self._follow_trust()
        definition = self._definitions.get(name)
        if definition is None and name in self._refused:
            error = self._refused[name][1]
            raise ConfigError(f"Agent {name!r} is not available. {error.message}", hint=error.hint)
        if definition is None:
            known = sorted(definition.name for definition in self.get_all_definitions())
            raise ConfigError(explain_unknown("agent", name, known))
        if self._is_disabled(name):
            raise ConfigError(f"Agent {name!r} is disabled by the setting agents.{name}.enabled.")
        return self._apply_settings(definition)

    def get_all_definitions(self) -> Sequence[AgentDefinition]:
        """Return all enabled agents in the order of their registration, as changed by the settings."""
        self._follow_trust()
        found: list[AgentDefinition] = []
        for name, definition in list(self._definitions.items()):
            try:
                if not self._is_disabled(name):
                    found.append(self._apply_settings(definition))
            except ConfigError as error:
                logger.error("Ignoring agent %r: %s", name, error)
        return tuple(found)

    def get_disabled(self) -> Sequence[AgentDefinition]:
        """Return the agents that the settings disable."""
        return tuple(each for name, each in list(self._definitions.items()) if self._is_disabled(name))

    @property
    def own_servers(self) -> frozenset[str]:
        """The MCP servers, as origins of their tools, that agents keep to themselves."""
        configs = [definition.tool_config for definition in list(self._definitions.values())]
        return frozenset(f"mcp:{name}" for config in configs for name in config.mcp_servers)

    def load_folder(self, folder: Path) -> None:
        """Register the agent of every file in the folder."""
        for path in list_agent_files(folder):
            self._load_file(path, {})

    def replace_files(self, folders: Iterable[Path]) -> AgentReport:
        """Read all agent files again, the nearest folder first; agents from code stay and take precedence."""
        self._folders = tuple(folders)
        self._mark = None if self.trust is None else self.trust.mark
        before, last_good = self._definitions, self._last_good
        self._definitions = {name: each for name, each in before.items() if each.source == "code"}
        self._last_good, self._refused = {}, {}
        self._known_broken, self.broken = tuple(self.broken), []
        self._revision += 1
        for folder in self._folders:
            for path in list_agent_files(folder):
                self._load_file(path, last_good)
        self._warn_of_stand_ins()
        self._check_settings()
        self.report = _compare(before, self._definitions, self.broken)
        return self.report

    def _warn_of_stand_ins(self) -> None:
        """Warn if a broken file leaves its name to an agent of another folder, which has other limits."""
        for path in [Path(broken.path) for broken in self.broken if not broken.keeps_last_good]:
            other = self._definitions.get(path.stem)
            if other is not None and other.source != str(path):
                logger.warning("Using agent %r of %s, with its own limits, instead.", path.stem, other.source)

    def _load_file(self, path: Path, last_good: Mapping[Path, AgentDefinition]) -> None:
        """Register the agent of one file, unless a nearer folder defines the same name."""
        try:
            definition = self._read_file(path, last_good)
            if self._is_free(definition.name, path.parent):
                self.register_agent(definition)
        except ConfigError as error:
            self._report(BrokenFile(str(path), str(error)), f"Ignoring agent file: {error}")
            if self.trust is not None:
                self._refuse(path, error)

    def _report(self, broken: BrokenFile, text: str) -> None:
        """Add a file to the broken ones, and log it once, until it is fixed or changes."""
        if broken not in self._known_broken:
            logger.warning("%s", text)
        self.broken.append(broken)

    def _refuse(self, path: Path, error: ConfigError) -> None:
        """Keep the name of a file from other folders, also if its new content names another agent."""
        for name in {path.stem, peek(path)[0]}:
            if self._is_free(name, path.parent):
                self._refused[name] = (path, error)

    def _is_free(self, name: str, folder: Path) -> bool:
        """Return whether no nearer folder has a file of that name, used or refused."""
        known = self._definitions.get(name)
        nearest = Path(known.source) if known is not None else self._refused.get(name, (None,))[0]
        return nearest is None or nearest.parent == folder

    def _read_file(self, path: Path, last_good: Mapping[Path, AgentDefinition]) -> AgentDefinition:
        """Return the agent of a file, or its last good version; never content that is not trusted."""
        is_trusted = True

        def check(path: Path, content: bytes) -> None:
            nonlocal is_trusted
            is_trusted = False
            if self.trust is not None:
                self.trust.check(path, content)
            is_trusted = True

        try:
            definition = load_definition(path, check)
            self._check_servers(definition)
        except ConfigError as error:
            known = last_good.get(path) if is_trusted else None
            if known is None:
                raise
            text = f"{error}\nThe last good version stays in service."
            broken = BrokenFile(str(path), text, keeps_last_good=True)
            self._report(broken, f"Keeping the last good version of an agent file: {error}")
            definition = known
        self._last_good[path] = definition
        return definition

    def _check_servers(self, definition: AgentDefinition) -> None:
        """Check that the MCP servers of an agent are configured."""
        if self._settings is not None:
            check_servers(definition, self._settings)

    @property
    def _overrides(self) -> Mapping[str, Any]:
        overrides = self._settings.get("agents") if self._settings is not None else None
        return overrides if is_mapping(overrides) else {}

    def _is_disabled(self, name: str) -> bool:
        override = self._overrides.get(name)
        return is_mapping(override) and is_disabled(override)

    def _apply_settings(self, definition: AgentDefinition) -> AgentDefinition:
        override = self._overrides.get(definition.name)
        return definition if override is None else apply_override(definition, override)

    def _check_settings(self) -> None:
        for name, override in self._overrides.items():
            place = f"the settings [agents.{name}]"
            definition = self._definitions.get(name)
            if definition is None and name in self._refused:
                continue
            if definition is None:
                self.broken.append(
                    BrokenFile(place, explain_unknown("agent", name, sorted(self._definitions)))
                )
                continue
            try:
                apply_override(definition, override)
            except ConfigError as error:
                self.broken.append(BrokenFile(place, str(error)))


def check_servers(definition: AgentDefinition, settings: Settings) -> None:
    """Check that the MCP servers of an agent are configured.

    Raises:
        ConfigError: the settings have no server of a name.
    """
    servers = settings.section(McpSettings).servers
    known = sorted(map(str, servers)) if is_mapping(servers) else []
    for name in definition.tool_config.mcp_servers:
        if name not in known:
            raise ConfigError(
                f"{locate(definition.source, name)}: {explain_unknown('MCP server', name, known)}",
                hint=f"Configure it in dovetail.toml as [mcp.servers.{name}].",
            )


def _compare(
    before: Mapping[str, AgentDefinition], after: Mapping[str, AgentDefinition], broken: Sequence[BrokenFile]
) -> AgentReport:
    return AgentReport(
        new=tuple(name for name in after if name not in before),
        changed=tuple(name for name in after if name in before and after[name] != before[name]),
        removed=tuple(name for name in before if name not in after),
        failed=tuple(broken),
    )


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
