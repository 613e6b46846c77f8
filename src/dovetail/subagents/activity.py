"""What a sub-agent is thinking and doing, for the caller that watches the call and for the bus."""

import asyncio
import inspect
import logging
from time import monotonic
from typing import Any, Literal

from dovetail.bus.bus import MessageBus
from dovetail.messages.event import ChildEvent, Event, RunEnd, ToolEnd
from dovetail.messages.model_event import ReasoningEnd, ReasoningMore, TextEnd, TextMore, ToolInputEnd
from dovetail.tools.audit import mask_arguments
from dovetail.tools.declarative import UpdateOutput

logger = logging.getLogger(__name__)

TOPIC = "subagent-activity"
PACE = 0.1
"""The least time in seconds between two updates of a text that is being written."""
MOST_ITEMS = 20
LONGEST_TEXT = 2_000
LONGEST_STORED_TEXT = 300


class Activity:
    """Collects an agent's thoughts, calls and errors as items and shows them.

    `update` gets the agent, its status and the newest items: at the start, whenever an item is complete or
    changes, and at the end. With `is_live` it also follows text while it is written; without, as in the
    pipeline, whose progress is stored, it gets the beginning of each piece. The bus gets each item alone.
    """

    def __init__(
        self, agent: str, update: UpdateOutput | None, bus: MessageBus | None, *, is_live: bool = True
    ) -> None:
        self._agent = agent
        self._update = update
        self._bus = bus
        self._is_live = is_live
        self._items: dict[str, dict[str, Any]] = {}
        self._pieces: list[str] = []
        self._shown_at = 0.0
        self._status = "running"
        self._shows: list[asyncio.Task[Any]] = []

    def begin(self) -> None:
        """Show that the agent starts."""
        self._publish({"type": "start"})
        self._show()

    def end(self, status: Literal["ok", "error", "cancelled"], error: str = "") -> None:
        """Show that the agent has ended, and why it failed if it did."""
        self._status = status
        if error and not any(item["type"] == "error" for item in self._items.values()):
            self._add_error(error)
        self._publish({"type": "end", "status": status})
        self._show()

    async def wait(self) -> None:
        """Wait until an `update` that is a coroutine function has shown everything."""
        for shown in await asyncio.gather(*self._shows, return_exceptions=True):
            if isinstance(shown, BaseException):
                self._log_failure(shown)

    def cancel(self) -> None:
        """Stop what an `update` that is a coroutine function is still showing."""
        for shown in self._shows:
            shown.cancel()

    def note(self, event: Event) -> None:
        """Take one event of the agent's run; its children have activities of their own."""
        if isinstance(event, ChildEvent) or (self._update is None and self._bus is None):
            return
        if isinstance(event, TextMore | ReasoningMore):
            self._pieces.append(event.delta)
            if (self._is_live or self._is_heard) and monotonic() - self._shown_at >= PACE:
                self._write(event.id, "running")
        elif isinstance(event, TextEnd | ReasoningEnd):
            self._write(event.id, "ok")
            self._pieces = []
        elif isinstance(event, ToolInputEnd):
            args = mask_arguments(event.args)
            item = {"call_id": event.call_id, "name": event.name, "args": args, "status": "running"}
            self._change(event.call_id, {"type": "tool", **item})
        elif isinstance(event, ToolEnd) and event.call_id in self._items:
            self._change(event.call_id, {"status": event.status, "duration": event.duration})
        elif isinstance(event, RunEnd) and event.error:
            self._add_error(str(event.error.get("message", "")))

    @property
    def _is_heard(self) -> bool:
        return self._bus is not None and self._bus.has_subscribers(TOPIC)

    def _write(self, piece: str, status: str) -> None:
        self._shown_at = 0.0 if status == "ok" else monotonic()
        kind = piece.partition("-")[0]
        changes = {"type": kind, "text": "".join(self._pieces), "status": status}
        self._change(piece, changes, shows=self._is_live or status == "ok")

    def _add_error(self, message: str) -> None:
        self._change("error", {"type": "error", "message": message, "status": "error"})

    def _change(self, key: str, changes: dict[str, Any], *, shows: bool = True) -> None:
        item = self._items[key] = {**self._items.get(key, {}), **changes}
        self._publish(item)
        if shows:
            self._show()

    def _publish(self, item: dict[str, Any]) -> None:
        if self._bus is not None and self._is_heard:
            self._bus.publish(TOPIC, {"agent": self._agent, **item})

    def _show(self) -> None:
        if self._update is None:
            return
        items = [self._shorten(item) for item in list(self._items.values())[-MOST_ITEMS:]]
        try:
            shown = self._update({"agent": self._agent, "status": self._status, "activity": items})
        except Exception as error:
            self._log_failure(error)
        else:
            if inspect.iscoroutine(shown):
                self._shows.append(asyncio.create_task(shown))

    def _log_failure(self, error: BaseException) -> None:
        logger.error("Failed to show the activity of agent %r", self._agent, exc_info=error)

    def _shorten(self, item: dict[str, Any]) -> dict[str, Any]:
        longest = LONGEST_TEXT if self._is_live else LONGEST_STORED_TEXT
        text = item.get("text", "")
        if len(text) <= longest:
            return item
        shown = f"…{text[-longest:]}" if self._is_live else f"{text[:longest]}…"
        return {**item, "text": shown}
