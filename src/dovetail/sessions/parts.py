"""The parts of an answer as people see them: what the chunks of its stream add up to."""

from collections.abc import Iterable
from typing import Any

from dovetail.events.run_events import Entry
from dovetail.sessions.chunks import Chunk, ChunkEncoder
from dovetail.sessions.message import USER_MESSAGE, Part


def fold_parts(entries: Iterable[Entry]) -> list[Part]:
    """Return the parts of the root run's answer; each child run is one `data-subagent` part."""
    encoder, fold = ChunkEncoder(), PartsFold()
    for entry in entries:
        for chunk in encoder.encode(entry):
            fold.take(chunk)
    return fold.finish()


class PartsFold:
    """Grows the parts of a message chunk by chunk, as a client of the stream does."""

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []
        self._step: int | None = None  # where the parts of the current step begin
        self._texts: dict[str, tuple[dict[str, Any], list[str]]] = {}  # those in progress, in pieces
        self._calls: dict[str, dict[str, Any]] = {}
        self._approvals: dict[str, dict[str, Any]] = {}
        self._data: dict[str, dict[str, Any]] = {}

    def take(self, chunk: Chunk) -> None:
        """Apply one more chunk; chunks that change no part are ignored."""
        kind: str = chunk["type"]
        if kind.startswith(("text-", "reasoning-")):
            self._take_text(kind, chunk)
        elif kind.startswith("tool-approval-"):
            self._take_approval(kind, chunk)
        elif kind.startswith("tool-"):
            self._take_call(kind, chunk)
        elif kind in ("data-subagent", USER_MESSAGE):
            self._take_data(chunk)
        elif kind == "start-step":
            self._begin_step()
        elif kind == "finish-step":
            self._step = None
        elif kind == "reset-step":
            self._reset_step()

    def _begin_step(self) -> None:
        self._step = len(self.parts)
        self.parts.append({"type": "step-start"})

    def _reset_step(self) -> None:
        """Forget the current step; a call that is made again, even under the same id, is a new one."""
        if self._step is not None:
            void = {id(part) for part in self.parts[self._step :]}
            self._calls = {call_id: part for call_id, part in self._calls.items() if id(part) not in void}
            del self.parts[self._step :]
            self._step = None

    def _add(self, part: dict[str, Any]) -> dict[str, Any]:
        if self._step is None:  # the step was reset and begins again
            self._begin_step()
        self.parts.append(part)
        return part

    def _take_text(self, kind: str, chunk: Chunk) -> None:
        name, _, verb = kind.partition("-")
        if verb == "delta":
            self._texts[chunk["id"]][1].append(chunk["delta"])
        elif verb == "start":
            self._end_text(chunk["id"])
            self._texts[chunk["id"]] = self._add({"type": name, "text": "", "state": "done"}), []
        else:
            self._end_text(chunk["id"])

    def _end_text(self, identity: str) -> None:
        part, pieces = self._texts.pop(identity, ({}, []))
        if pieces:
            part["text"] = "".join(pieces)

    def finish(self) -> list[Part]:
        """Return the parts; a text that broke off ends here."""
        for identity in [*self._texts]:
            self._end_text(identity)
        return [*self.parts]

    def _take_call(self, kind: str, chunk: Chunk) -> None:
        part = self._calls.get(chunk["toolCallId"]) or self._begin_call(chunk)
        _add_detail(part, chunk)
        if kind == "tool-input-available":
            part.update(state="input-available", input=chunk["input"])
        elif kind == "tool-output-available":
            _end_call(part, state="output-available", output=chunk["output"])
            if chunk.get("preliminary"):
                part["preliminary"] = True
        elif kind == "tool-output-error":
            part.pop("output", None)
            _end_call(part, state="output-error", errorText=chunk["errorText"])
        elif kind == "tool-output-denied":
            _end_call(part, state="output-denied")

    def _begin_call(self, chunk: Chunk) -> dict[str, Any]:
        call = {"type": "dynamic-tool", "toolName": chunk["toolName"], "toolCallId": chunk["toolCallId"]}
        part = self._calls[chunk["toolCallId"]] = self._add(
            {**call, "state": "input-streaming", "input": None}
        )
        return part

    def _take_approval(self, kind: str, chunk: Chunk) -> None:
        approval: dict[str, Any] = {"id": chunk["approvalId"]}
        if kind == "tool-approval-request":
            part = self._approvals[chunk["approvalId"]] = self._calls[chunk["toolCallId"]]
            part.update(state="approval-requested", approval=approval)
        else:
            approval.update((name, chunk[name]) for name in ("approved", "reason") if name in chunk)
            self._approvals[chunk["approvalId"]].update(state="approval-responded", approval=approval)

    def _take_data(self, chunk: Chunk) -> None:
        """Add a part outside of the steps, or change it: a later chunk with the same id replaces its data."""
        identity = chunk["id"]
        if identity not in self._data:
            self._data[identity] = {"type": chunk["type"], "id": identity}
            self.parts.append(self._data[identity])
        self._data[identity]["data"] = chunk["data"]


def _add_detail(part: dict[str, Any], chunk: Chunk) -> None:
    if "title" in chunk:
        part["title"] = chunk["title"]
    if "toolMetadata" in chunk:
        part["toolMetadata"] = {**part.get("toolMetadata", {}), **chunk["toolMetadata"]}


def _end_call(part: dict[str, Any], **changes: Any) -> None:
    part.pop("preliminary", None)
    part.update(changes)
