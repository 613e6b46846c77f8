"""Read the answers of the Responses API: output items, streamed or whole."""

import re
from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_mapping, read_count
from dovetail.events.delta import Delta, ProviderPartDelta, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from dovetail.requesters.http.reader import AnswerReader, Complain, expect_text
from dovetail.requesters.openai.format import STATUSES, count
from dovetail.requesters.openai.responses_pattern import EventPattern

_REASONS = {"stop": "stop", "max_output_tokens": "length", "content_filter": "content-filter"}
_REFUSAL = "response.refusal.delta"
_TEXTS = ("response.output_text.delta", _REFUSAL)
_THOUGHTS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_DELTAS = {*_TEXTS, *_THOUGHTS, "response.function_call_arguments.delta"}
_ITEMS = ("response.output_item.added", "response.output_item.done")
_ENDS = ("response.completed", "response.incomplete", "response.done")
_FAILURES = ("error", "response.failed")
_BETWEEN = "\n\n"


class ResponsesReader(AnswerReader):
    """Read the events of one response; `source` is the API in the provider parts that it makes.

    Reasoning items and the items of built-in tools become provider parts when they are complete.
    """

    places = re.compile(r'"delta":\s*"')
    reasons = _REASONS

    def __init__(self, complain: Complain, source: str) -> None:
        super().__init__(complain)
        self._source = source
        self._calls: dict[int, int] = {}  # output index -> index of the call
        self._begun: set[int] = set()  # output indexes whose text or arguments have begun to arrive
        self._has_text = False
        self._usage: Any = None

    def _read_usage(self) -> Usage:
        return read_usage(self._usage)

    def _read_chunk(self, chunk: Mapping[str, Any], deltas: list[Delta]) -> bool:
        kind = chunk.get("type")
        if kind in _DELTAS:
            self._read_delta(kind, chunk, deltas)
            return True
        if kind in _ITEMS:
            read = self._begin_item if kind == _ITEMS[0] else self._end_item
            read(chunk["output_index"], chunk["item"], deltas)
        elif kind == "response.reasoning_summary_part.added":
            if chunk.get("summary_index"):
                deltas.append(ReasoningDelta(_BETWEEN))
        elif kind in _ENDS:
            self._end(chunk["response"])
        elif kind is None or kind in _FAILURES:
            self._report(chunk)
        return False

    def _read_whole(self, answer: Mapping[str, Any], deltas: list[Delta]) -> None:
        if answer.get("error") or answer.get("status") == "failed":
            self._report(answer)
        for index, item in enumerate(answer["output"]):
            self._begin_item(index, item, deltas)
            self._end_item(index, item, deltas)
        self._end(answer)

    def _read_delta(self, kind: Any, chunk: Mapping[str, Any], deltas: list[Delta]) -> None:
        if not (text := expect_text(chunk["delta"])):
            return
        index = chunk["output_index"]
        if kind in _TEXTS:
            self.is_refused = self.is_refused or kind == _REFUSAL
            self._begin_text(index, deltas)
            deltas.append(TextDelta(text))
        elif kind in _THOUGHTS:
            deltas.append(ReasoningDelta(text))
        else:
            deltas.append(ToolCallDelta(self._calls[index], arguments=text))
        self._begun.add(index)

    def _learn(self, chunk: str, delta: Delta) -> None:
        if self._patterns_left:
            self._patterns_left -= 1
            self._pattern = EventPattern.learn_event(chunk, delta)

    def _begin_text(self, index: int, deltas: list[Delta]) -> None:
        if index not in self._begun:
            if self._has_text:
                deltas.append(TextDelta(_BETWEEN))  # another message of the same answer
            self._has_text = True

    def _begin_item(self, index: int, item: Mapping[str, Any], deltas: list[Delta]) -> None:
        kind = item.get("type")
        if kind == "function_call" and index not in self._calls:
            call = self._calls[index] = len(self._calls)
            self.has_calls = True
            call_id = expect_text(item.get("call_id") or item.get("id"))
            deltas.append(ToolCallDelta(call, call_id, expect_text(item["name"])))
        elif kind == "message" and item.get("phase"):
            part = {"type": "message", "phase": expect_text(item["phase"])}
            deltas.append(ProviderPartDelta(self._source, part))

    def _end_item(self, index: int, item: Mapping[str, Any], deltas: list[Delta]) -> None:
        """Read a complete item: what its deltas have brought already is not repeated."""
        kind = item.get("type")
        is_new = index not in self._begun
        if kind == "message":
            if is_new:
                self._read_message(index, item, deltas)
        elif kind == "function_call":
            self._begin_item(index, item, deltas)
            if is_new and (arguments := expect_text(item.get("arguments") or "")):
                deltas.append(ToolCallDelta(self._calls[index], arguments=arguments))
        else:
            if kind == "reasoning" and is_new and (thought := _read_thought(item)):
                deltas.append(ReasoningDelta(thought))
            deltas.append(ProviderPartDelta(self._source, dict(item)))
        self._begun.add(index)

    def _read_message(self, index: int, item: Mapping[str, Any], deltas: list[Delta]) -> None:
        for part in item.get("content") or ():
            refusal = part.get("refusal")
            if text := expect_text(refusal or part.get("text") or ""):
                self.is_refused = self.is_refused or bool(refusal)
                self._begin_text(index, deltas)
                deltas.append(TextDelta(text))
                self._begun.add(index)

    def _end(self, response: Mapping[str, Any]) -> None:
        self._usage = response.get("usage")
        if isinstance(model := response.get("model"), str):
            self.model = model
        details: Mapping[str, Any] = response.get("incomplete_details") or {}
        reason = str(details.get("reason") or "stop")
        is_cut = reason not in _REASONS and response.get("status") == "incomplete"
        self.reason = "max_output_tokens" if is_cut else reason
        self.done = True

    def _report(self, chunk: Mapping[str, Any]) -> None:
        """Raise the error of an event, a failed response or a body."""
        response: Mapping[str, Any] = chunk.get("response") or chunk
        error = response.get("error") or chunk
        if not chunk.keys() & {"type", "error", "status"}:
            raise ValueError("expected an event")  # perhaps of another API
        details: Mapping[str, Any] = error if is_mapping(error) else {"message": error}
        code = str(details.get("code") or details.get("type") or "")
        message = details.get("message") or code or "no reason given"
        raise self._fail(f"{message} ({code})" if code and code != message else message, STATUSES.get(code))


def _read_thought(item: Mapping[str, Any]) -> str:
    parts = item.get("summary") or item.get("content") or ()
    return _BETWEEN.join(expect_text(part["text"]) for part in parts)


def read_usage(usage: Any) -> Usage:
    """Read the tokens of one response; missing or invalid counts are 0."""
    if not is_mapping(usage):
        return Usage()
    read, written = usage.get("input_tokens_details"), usage.get("output_tokens_details")
    return Usage(
        input_tokens=read_count(usage.get("input_tokens")),
        output_tokens=read_count(usage.get("output_tokens")),
        cached_tokens=count(read, "cached_tokens"),
        reasoning_tokens=count(written, "reasoning_tokens"),
        cache_write_tokens=count(read, "cache_write_tokens"),
    )
