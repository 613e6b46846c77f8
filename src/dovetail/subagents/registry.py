"""The agents an app knows, from code and from files."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from dovetail.errors import ConfigError
from dovetail.subagents.definition import AgentDefinition, check_definition
from dovetail.subagents.file import list_agent_files, load_definition
from dovetail.subagents.trust import TrustRecord

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """An agent file that could not be used, and why."""

    path: str
    error: str


class AgentRegistry:
    """Agent definitions by name; the first definition of a name wins, one bad file never stops the others.

    `trust`, where it is set, must let a file pass before it is read.
    """

    def __init__(self, trust: TrustRecord | None = None) -> None:
        self.trust = trust
        self._definitions: dict[str, AgentDefinition] = {}
        self.broken: list[BrokenFile] = []
        self.revision = 0
        """Grows with every change, so that a reader can tell whether there was one."""

    def register_agent(self, definition: AgentDefinition) -> None:
        """Add an agent.

        Raises:
            ConfigError: its name or description cannot be sent to a model, or another agent has its name.
        """
        check_definition(definition)
        known = self._definitions.get(definition.name)
        if known is not None and known != definition:
            raise ConfigError(
                f"two agents are called {definition.name!r}: from {known.source} and from {definition.source}"
            )
        self._definitions[definition.name] = definition
        self.revision += 1

    def get_definition(self, name: str) -> AgentDefinition:
        """The agent of that name; an unknown one is an error with the nearest names."""
        if name in self._definitions:
            return self._definitions[name]
        near = get_close_matches(name, self._definitions, n=3) or sorted(self._definitions)
        raise ConfigError(f"no agent {name!r}; there are: {', '.join(near) or 'none'}")

    def get_all_definitions(self) -> Sequence[AgentDefinition]:
        """All agents, in the order they were registered."""
        return tuple(self._definitions.values())

    def load_folder(self, folder: Path) -> None:
        """Register the agent of every file in the folder."""
        for path in list_agent_files(folder):
            self._load_file(path)

    def replace_files(self, folders: Iterable[Path]) -> None:
        """Read all agent files anew, the nearest folder first; agents from code stay and win."""
        self._definitions = {
            name: definition for name, definition in self._definitions.items() if definition.source == "code"
        }
        self.broken = []
        self.revision += 1
        for folder in folders:
            self.load_folder(folder)

    def _load_file(self, path: Path) -> None:
        """Register the agent of one file; one that a nearer folder defines too stays hidden."""
        try:
            definition = load_definition(path, self.trust.check if self.trust else None)
            known = self._definitions.get(definition.name)
            if known is None or Path(known.source).parent == path.parent:
                self.register_agent(definition)
        except ConfigError as error:
            logger.warning("agent file left out: %s", error)
            self.broken.append(BrokenFile(str(path), str(error)))
