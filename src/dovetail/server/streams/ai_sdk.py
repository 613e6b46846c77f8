"""The AI SDK's UI message stream (v1): what any `useChat` client of the npm package `ai` reads."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dovetail.events.model_events import (
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
    TurnEnd,
    TurnReset,
)
from dovetail.server.streams.event_stream import SSE_HEADERS
from dovetail.server.streams.pending_asks import Waiting
from dovetail.server.streams.sse import DONE, dump, frame, quote
from dovetail.sessions.parts import describe_approval, describe_child, error_text, shown_output

Chunk = dict[str, Any]
FINISH_REASONS = {"goal": "stop", "error": "error", "interrupted": "interrupted", "max-tokens": "length"}


def _no_description(name: str) -> Mapping[str, Any]:
    return {}


@dataclass(slots=True, kw_only=True)
class AiSdkEncoder:
    """One stream for one message.

    `metadata` goes with the message's start; `describe` gives `title`, `kind` and `needs_tab` of a tool. With
    `ends_at_asks` the stream ends when the run waits for an answer: a plain client can answer only then.
    """

    message_id: str | None
    metadata: Mapping[str, Any]
    describe: Callable[[str], Mapping[str, Any]] = _no_description
    ends_at_asks: bool = False
    headers: Mapping[str, str] = field(
        default_factory=lambda: {**SSE_HEADERS, "x-vercel-ai-ui-message-stream": "v1"}
    )
    _in_step: bool = False
    _last: int = 0
    _calls: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    _open_calls: dict[str, None] = field(default_factory=dict[str, None])
    _asks: dict[str, str] = field(default_factory=dict[str, str])
    _waiting: Waiting = field(default_factory=Waiting)
    _path: tuple[str, ...] = ()
    _children: dict[str, Chunk] = field(default_factory=dict[str, Chunk])

    def encode(self, entries: Sequence[Entry]) -> bytes:
        """The entries as chunks; the last chunk of an entry carries its number."""
        pieces: list[bytes] = []
        for entry in entries:
            event = entry.event
            if type(event) is TextDeltaEvent and len(entry.path) == 1:
                data = b'{"type":"text-delta","id":%b,"delta":%b}' % (quote(event.id), quote(event.delta))
                pieces.append(frame(data, entry.number))
            else:
                if self.ends_at_asks:
                    self._waiting.take(entry)
                chunks = [dump(chunk) for chunk in self._chunks(entry)]
                pieces += [frame(chunk) for chunk in chunks[:-1]]
                pieces += [frame(chunk, entry.number) for chunk in chunks[-1:]]
            self._last = entry.number
        return b"".join(pieces)

    @property
    def wants_pause(self) -> bool:
        """Whether nothing but answers is awaited, from a client that can give them only when it is over."""
        return self.ends_at_asks and self._waiting.needs_answers(self._path)

    def keep_open(self, ask_ids: Collection[str]) -> None:
        """Of the questions so far only these wait for the client."""
        self._waiting.keep_open(ask_ids)

    def end(self) -> bytes:
        """The mark that ends the stream; at a pause the message is finished for now."""
        if not self.wants_pause:
            return DONE
        chunks = self._approve_rest() if "approval" in self._asks.values() else []
        metadata = {"number": self._last}
        finish: Chunk = {"type": "finish", "finishReason": "tool-calls", "messageMetadata": metadata}
        return b"".join(frame(dump(chunk)) for chunk in [*chunks, finish]) + DONE

    def start(self) -> bytes:
        """The message's start again, for a client that goes on with a message it has."""
        self._in_step = True
        return frame(dump(self._start()))

    def _start(self) -> Chunk:
        return {"type": "start", "messageId": self.message_id, "messageMetadata": dict(self.metadata)}

    def _chunks(self, entry: Entry) -> list[Chunk]:
        event = entry.event
        if isinstance(event, ModelRequestEvent):
            return []  # for those who inspect the run, not for those who chat
        if len(entry.path) > 1:
            return self._child_chunks(entry)
        if isinstance(event, RunStart):
            self._path = entry.path
            return [self._start()]
        if isinstance(event, RunEnd):
            return self._end_chunks(event)
        if isinstance(event, TurnEnd):
            self._in_step = False
            return [{"type": "finish-step"}]
        if isinstance(event, TurnReset):
            return [{"type": "reset-step"}] if self._in_step else []
        chunks = self._text_chunks(event) or self._call_chunks(event) or self._ask_chunks(entry)
        if chunks and not self._in_step:
            self._in_step = True
            return [{"type": "start-step"}, *chunks]
        return chunks

    def _text_chunks(self, event: Event) -> list[Chunk]:
        if isinstance(event, TextStart | TextEnd | ReasoningStart | ReasoningEnd):
            return [{"type": event.type, "id": event.id}]
        if isinstance(event, TextDeltaEvent | ReasoningDeltaEvent):
            return [{"type": event.type, "id": event.id, "delta": event.delta}]
        return []

    def _call_chunks(self, event: Event) -> list[Chunk]:
        if isinstance(event, ToolInputStart):
            return [{"type": "tool-input-start", **self._call(event.call_id, event.name)}]
        if isinstance(event, ToolInputEnd):
            self._open_calls[event.call_id] = None
            return [
                {
                    "type": "tool-input-available",
                    **self._call(event.call_id, event.name),
                    "input": event.args,
                }
            ]
        if (
            not isinstance(event, ToolInputDeltaEvent | ToolProgress | ToolEnd)
            or event.call_id not in self._calls
        ):
            return []
        call: Chunk = {"toolCallId": event.call_id}
        if isinstance(event, ToolInputDeltaEvent):
            return [{"type": "tool-input-delta", **call, "inputTextDelta": event.delta}]
        if isinstance(event, ToolProgress):
            return [{"type": "tool-output-available", **call, "output": event.output, "preliminary": True}]
        self._open_calls.pop(event.call_id, None)
        return [self._end_call(call, event)]

    def _call(self, call_id: str, name: str) -> Chunk:
        known = self._calls[call_id] = self.describe(name)
        chunk: Chunk = {"toolCallId": call_id, "toolName": name, "dynamic": True}
        if not known.get("needs_tab"):
            chunk["providerExecuted"] = True  # else a client would think the call is its own
        if known.get("title"):
            chunk["title"] = known["title"]
        if known.get("kind"):
            chunk["toolMetadata"] = {"kind": known["kind"]}
        return chunk

    def _end_call(self, call: Chunk, event: ToolEnd) -> Chunk:
        if event.status == "denied":
            return {"type": "tool-output-denied", **call}
        metadata = {"status": event.status, "duration": event.duration}
        if kind := self._calls[event.call_id].get("kind"):
            metadata["kind"] = kind
        call["toolMetadata"] = metadata
        if event.status == "ok":
            return {"type": "tool-output-available", **call, "output": shown_output(event)}
        return {"type": "tool-output-error", **call, "errorText": error_text(event)}

    def _ask_chunks(self, entry: Entry) -> list[Chunk]:
        event = entry.event
        if isinstance(event, AskAnswer):
            kind = self._asks.pop(event.ask_id, None)
            return [_describe_answer(event)] if kind == "approval" else []
        if not isinstance(event, AskRequest):
            return []
        chunks = [_describe_ask(entry, event)]
        if event.call_id in self._calls:
            self._asks[event.ask_id] = event.kind
            self._open_calls.pop(event.call_id, None)
            if event.kind == "approval":
                chunks.append(
                    {
                        "type": "tool-approval-request",
                        "approvalId": event.ask_id,
                        "toolCallId": event.call_id,
                    }
                )
        return chunks

    def _approve_rest(self) -> list[Chunk]:
        """Calls that wait for the approval of others count as approved: else a client would not answer."""
        chunks: list[Chunk] = []
        for call_id in self._open_calls:
            approval_id = f"automatic-{call_id}"
            request = {"type": "tool-approval-request", "approvalId": approval_id, "toolCallId": call_id}
            chunks.append({**request, "isAutomatic": True})
            chunks.append({"type": "tool-approval-response", "approvalId": approval_id, "approved": True})
        return chunks

    def _child_chunks(self, entry: Entry) -> list[Chunk]:
        """A child in short as a part of the message, and its events for those who watch just now."""
        run_id, event = entry.path[-1], entry.event
        chunks: list[Chunk] = []
        if isinstance(event, RunStart | RunEnd):
            self._children[run_id] = describe_child(entry, self._children.get(run_id))
            chunks.append({"type": "data-subagent", "id": run_id, "data": self._children[run_id]})
        if isinstance(event, AskRequest):
            chunks.append(_describe_ask(entry, event))
        return [*chunks, {"type": "data-subagent-event", "data": entry.to_dict(), "transient": True}]

    def _end_chunks(self, event: RunEnd) -> list[Chunk]:
        metadata: Chunk = {"reason": event.reason, "usage": asdict(event.usage)}
        if event.reason == "cancelled":
            told = {"type": "message-metadata", "messageMetadata": metadata}
            return [told, {"type": "abort", "reason": "cancelled"}]
        reason = FINISH_REASONS.get(event.reason, "other")
        finish: Chunk = {"type": "finish", "finishReason": reason, "messageMetadata": metadata}
        if event.error is None:
            return [finish]
        metadata["error"] = event.error
        told = {"type": "message-metadata", "messageMetadata": metadata}
        return [told, {"type": "error", "errorText": describe_failure(event.error)}, finish]


def describe_failure(error: Mapping[str, Any]) -> str:
    """An error in words: what happened, and what would help."""
    return "\n".join(str(error[name]) for name in ("message", "hint") if error.get(name))


def _describe_ask(entry: Entry, event: AskRequest) -> Chunk:
    data = {**asdict(event), "run_id": entry.run_id, "path": list(entry.path)}
    return {"type": "data-ask", "id": event.ask_id, "data": data, "transient": True}


def _describe_answer(event: AskAnswer) -> Chunk:
    approval = describe_approval(event)
    return {"type": "tool-approval-response", "approvalId": approval.pop("id"), **approval}
