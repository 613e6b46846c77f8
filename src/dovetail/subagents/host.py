"""What the executor needs from the app it works in; `Dovetail` is one."""

from typing import Protocol

from dovetail.agent.runtime import Runtime
from dovetail.settings import Settings
from dovetail.subagents.registry import AgentRegistry
from dovetail.tools.registry import ToolRegistry


class AgentHost(Protocol):
    """Settings, models and the two registries."""

    @property
    def settings(self) -> Settings: ...

    @property
    def runtime(self) -> Runtime: ...

    def get_tool_registry(self) -> ToolRegistry: ...

    def get_agent_registry(self) -> AgentRegistry: ...
