"""The joint: a `Tool` is data plus one coroutine, and every maker returns this type."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dovetail.messages.kind import Kind
from dovetail.messages.request import ToolSpec


@dataclass(frozen=True, slots=True)
class ToolFailure:
    """Why a call failed: a text for the model and a snake_case word for programs."""

    message: str
    type: str = "execution_failed"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave: `llm_content` for the model, `return_display` for people, `data` for programs."""

    llm_content: str | list[dict[str, Any]]
    return_display: Any = None
    error: ToolFailure | None = None
    data: Any = None


def _ignore_output(output: Any) -> None:
    """Nobody watches this call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a running call may know and use."""

    call_id: str
    session_id: str | None = None
    run_path: tuple[str, ...] = ()
    tab_id: str | None = None
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    update: Callable[[Any], None] = _ignore_output
    ask: Callable[..., Awaitable[Any]] | None = None


Execute = Callable[[dict[str, Any], ToolContext], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something an agent can do; called only through the pipeline in `runner.py`."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    execute: Execute
    kind: Kind = Kind.Other
    display_name: str = ""
    tags: tuple[str, ...] = ()
    origin: str = "code"
    is_output_markdown: bool = False
    can_update_output: bool = False
    idempotent: bool = False
    needs_tab: bool = False
    time_limit: float | None = 120.0

    @property
    def title(self) -> str:
        """The name people see."""
        return self.display_name or self.name

    @property
    def spec(self) -> ToolSpec:
        """What a model is told of this tool."""
        return ToolSpec(name=self.name, description=self.description, parameters=self.parameters)
