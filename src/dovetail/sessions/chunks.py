"""A run's events as chunks of the AI SDK's UI message stream (v1), which any `useChat` client reads.

This is the one encoder: the server streams its chunks, and a session stores the parts that they add up to
(`sessions/parts.py`), so a page looks the same before and after a reload.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from dovetail.data.shapes import is_mapping
from dovetail.events.model_events import (
    ModelProgress,
    ModelRequestEvent,
    ReasoningDeltaEvent,
    ReasoningEnd,
    ReasoningStart,
    TextDeltaEvent,
    TextEnd,
    TextStart,
    ToolInputDeltaEvent,
    ToolInputEnd,
    ToolInputStart,
)
from dovetail.events.run_events import (
    AskAnswer,
    AskRequest,
    Entry,
    Event,
    RunEnd,
    RunStart,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnEnd,
    TurnReset,
    UserMessage,
)
from dovetail.sessions.message import USER_MESSAGE

Chunk: TypeAlias = dict[str, Any]

DETAIL = "tool-detail"
"""The type of chunks with what is stored of a call but not streamed: clients have it from `describe`."""

FINISH_REASONS = {"goal": "stop", "error": "error", "interrupted": "interrupted", "max-tokens": "length"}
_NOT_SHOWN = ("setup", "timing")
"""What an event of a child keeps for its resumption and for operators."""
CUT_REASONS = ("length", "content-filter", "repetition")
"""Why an answer is not whole; clients of the AI SDK know `repetition` as `length`."""


def _no_description(name: str) -> Mapping[str, Any]:
    return {}


@dataclass(slots=True, kw_only=True)
class ChunkEncoder:
    """Encodes the events of one run, one message.

    `metadata` is sent with the start of the message; `describe` returns `title`, `kind` and `needs_tab` of a
    tool by its name. A client that `acts_on_inputs` runs a browser call as soon as it has its input: until
    the call asks for it, it is shown as one that the server runs; `ended_calls` never ask again.
    """

    message_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    describe: Callable[[str], Mapping[str, Any]] = _no_description
    acts_on_inputs: bool = False
    ended_calls: Collection[str] = ()
    _in_step: bool = False
    _finish_reason: str = ""  # of the last turn
    _calls: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    _open_calls: dict[str, None] = field(default_factory=dict[str, None])
    _inputs: dict[str, Chunk] = field(
        default_factory=dict[str, Chunk]
    )  # of browser calls that have not asked
    _asks: dict[str, str] = field(default_factory=dict[str, str])
    _children: dict[str, Chunk] = field(default_factory=dict[str, Chunk])

    def encode(self, entry: Entry) -> list[Chunk]:
        """Return the chunks of the next entry."""
        event = entry.event
        if isinstance(event, ModelRequestEvent):
            return []  # for inspecting a run, not for chatting
        if len(entry.path) > 1:
            return self._encode_child(entry)
        if isinstance(event, ModelProgress):
            return [{"type": "data-model-progress", "data": asdict(event), "transient": True}]
        if isinstance(event, RunStart):
            return [self._start()]
        if isinstance(event, RunEnd):
            return _encode_end(event, self._finish_reason)
        if isinstance(event, TurnEnd | TurnReset | UserMessage):
            return self._encode_turn(event)
        chunks = self._encode_text(event) or self._encode_call(event) or self._encode_ask(entry)
        if chunks and not self._in_step:
            self._in_step = True
            return [{"type": "start-step"}, *chunks]
        return chunks

    def resume(self) -> list[Chunk]:
        """Return the start of the message again, for a client that has the message so far."""
        self._in_step = True
        return [self._start()]

    def pause(self, number: int) -> list[Chunk]:
        """Finish the message for now: the client must answer before the run continues after `number`."""
        chunks = self._approve_rest() if "approval" in self._asks.values() else []
        return [
            *chunks,
            {"type": "finish", "finishReason": "tool-calls", "messageMetadata": {"number": number}},
        ]

    def _start(self) -> Chunk:
        return {"type": "start", "messageId": self.message_id, "messageMetadata": dict(self.metadata)}

    def _encode_turn(self, event: TurnEnd | TurnReset | UserMessage) -> list[Chunk]:
        """Encode what ends a turn, or comes between two."""
        if isinstance(event, UserMessage):
            data = {"kind": event.kind, "parts": list(event.parts)}
            return [*self._leave_step(), {"type": USER_MESSAGE, "id": event.message_id, "data": data}]
        if isinstance(event, TurnReset):
            return [{"type": "reset-step"}] if self._in_step else []
        self._in_step, self._finish_reason = False, event.finish_reason
        return [{"type": "finish-step"}]

    def _leave_step(self) -> list[Chunk]:
        """End a step that was reset: a client would reset what follows inside of it, too."""
        chunks: list[Chunk] = [{"type": "finish-step"}] if self._in_step else []
        self._in_step = False
        return chunks

    def _encode_text(self, event: Event) -> list[Chunk]:
        if isinstance(event, TextStart | TextEnd | ReasoningStart | ReasoningEnd):
            return [{"type": event.type, "id": event.id}]
        if isinstance(event, TextDeltaEvent | ReasoningDeltaEvent):
            return [{"type": event.type, "id": event.id, "delta": event.delta}]
        return []

    def _encode_call(self, event: Event) -> list[Chunk]:
        if isinstance(event, ToolInputStart):
            return [{"type": "tool-input-start", **self._begin_call(event)}]
        if isinstance(event, ToolInputEnd):
            self._open_calls[event.call_id] = None
            return [self._show_input(event)]
        if (
            not isinstance(event, ToolInputDeltaEvent | ToolStart | ToolProgress | ToolEnd)
            or event.call_id not in self._calls
        ):
            return []
        call: Chunk = {"toolCallId": event.call_id}
        if isinstance(event, ToolInputDeltaEvent):
            return [{"type": "tool-input-delta", **call, "inputTextDelta": event.delta}]
        if isinstance(event, ToolStart):
            return [{"type": DETAIL, **call, "title": event.title, "toolMetadata": {"kind": event.kind}}]
        if isinstance(event, ToolProgress):
            return [{"type": "tool-output-available", **call, "output": event.output, "preliminary": True}]
        self._open_calls.pop(event.call_id, None)
        return self._end_call(call, event)

    def _show_input(self, event: ToolInputEnd) -> Chunk:
        chunk = {"type": "tool-input-available", **self._begin_call(event), "input": event.args}
        is_for_tab = self._calls[event.call_id].get("needs_tab")
        if self.acts_on_inputs and is_for_tab and event.call_id not in self.ended_calls:
            self._inputs[event.call_id] = chunk
        return chunk

    def _begin_call(self, event: ToolInputStart | ToolInputEnd) -> Chunk:
        known = self._calls[event.call_id] = self.describe(event.name)
        chunk: Chunk = {"toolCallId": event.call_id, "toolName": event.name, "dynamic": True}
        if self.acts_on_inputs or not known.get("needs_tab"):
            chunk["providerExecuted"] = True  # otherwise a client would execute the call itself
        if known.get("title"):
            chunk["title"] = known["title"]
        if known.get("kind"):
            chunk["toolMetadata"] = {"kind": known["kind"]}
        return chunk

    def _end_call(self, call: Chunk, event: ToolEnd) -> list[Chunk]:
        metadata = {"status": event.status, "duration": event.duration}
        if kind := self._calls[event.call_id].get("kind"):
            metadata["kind"] = kind
        if event.status == "denied":
            return [
                {"type": DETAIL, **call, "toolMetadata": metadata},
                {"type": "tool-output-denied", **call},
            ]
        call["toolMetadata"] = metadata
        if event.status == "ok":
            return [{"type": "tool-output-available", **call, "output": shown_output(event)}]
        return [{"type": "tool-output-error", **call, "errorText": error_text(event)}]

    def _encode_ask(self, entry: Entry) -> list[Chunk]:
        event = entry.event
        if isinstance(event, AskAnswer):
            kind = self._asks.pop(event.ask_id, None)
            return [_encode_answer(event)] if kind == "approval" else _end_question(event, kind)
        if not isinstance(event, AskRequest):
            return []
        chunks = [_encode_question(entry, event)]
        if event.call_id in self._calls:
            self._asks[event.ask_id] = event.kind
            self._open_calls.pop(event.call_id, None)
            if event.kind == "approval":
                chunks += _request_approval(event)
            elif shown := self._inputs.pop(event.call_id, None):
                chunks.append({**shown, "providerExecuted": False})
        return chunks

    def _approve_rest(self) -> list[Chunk]:
        """Mark calls that wait for the approval of others as approved; otherwise clients would not answer."""
        chunks: list[Chunk] = []
        for call_id in self._open_calls:
            approval_id = f"automatic-{call_id}"
            request = {"type": "tool-approval-request", "approvalId": approval_id, "toolCallId": call_id}
            chunks.append({**request, "isAutomatic": True})
            chunks.append({"type": "tool-approval-response", "approvalId": approval_id, "approved": True})
        return chunks

    def _encode_child(self, entry: Entry) -> list[Chunk]:
        """Encode a child run as one part of the message, and its events for those who watch it live."""
        run_id, event = entry.path[-1], entry.event
        chunks: list[Chunk] = []
        if isinstance(event, RunStart | RunEnd):
            self._children[run_id] = _describe_child(entry, event, self._children.get(run_id))
            chunks.append({"type": "data-subagent", "id": run_id, "data": self._children[run_id]})
        if isinstance(event, AskRequest):
            chunks.append(_encode_question(entry, event))
        data = {name: value for name, value in entry.to_dict().items() if name not in _NOT_SHOWN}
        return [*chunks, {"type": "data-subagent-event", "data": data, "transient": True}]


def shown_output(event: ToolEnd) -> Any:
    """Return what people see of a result: its display, otherwise its data, otherwise its text."""
    result = event.result
    if not is_mapping(result) or "llm_content" not in result:
        return result
    return next(
        (result[name] for name in ("return_display", "data") if name in result), result["llm_content"]
    )


def error_text(event: ToolEnd) -> str:
    """Return why a call failed, in words."""
    return str((event.error or {}).get("message") or event.status)


def _encode_question(entry: Entry, event: AskRequest) -> Chunk:
    data = {**asdict(event), "run_id": entry.run_id, "path": list(entry.path)}
    return {"type": "data-ask", "id": event.ask_id, "data": data, "transient": True}


def _request_approval(event: AskRequest) -> list[Chunk]:
    """Ask for an approval; a declined call never starts, so title and kind are known from here alone."""
    request = {"type": "tool-approval-request", "approvalId": event.ask_id, "toolCallId": event.call_id}
    detail: Chunk = {}
    if title := event.payload.get("title"):
        detail["title"] = title
    if kind := event.payload.get("kind"):
        detail["toolMetadata"] = {"kind": kind}
    return [request, {"type": DETAIL, "toolCallId": event.call_id, **detail}] if detail else [request]


def _encode_answer(event: AskAnswer) -> Chunk:
    """Return an approval's answer; a time-out or anything unclear is a no."""
    value: Mapping[str, Any] = event.value if is_mapping(event.value) else {}
    chunk: Chunk = {
        "type": "tool-approval-response",
        "approvalId": event.ask_id,
        "approved": value.get("approved") is True,
    }
    reason = value.get("reason") or value.get("errorText") or value.get("status")
    return {**chunk, "reason": str(reason)} if reason else chunk


