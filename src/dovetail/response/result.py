"""The result of an answer: its text, its data, the object built from it, and metadata."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any, Generic, TypeVar

from dovetail.data.paths import EVERY, split_path
from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import shorten
from dovetail.events.call import ToolCall
from dovetail.events.delta import FinishDelta, ReasoningDelta, TextDelta, ToolCallDelta
from dovetail.ids import new_id
from dovetail.lazy import lazy
from dovetail.response.log import LogEntry
from dovetail.response.parser import AnswerFormat

logger = logging.getLogger(__name__)

_view = lazy("dovetail.data.rich_view")

_CUT_OFF = {
    "length": "the answer was cut off at the model's length limit",
    "repetition": "the answer was cut off because it repeated itself",
}


def collect_calls(deltas: Iterable[ToolCallDelta]) -> list[ToolCall]:
    """Return the calls in the deltas, in the order of their starts."""
    pieces: dict[int, list[ToolCallDelta]] = {}
    for delta in deltas:
        pieces.setdefault(delta.index, []).append(delta)
    return [_join(deltas) for deltas in pieces.values()]


def _join(deltas: list[ToolCallDelta]) -> ToolCall:
    call_id = next((delta.call_id for delta in deltas if delta.call_id), None) or new_id("call")
    name = next((delta.name for delta in deltas if delta.name), "")
    return ToolCall(call_id=call_id, name=name, arguments="".join(delta.arguments for delta in deltas))


def warn_of_calls(calls: Iterable[ToolCall]) -> None:
    """Log that the model made calls where only an answer was left, and what runs them."""
    logger.warning(
        "The model called %s instead of answering. `start` calls tools at most `tools.max_rounds` times "
        "before the answer; `agent.run(…)` calls them until the model is done.",
        ", ".join(call.name for call in calls),
    )


def find_missing(data: Any, keys: Iterable[str]) -> list[str]:
    """Return the keys, dotted or slashed, that are missing from the data; `[*]` stands for every item."""
    return [key for key in keys if not _has(data, split_path(key))]


def _has(value: Any, steps: list[str | int]) -> bool:
    for position, step in enumerate(steps):
        if step == EVERY:
            rest = steps[position + 1 :]
            return is_list(value) and all(_has(item, rest) for item in value)
        if isinstance(step, int):
            if not is_list(value) or not -len(value) <= step < len(value):
                return False
            value = value[step]
        elif not is_mapping(value) or step not in value:
            return False
        else:
            value = value[step]
    return True


T = TypeVar("T")


class Result(Generic[T]):
    """One finished answer. Every property is computed on first use and kept."""

    def __init__(
        self,
        entries: Sequence[LogEntry],
        format: AnswerFormat[T],
        *,
        timings: Mapping[str, float | None] | None = None,
        extra: dict[str, Any] | None = None,
        attempt: int = 1,
    ) -> None:
        self._entries = entries
        self._format = format
        self._timings = timings or {}
        self.extra: dict[str, Any] = {} if extra is None else extra
        self.attempt = attempt
        """The number of this attempt; 2 and more were requested because an earlier answer was rejected."""

    def __repr__(self) -> str:
        answer = f"text={shorten(self.text)}" if self._format.is_text else f"data={shorten(self.data)}"
        again = f", attempt={self.attempt}" if self.attempt > 1 else ""
        return f"Result({answer}{again})"

    def _repr_html_(self) -> str:
        """Show the answer in a notebook."""
        answer = _view.show_markdown(self.text) if self._format.is_text else _view.show_data(self.data)
        finish = self.finish
        tokens = finish.usage.input_tokens + finish.usage.output_tokens if finish else 0
        return answer + _view.show_note({"model": finish.model if finish else "", "tokens": tokens})

    @cached_property
    def text(self) -> str:
        """All text of the answer."""
        return "".join([entry.text for entry in self._entries if isinstance(entry, TextDelta)])

    @cached_property
    def reasoning(self) -> str:
        """The model's reasoning."""
        return "".join([entry.text for entry in self._entries if isinstance(entry, ReasoningDelta)])

    @cached_property
    def tool_calls(self) -> list[ToolCall]:
        """The function calls that the model requested."""
        return collect_calls([entry for entry in self._entries if isinstance(entry, ToolCallDelta)])

    @cached_property
    def finish(self) -> FinishDelta | None:
        """The answer's end; None if it was interrupted."""
        return next((entry for entry in reversed(self._entries) if isinstance(entry, FinishDelta)), None)

    @property
    def original_done(self) -> Mapping[str, Any] | None:
        """The provider's last payload, unchanged."""
        return self.finish.payload if self.finish else None

    @cached_property
    def parsed(self) -> Any:
        """The document in the answer; None if it has none or none was requested."""
        if self._format.is_text:
            return None
        parser = self._format.make_parser()
        parser.feed(self.text)
        parser.finish()
        read_bare = self._format.read_bare
        return read_bare(self.text) if parser.data is None and read_bare else parser.data

    @property
    def data(self) -> Any:
        """The document, or the text if no structure was requested."""
        return self.text if self._format.is_text else self.parsed

    @property
    def object(self) -> T:
        """The validated object; None if the document is invalid (`errors` says why)."""
        return self._built[0]

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Model, usage, finish reason, request id and timings in seconds.

        `model` is the name in the provider's answer, `requested_model` the `provider:name` that was asked.
        """
        finish = self.finish
        return {
            "model": finish.model if finish else None,
            "requested_model": (finish.requested or None) if finish else None,
            "finish_reason": finish.reason if finish else "interrupted",
            "usage": asdict(finish.usage) if finish else None,
            "request_id": finish.request_id if finish else None,
            "timings": dict(self._timings),
        }

    @property
    def errors(self) -> list[str]:
        """The problems of the answer, for people and for the model; empty if it is valid."""
        problems = [self._cut_off, self._not_parsed, self._built[1]]
        return [problem for problem in problems if problem is not None]

    def find_problem(self, ensure_keys: Sequence[str] = (), *, check: bool = False) -> str | None:
        """Return why the answer is rejected, in words for the model; `check` also requires a valid object."""
        missing = find_missing(self.data, ensure_keys)
        if self._not_parsed is not None:
            return self._not_parsed
        if missing:
            return f"these keys are missing: {', '.join(missing)}"
        return self._built[1] if check else None

    def warn_if_unusable(self) -> None:
        """Log why the data is None or the text empty, which the caller would have to guess."""
        if self.tool_calls and not self.text:
            warn_of_calls(self.tool_calls)
        elif self._not_parsed is not None:
            logger.warning(
                "Cannot read data: %s: %s. `returns(Model)` asks again until the answer fits.",
                self._not_parsed,
                shorten(self.text),
            )

    def to_dict(self) -> dict[str, Any]:
        """Return all views by name."""
        names = ("original_done", "text", "reasoning", "parsed", "object", "meta", "errors", "extra")
        return {name: getattr(self, name) for name in names}

    @property
    def _cut_off(self) -> str | None:
        return _CUT_OFF.get(self.finish.reason) if self.finish else None

    @property
    def _not_parsed(self) -> str | None:
        if self._format.is_text or self.parsed is not None:
            return None
        kind = "array" if isinstance(self._format.schema, list) else "object"
        return f"the answer contains no JSON {kind}"

    @cached_property
    def _built(self) -> tuple[Any, str | None]:
        build = self._format.build
        if build is None:
            return self.data, None
        if self._not_parsed is not None:
            return None, None
        try:
            return build(self.data), None
        except (ValueError, TypeError) as error:  # pydantic's ValidationError is a ValueError
            return None, f"the answer does not fit what was asked for: {error}"
