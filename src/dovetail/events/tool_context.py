"""`ToolContext`: a call as the author of a tool sees it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from dovetail.errors import ToolError
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import AskKind


class Update(Protocol):
    """Show progress of a call, from the event loop or from a thread."""

    def __call__(self, output: Any, /) -> None: ...


class AskFromCall(Protocol):
    """Ask outside and wait for the answer; a time-out is the answer `{"status": "timeout"}`."""

    async def __call__(
        self,
        kind: AskKind,
        payload: Mapping[str, Any],
        timeout: float | None = None,  # noqa: ASYNC109 - the name that the contract of `ask` gives it
    ) -> Mapping[str, Any]: ...


def _ignore_output(output: Any, /) -> None:
    """Do nothing: this call is not watched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a running call may know and use.

    `cancelled` is set when the call must stop, because of a cancel or of its time limit. `ask` is None if
    nothing outside can be asked. `scope` is the context of the run. A `resumable` call may be made again
    after a crash and then continues what it had begun. `settings` are those of the extension folder that the
    tool comes from, if any.

    >>> @tool
    ... def count(item: str, context: ToolContext) -> int:  # hidden from the model
    ...     '''Count the pieces of an item.'''
    ...     context.update(f"counting every {item}")
    ...     return 3
    >>> count.parameters["required"]
    ['item']
    """

    call_id: str
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    update: Update = _ignore_output
    ask: AskFromCall | None = None
    scope: RunContext = field(default_factory=RunContext)
    resumable: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def owner(self) -> str | None:
        """The user for whom the call runs."""
        return self.scope.owner

    @property
    def session_id(self) -> str | None:
        """The chat session, if any."""
        return self.scope.session_id

    @property
    def run_path(self) -> tuple[str, ...]:
        """The ids of the run and of those above it, from the root."""
        return self.scope.run_path

    @property
    def tab_id(self) -> str | None:
        """The browser tab that the request came from, if any."""
        return self.scope.tab_id

    def check_cancelled(self) -> None:
        """Raise a `ToolError` if the call must stop; for loops in sync functions."""
        if self.cancelled.is_set():
            raise ToolError(f"Call {self.call_id!r} was stopped.", type="interrupted")
