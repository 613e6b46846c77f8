"""The agents an app knows, from code and from files.

A file that breaks keeps its last good version in service, and the report of the reload says so. A server for
other users uses only agent files whose content was acknowledged (`TrustRecord`).
"""

import hashlib
import json
import logging
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dovetail.agents.definition import AgentDefinition, check_definition
from dovetail.agents.file import apply_override, is_switched_off, list_agent_files, load_definition
from dovetail.data.shapes import is_mapping
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError
from dovetail.settings import Settings

logger = logging.getLogger(__name__)

REFUSAL = "this agent file is not acknowledged, or has changed since"
HINT = "Look at it, then acknowledge it: `dovetail agents trust`, or start with `dovetail serve --trust`."


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """An agent file, or settings of an agent, that could not be used, and why."""

    path: str
    error: str
    keeps_last_good: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReport:
    """What reading the agent files again has changed."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[BrokenFile, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON data."""
        return asdict(self)


class TrustRecord:
    """The acknowledged files; those below one of the `own` folders need none."""

    def __init__(self, own: Iterable[Path], path: Path) -> None:
        self._own = tuple(folder.resolve() for folder in own)
        self._path = path

    def check(self, path: Path, content: bytes) -> None:
        """Let the file pass.

        Raises:
            ConfigError: this content of it is not acknowledged.
        """
        place = path.resolve()
        if any(place.is_relative_to(folder) for folder in self._own):
            return
        if self._read().get(str(place)) != _hash(content):
            raise ConfigError(REFUSAL, hint=HINT)

    def acknowledge(self, paths: Iterable[Path]) -> list[Path]:
        """Note that these files may be used as they are now; returns those that are new or had changed."""
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
                f"{self._path}: the acknowledged agent files cannot be read: {error}",
                hint="Fix or remove the file, then acknowledge again: `dovetail agents trust`.",
            ) from error
        return {str(place): str(digest) for place, digest in data.items()} if is_mapping(data) else {}

    def _write(self, record: dict[str, str]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(record, indent=2, ensure_ascii=False), encoding="utf-8")
        draft.replace(self._path)


class AgentRegistry:
    """Agent definitions by name; the first definition of a name wins, one bad file never stops the others.

    `trust`, where it is set, must let a file pass before it is read. `settings` may change agents and switch
    them off (`[agents.<name>]`).
    """

    def __init__(self, trust: TrustRecord | None = None, settings: Settings | None = None) -> None:
        self.trust = trust
        self.broken: list[BrokenFile] = []
        self.report = AgentReport()
        self.revision = 0
        """Grows with every change, so that a reader can tell whether there was one."""
        self._settings = settings
        self._definitions: dict[str, AgentDefinition] = {}
        self._last_good: dict[Path, AgentDefinition] = {}
        self._lock = threading.Lock()

    def register_agent(self, definition: AgentDefinition) -> None:
        """Add an agent.

        Raises:
            ConfigError: its name or description cannot be sent to a model, or another agent has its name.
        """
        check_definition(definition)
        with self._lock:
            known = self._definitions.get(definition.name)
            if known is not None and known != definition:
                owners = f"from {known.source} and from {definition.source}"
                raise ConfigError(f"two agents are called {definition.name!r}: {owners}")
            self._definitions[definition.name] = definition
            self.revision += 1

    def get_definition(self, name: str) -> AgentDefinition:
        """The agent of that name as the settings want it.

        Raises:
            ConfigError: there is none, with the nearest names; or the settings switch it off.
        """
        definition = self._definitions.get(name)
        if definition is None:
            known = sorted(definition.name for definition in self.get_all_definitions())
            raise ConfigError(explain_unknown("agent", name, known))
        if self._is_switched_off(name):
            raise ConfigError(f"Agent {name!r} is switched off by the setting agents.{name}.enabled.")
        return self._apply_settings(definition)

    def get_all_definitions(self) -> Sequence[AgentDefinition]:
        """All agents that are in use, in the order they were registered, as the settings want them."""
        found: list[AgentDefinition] = []
        for name, definition in list(self._definitions.items()):
            try:
                if not self._is_switched_off(name):
                    found.append(self._apply_settings(definition))
            except ConfigError as error:
                logger.error("agent %r is left out: %s", name, error)
        return tuple(found)

    def get_disabled(self) -> Sequence[AgentDefinition]:
        """The agents that the settings switch off."""
        return tuple(each for name, each in list(self._definitions.items()) if self._is_switched_off(name))

    def load_folder(self, folder: Path) -> None:
        """Register the agent of every file in the folder."""
        for path in list_agent_files(folder):
            self._load_file(path, {})

    def replace_files(self, folders: Iterable[Path]) -> AgentReport:
        """Read all agent files again, the nearest folder first; agents from code stay and win."""
        before, last_good = self._definitions, self._last_good
        self._definitions = {name: each for name, each in before.items() if each.source == "code"}
        self._last_good = {}
        self.broken = []
        self.revision += 1
        for folder in folders:
            for path in list_agent_files(folder):
                self._load_file(path, last_good)
        self._check_settings()
        self.report = _compare(before, self._definitions, self.broken)
        return self.report

    def _load_file(self, path: Path, last_good: Mapping[Path, AgentDefinition]) -> None:
        """Register the agent of one file; one that a nearer folder defines too stays hidden."""
        try:
            definition = self._read_file(path, last_good)
            known = self._definitions.get(definition.name)
            if known is None or Path(known.source).parent == path.parent:
                self.register_agent(definition)
        except ConfigError as error:
            logger.warning("agent file left out: %s", error)
            self.broken.append(BrokenFile(str(path), str(error)))

    def _read_file(self, path: Path, last_good: Mapping[Path, AgentDefinition]) -> AgentDefinition:
        """The agent of a file, or what it was before it broke; never content that is not acknowledged."""
        is_trusted = True

        def check(path: Path, content: bytes) -> None:
            nonlocal is_trusted
            is_trusted = False
            if self.trust is not None:
                self.trust.check(path, content)
            is_trusted = True

        try:
            definition = load_definition(path, check)
        except ConfigError as error:
            known = last_good.get(path) if is_trusted else None
            if known is None:
                raise
            logger.warning("agent file keeps its last good version: %s", error)
            text = f"{error}\nThe last good version stays in service."
            self.broken.append(BrokenFile(str(path), text, keeps_last_good=True))
            definition = known
        self._last_good[path] = definition
        return definition

    @property
    def _overrides(self) -> Mapping[str, Any]:
        overrides = self._settings.get("agents") if self._settings is not None else None
        return overrides if is_mapping(overrides) else {}

    def _is_switched_off(self, name: str) -> bool:
        override = self._overrides.get(name)
        return is_mapping(override) and is_switched_off(override)

    def _apply_settings(self, definition: AgentDefinition) -> AgentDefinition:
        override = self._overrides.get(definition.name)
        return definition if override is None else apply_override(definition, override)

    def _check_settings(self) -> None:
        for name, override in self._overrides.items():
            place = f"the settings [agents.{name}]"
            definition = self._definitions.get(name)
            if definition is None:
                self.broken.append(
                    BrokenFile(place, explain_unknown("agent", name, sorted(self._definitions)))
                )
                continue
            try:
                apply_override(definition, override)
            except ConfigError as error:
                self.broken.append(BrokenFile(place, str(error)))


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