def _end_question(event: AskAnswer, kind: str | None) -> list[Chunk]:
    """Return that a question was answered, for all who show it; browsers know by the result of the call."""
    if kind != "question":
        return []
    data = {"ask_id": event.ask_id}
    return [{"type": "data-ask-answer", "id": event.ask_id, "data": data, "transient": True}]


def _describe_child(entry: Entry, event: RunStart | RunEnd, known: Chunk | None) -> Chunk:
    place = {"run_id": entry.path[-1], "path": list(entry.path)}
    if isinstance(event, RunStart):
        return {
            **place,
            "agent": event.agent,
            "parent_call_id": event.parent_call_id,
            "state": "running",
        }
    return {**(known or place), "state": "ended", "reason": event.reason}


def _encode_end(event: RunEnd, finish_reason: str) -> list[Chunk]:
    metadata: Chunk = {"reason": event.reason, "usage": asdict(event.usage)}
    if event.notice is not None:
        metadata |= {"limit": event.limit, "notice": event.notice}
    if event.reason == "cancelled":
        update = {"type": "message-metadata", "messageMetadata": metadata}
        return [update, {"type": "abort", "reason": "cancelled"}]
    is_cut = event.reason == "goal" and finish_reason in CUT_REASONS
    if is_cut:
        metadata["cut"] = finish_reason
    cut = "length" if finish_reason == "repetition" else finish_reason
    reason = cut if is_cut else FINISH_REASONS.get(event.reason, "other")
    finish: Chunk = {"type": "finish", "finishReason": reason, "messageMetadata": metadata}
    if event.error is None:
        return [finish]
    metadata["error"] = event.error
    text = "\n".join(str(event.error[name]) for name in ("message", "hint") if event.error.get(name))
    update = {"type": "message-metadata", "messageMetadata": metadata}
    return [update, {"type": "error", "errorText": text}, finish]
