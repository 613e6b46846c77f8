"""What every agent is told in addition to its prompt: when, where, and which skills there are (rule C21).

It is the same for all turns of a session, so that a model's prompt cache holds.
"""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from dovetail.bus.rule import Mode
from dovetail.skills.injection import summarize_skills
from dovetail.skills.library import SkillLibrary
from dovetail.skills.tool import LOAD_SKILL
from dovetail.tools.registry import ToolSnapshot

_PLAN = (
    "You are in plan mode: tools that change anything are refused. Look, think, and say what you would do."
)


@runtime_checkable
class Place(Protocol):
    """An app with a workspace and skills."""

    @property
    def workspace(self) -> Path: ...

    @property
    def skills(self) -> SkillLibrary: ...


def build_preface(
    place: Place,
    what: Literal["conversation", "task"],
    began: float,
    tools: ToolSnapshot,
    mode: Mode = "default",
) -> str:
    """The preface of a chat or of a sub-agent's task; skills are listed if the agent can load them."""
    moment = datetime.fromtimestamp(began, UTC).astimezone()
    lines = [
        f"This {what} began on {moment:%A, %Y-%m-%d at %H:%M} ({time.tzname[0]}).",
        f"The folder you work in is called {place.workspace.name!r}.",
        _PLAN if mode == "plan" else "",
        summarize_skills(place.skills) if LOAD_SKILL in tools else "",
    ]
    return "\n".join(line for line in lines if line)
