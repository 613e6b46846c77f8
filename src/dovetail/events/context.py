"""What code works for: anything below a request, a run or a call can find out, in threads too."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """The ids of what is being done; what is not known, or not yet, is None."""

    request_id: str | None = None
    owner: str | None = None
    session_id: str | None = None
    run_id: str | None = None
    agent: str | None = None
    call_id: str | None = None
    tab_id: str | None = None
    skills: tuple[str, ...] = ()


_NOTHING = RequestContext()
_current: ContextVar[RequestContext] = ContextVar("dovetail_request", default=_NOTHING)


def get_request_context() -> RequestContext | None:
    """What this code works for, or None outside of any request, run and call (rules C107 and C108)."""
    context = _current.get()
    return None if context is _NOTHING else context


@contextmanager
def within(**known: Any) -> Generator[None]:
    """Add what is known now to the context; a value of None leaves what is known already."""
    changes = {name: value for name, value in known.items() if value is not None}
    token = _current.set(replace(_current.get(), **changes))
    try:
        yield
    finally:
        _current.reset(token)


CancelMode: TypeAlias = Literal["now", "after_tool", "after_turn"]
_URGENCY = {None: 0, "after_turn": 1, "after_tool": 2, "now": 3}


class CancelSignal:
    """One run's wish to stop; a more urgent wish replaces an earlier one, never the other way round."""

    def __init__(self) -> None:
        self.mode: CancelMode | None = None
        self.now = asyncio.Event()

    def request(self, mode: CancelMode = "now") -> None:
        """Ask the run to stop."""
        if _URGENCY[mode] > _URGENCY[self.mode]:
            self.mode = mode
        if self.mode == "now":
            self.now.set()
