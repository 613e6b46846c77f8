"""The parts of an answer as people see them, folded from the events of its run."""

from collections.abc import Iterable, Mapping
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.events.model_events import (
    ModelRequestEvent,
    ModelResponseEvent,
    ReasoningDeltaEvent,
    ReasoningEnd,
    ReasoningStart,
    TextDeltaEvent,
    TextEnd,
    TextStart,
    ToolInputEnd,
    ToolInputStart,
)
from dovetail.events.run_events import (
    AskAnswer,
    AskRequest,
    Entry,
    Event,
    RunEnd,
    RunResume,
    RunStart,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnEnd,
    TurnReset,
)
from dovetail.sessions.message import Part


def fold_parts(entries: Iterable[Entry]) -> list[Part]:
    """The parts of the root run's answer; each child run is one `data-subagent` part."""
    fold = PartsFold()
    for entry in entries:
        fold.take(entry)
    return list[Part](fold.parts)


class PartsFold:
    """Grows the parts event by event."""

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []
        self._step: int | None = None  # where the parts of the current turn begin
        self._open: dict[str, dict[str, Any]] = {}
        self._calls: dict[str, dict[str, Any]] = {}
        self._asks: dict[str, dict[str, Any]] = {}
        self._children: dict[str, dict[str, Any]] = {}

    def take(self, entry: Entry) -> None:
        """Take one more event."""
        event = entry.event
        if len(entry.path) > 1:
            self._take_child(entry)
        elif isinstance(event, TurnEnd):
            self._step = None
        elif isinstance(event, TurnReset):
            self._reset()
        elif not isinstance(event, RunStart | RunResume | RunEnd | ModelRequestEvent | ModelResponseEvent):
            if self._step is None:
                self._step = len(self.parts)
                self.parts.append({"type": "step-start"})
            self._take_text(event)
            self._take_call(event)

    def _reset(self) -> None:
        """Forget the current turn; a call that is made again, under the same id too, is a new one."""
        if self._step is not None:
            void = {id(part) for part in self.parts[self._step :]}
            self._calls = {call_id: part for call_id, part in self._calls.items() if id(part) not in void}
            del self.parts[self._step :]
            self._step = None

    def _take_text(self, event: Event) -> None:
        if isinstance(event, TextStart | ReasoningStart):
            kind = "text" if isinstance(event, TextStart) else "reasoning"
            part = self._open[event.id] = {"type": kind, "text": "", "state": "done"}
            self.parts.append(part)
        elif isinstance(event, TextDeltaEvent | ReasoningDeltaEvent):
            self._open[event.id]["text"] += event.delta
        elif isinstance(event, TextEnd | ReasoningEnd):
            self._open.pop(event.id, None)

    def _take_call(self, event: Event) -> None:
        if isinstance(event, ToolInputStart | ToolInputEnd):
            part = self._find_call(event.call_id, event.name)
            if isinstance(event, ToolInputEnd):
                part.update(state="input-available", input=event.args)
        elif isinstance(event, ToolStart):
            part = self._find_call(event.call_id)
            part.update(title=event.title, toolMetadata={"kind": event.kind})
        elif isinstance(event, ToolProgress):
            part = self._find_call(event.call_id)
            part.update(state="output-available", output=event.output, preliminary=True)
        elif isinstance(event, ToolEnd):
            _end_call(self._find_call(event.call_id), event)
        elif isinstance(event, AskRequest) and event.kind == "approval" and event.call_id in self._calls:
            part = self._asks[event.ask_id] = self._find_call(event.call_id)
            part.update(_describe_question(event))
        elif isinstance(event, AskAnswer) and event.ask_id in self._asks:
            part = self._asks[event.ask_id]
            part.update(state="approval-responded", approval=describe_approval(event))

    def _find_call(self, call_id: str, name: str = "") -> dict[str, Any]:
        if call_id not in self._calls:
            part: dict[str, Any] = {"type": "dynamic-tool", "toolName": name, "toolCallId": call_id}
            part.update(state="input-streaming", input=None)
            self._calls[call_id] = part
            self.parts.append(part)
        return self._calls[call_id]

    def _take_child(self, entry: Entry) -> None:
        run_id = entry.path[-1]
        if isinstance(entry.event, RunStart) and run_id not in self._children:
            part = self._children[run_id] = {"type": "data-subagent", "id": run_id}
            self.parts.append(part)
        if run_id in self._children and isinstance(entry.event, RunStart | RunEnd):
            part = self._children[run_id]
            part["data"] = describe_child(entry, part.get("data"))


def describe_child(entry: Entry, known: Any = None) -> dict[str, Any]:
    """A child run in short, after its `run-start` or `run-end`."""
    event = entry.event
    if isinstance(event, RunStart):
        return {
            "run_id": entry.path[-1],
            "path": list(entry.path),
            "agent": event.agent,
            "parent_call_id": event.parent_call_id,
            "state": "running",
        }
    reason = event.reason if isinstance(event, RunEnd) else None
    return {
        **(known or {"run_id": entry.path[-1], "path": list(entry.path)}),
        "state": "ended",
        "reason": reason,
    }


def _describe_question(event: AskRequest) -> dict[str, Any]:
    """A call that waits for a yes; what is declined never starts, so its title is known from here alone."""
    title = event.payload.get("title")
    question: dict[str, Any] = {"state": "approval-requested", "approval": {"id": event.ask_id}}
    return {**question, "title": title} if title else question


def describe_approval(event: AskAnswer) -> dict[str, Any]:
    """An approval's answer as the AI SDK has it; a time-out or anything unclear is a no."""
    value: Mapping[str, Any] = event.value if is_mapping(event.value) else {}
    approval: dict[str, Any] = {"id": event.ask_id, "approved": value.get("approved") is True}
    reason = value.get("reason") or value.get("status")
    return {**approval, "reason": str(reason)} if reason else approval


def shown_output(event: ToolEnd) -> Any:
    """What people see of a result: what the tool made for them, else its data, else its text."""
    result = event.result
    if not is_mapping(result) or "llm_content" not in result:
        return result
    return next(
        (result[name] for name in ("return_display", "data") if name in result), result["llm_content"]
    )


def error_text(event: ToolEnd) -> str:
    """Why a call failed, in words."""
    return str((event.error or {}).get("message") or event.status)


def _end_call(part: dict[str, Any], event: ToolEnd) -> None:
    part.pop("preliminary", None)
    metadata = {**part.get("toolMetadata", {}), "status": event.status, "duration": event.duration}
    part["toolMetadata"] = metadata
    if event.status == "ok":
        part.update(state="output-available", output=shown_output(event))
    elif event.status == "denied":
        part.update(state="output-denied")
    else:
        part.pop("output", None)
        part.update(state="output-error", errorText=error_text(event))
