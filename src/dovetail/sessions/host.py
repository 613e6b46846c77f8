"""What chats need from the app they belong to; `Dovetail` is one."""

from pathlib import Path
from typing import Protocol

from dovetail.skills.library import SkillLibrary
from dovetail.subagents.host import AgentHost


class ChatHost(AgentHost, Protocol):
    """An app with a workspace and skills."""

    @property
    def workspace(self) -> Path: ...

    @property
    def skills(self) -> SkillLibrary: ...
