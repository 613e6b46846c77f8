"""What a sub-agent is doing, in a few lines for whoever watches the call."""

from typing import Any

from dovetail.bus.bus import MessageBus
from dovetail.messages.event import ChildEvent, Event, ToolEnd
from dovetail.messages.model_event import ToolInputEnd
from dovetail.tools.audit import mask_arguments
from dovetail.tools.declarative import UpdateOutput


class Activity:
    """Keeps the list of an agent's calls and shows it after each change; never per token."""

    def __init__(self, agent: str, update: UpdateOutput | None, bus: MessageBus | None) -> None:
        self._agent = agent
        self._update = update
        self._bus = bus
        self._items: dict[str, dict[str, Any]] = {}

    def note(self, event: Event) -> None:
        """Take one event of the agent's run; those of its children are shown by themselves."""
        if isinstance(event, ChildEvent):
            return
        if isinstance(event, ToolInputEnd):
            args = mask_arguments(event.args)
            self._change(event.call_id, {"name": event.name, "args": args, "status": "running"})
        elif isinstance(event, ToolEnd):
            self._change(event.call_id, {"status": event.status, "duration": event.duration})

    def _change(self, call_id: str, changes: dict[str, Any]) -> None:
        item = {**self._items.get(call_id, {"call_id": call_id}), **changes}
        self._items[call_id] = item
        if self._update is not None:
            self._update({"agent": self._agent, "activity": list(self._items.values())})
        if self._bus is not None:
            self._bus.publish("subagent-activity", item)
