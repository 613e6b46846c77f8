"""OpenAI's chat completions, for any OpenAI client.

Tool calls run on the server and are not streamed: a client reads the text of all turns as one message.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dovetail.events.model_events import ReasoningDeltaEvent, TextDeltaEvent, TextStart
from dovetail.events.run_events import Entry, RunEnd, RunStart, TurnEnd
from dovetail.requesters.openai.format import write_usage
from dovetail.server.responses import DONE, SSE_HEADERS, dump, frame, quote
from dovetail.sessions.message import Part

_APART = "\n\n"
"""Between the texts of two turns."""

_LIMITS = frozenset({"max-tokens", "max-turns", "max-cost", "max-calls", "timeout"})
_ERROR_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


@dataclass(slots=True, kw_only=True)
class CompletionEncoder:
    """One streamed completion; with `includes_usage` a last chunk has the tokens of all turns."""

    completion_id: str
    model: str
    created: int
    includes_usage: bool = False
    headers: Mapping[str, str] = field(default_factory=lambda: SSE_HEADERS)
    wants_pause: bool = False
    _has_text: bool = False
    _before: bytes = b""
    _after: bytes = b""
    _finish_reason: str = ""  # of the last turn

    def __post_init__(self) -> None:
        """Write the parts that all tokens share once."""
        mark = b'"\\u0000"'
        chunk = frame(self._chunk({"content": "\0"}))
        self._before, _, self._after = chunk.partition(mark)

    def encode(self, entries: Sequence[Entry]) -> bytes:
        """Return the entries as chunks, without those of children and tools."""
        pieces: list[bytes] = []
        for entry in entries:
            event = entry.event
            if len(entry.path) > 1:
                continue
            if type(event) is TextDeltaEvent:
                pieces.append(self._before + quote(event.delta) + self._after)
                self._has_text = True
            elif isinstance(event, TextStart) and self._has_text:
                pieces.append(self._before + quote(_APART) + self._after)
            elif isinstance(event, ReasoningDeltaEvent):
                pieces.append(frame(self._chunk({"reasoning_content": event.delta})))
            elif isinstance(event, RunStart):
                pieces.append(frame(self._chunk({"role": "assistant", "content": ""})))
            elif isinstance(event, TurnEnd | RunEnd):
                pieces.append(self._encode_end(event))
        return b"".join(pieces)

    def end(self) -> bytes:
        """Return the mark that ends the stream."""
        return DONE

    def _encode_end(self, event: TurnEnd | RunEnd) -> bytes:
        if isinstance(event, TurnEnd):
            self._finish_reason = event.finish_reason
            return b""
        if event.error is not None:
            status = 429 if event.error.get("type") == "limit_error" else 500
            return frame(dump({"error": to_openai_error(status, event.error)}))
        pieces: list[bytes] = []
        if not self._has_text and event.result is not None:
            pieces.append(self._before + quote(write_result(event.result)) + self._after)
        pieces.append(frame(self._chunk({}, read_finish_reason(event.reason, self._finish_reason))))
        if self.includes_usage:
            usage = {"choices": list[Any](), "usage": write_usage(event.usage)}
            pieces.append(frame(dump({**self._head(), **usage})))
        return b"".join(pieces)

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        usage: dict[str, Any] = {"usage": None} if self.includes_usage else {}
        return dump({**self._head(), "choices": [choice], **usage})

    def _head(self) -> dict[str, Any]:
        return {
            "id": self.completion_id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
        }


def read_text(parts: Sequence[Part], kind: Literal["text", "reasoning"]) -> str:
    """Return the text, or the reasoning, of all turns of a run as its stream has it."""
    return _APART.join(part["text"] for part in parts if part["type"] == kind and part["text"])


def write_result(result: Any) -> str:
    """Return a result as text; if it is not text, as JSON."""
    return result if isinstance(result, str) else dump(result).decode()


def read_finish_reason(reason: str, finish_reason: str) -> str:
    """Return why a run ended, and the model its last answer, in OpenAI's words."""
    if reason == "goal" and finish_reason == "content-filter":
        return "content_filter"
    is_cut = reason == "goal" and finish_reason in ("length", "repetition")
    return "length" if is_cut or reason in _LIMITS else "stop"


def to_openai_error(status: int, error: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error in the shape that OpenAI's clients read."""
    kind = _ERROR_TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    message, hint = str(error["message"]), error.get("hint")
    text = f"{message.rstrip('.')}. {hint}" if hint else message
    return {"message": text, "type": kind, "param": error.get("param"), "code": error["type"]}
