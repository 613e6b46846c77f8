"""The result of an answer: its text, its data, the object built from it, and metadata."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any, Generic, TypeVar

from dovetail.data.clean import DEEPEST
from dovetail.data.paths import EVERY, split_path
from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import shorten
from dovetail.errors import AnswerLengthError, ResponseError
from dovetail.events.call import ToolCall
from dovetail.events.delta import THINK_TAGS, FinishDelta, ReasoningDelta, TextDelta, ToolCallDelta
from dovetail.ids import new_id
from dovetail.lazy import lazy
from dovetail.response.log import LogEntry
from dovetail.response.misfit import describe_misfits
from dovetail.response.parser import AnswerFormat, InstantParser

logger = logging.getLogger(__name__)

_view = lazy("dovetail.data.rich_view")

_TOO_LONG = "the answer was cut off at the model's length limit"
CUT_OFF = {
    "length": _TOO_LONG,
    "max_tokens": _TOO_LONG,  # as servers and requesters of one's own may name it
    "repetition": "the answer was cut off because it repeated itself",
}
"""Why an answer was cut off, by its finish reason."""
_NOT_CLOSED = "the JSON is not complete"
_LONGER = (
    "Raise the option `max_tokens`, as in `agent.options({'max_tokens': 8000})`, or ask for less at once."
)
_ASK_AGAIN = "`returns(Model)` asks again until the answer fits."

LONG = 5_000
"""Characters of an answer whose document takes longer to be read than another thread needs to begin."""

AGAIN = "Give the whole answer again, complete and in the format that was asked for, and nothing else."
"""What the model reads after the reason for which its answer was rejected."""


def write_correction(problem: str, how: str = AGAIN) -> str:
    """Return what the model reads about an answer that was rejected."""
    return f"Your last answer cannot be used: {problem}. {how}".rstrip()


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


@lru_cache(maxsize=1024)
def _warn_of_misfits(misfits: str) -> None:
    """Log where an answer does not fit its output, the first time that this happens in these places."""
    logger.warning("The answer does not fit its output: %s. It is used as it is; %s", misfits, _ASK_AGAIN)


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


def _find_lone_end(text: str) -> int:
    """Return where the answer begins after a tag that ends reasoning which nothing opened; 0 without one."""
    for opening, closing in THINK_TAGS.items():
        place = text.rfind(closing)
        if place >= 0 and text.find(opening, 0, place) < 0:
            return place + len(closing)
    return 0


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Document:
    """The document of an answer, and whether the answer has it up to its end, or ends within JSON."""

    data: Any = None
    is_whole: bool = False
    is_open: bool = False
    is_too_deep: bool = False


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

    @property
    def parsed(self) -> Any:
        """The document in the answer; None if it has none or none was requested."""
        return self._document.data

    @property
    def data(self) -> Any:
        """The document, or the text if no structure was requested.

        None if a typed answer is not whole: `errors` says why, and `parsed` is what has arrived of it.
        """
        if self._format.is_text:
            return self.text
        return None if self._format.is_typed and self.is_cut_off else self.parsed

    @property
    def object(self) -> T | None:
        """The validated object; None if the document is invalid or not whole (`errors` says why)."""
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
        """Return why the answer is rejected, in words for the model; `check` also requires a valid object.

        An answer that was cut off is rejected even if its half document would be valid.
        """
        if self._cut_off is not None:
            return self._cut_off
        missing = find_missing(self.data, ensure_keys)
        if self._not_parsed is not None:
            return self._not_parsed
        if missing:
            return f"these keys are missing: {', '.join(missing)}"
        return self._built[1] if check else None

    @property
    def is_cut_off(self) -> bool:
        """Whether it ended before its document did, so that the values that are open are not whole."""
        return self._cut_off is not None

    @property
    def is_too_long(self) -> bool:
        """Whether it was cut off at the length limit, which the same answer would reach again."""
        return self._cut_off is not None and self._cut_off == _TOO_LONG

    def reject(self, problem: str) -> ResponseError:
        """Return the error for a caller who cannot use the answer."""
        if self.is_too_long:
            tokens = self.finish.usage.output_tokens if self.finish else 0
            after = f" after {tokens:,} tokens" if tokens else ""
            text = f"The data is incomplete: {problem}{after}: {shorten(self.text)}."
            hint = (self.finish.notice if self.finish else "") or _LONGER
            return AnswerLengthError(text, hint=hint)
        last = f"The last answer was: {shorten(self.text)}"
        return ResponseError(f"{problem} (attempts: {self.attempt})", hint=last)

    def find_unreadable(self) -> ResponseError | None:
        """Return why the answer does not have the requested structure, or not all of it."""
        if self._format.is_text:
            return None
        if self._cut_off is not None:
            return self.reject(self._cut_off)
        if self._not_parsed is None:
            return None
        return ResponseError(f"Cannot read data: {self._not_parsed}: {shorten(self.text)}.", hint=_ASK_AGAIN)

    def require_whole(self) -> None:
        """Raise if only a whole answer counts and this one is not."""
        if self._format.is_typed and self._cut_off is not None:
            raise self.reject(self._cut_off)

    def warn_if_unusable(self) -> None:
        """Log why the data is None, incomplete or of other types, or the text empty.

        The caller would have to guess it.
        """
        if self.tool_calls and not self.text:
            warn_of_calls(self.tool_calls)
        elif unreadable := self.find_unreadable():
            logger.warning("%s %s", unreadable.message, unreadable.hint)
        elif self._document.is_open:
            logger.warning(
                "The data may be incomplete: %s: %s. %s", _NOT_CLOSED, shorten(self.text), _ASK_AGAIN
            )
        elif misfits := self._describe_misfits():
            _warn_of_misfits(misfits)

    def _describe_misfits(self) -> str:
        """Return where the data does not fit a schema that nothing else checks."""
        if self._format.is_text or self._format.is_typed:
            return ""
        return describe_misfits(self._format.schema, self.data)

    def to_dict(self) -> dict[str, Any]:
        """Return all views by name."""
        names = ("original_done", "text", "reasoning", "parsed", "object", "meta", "errors", "extra")
        return {name: getattr(self, name) for name in names}

    async def read_ahead(self) -> "Result[T]":
        """Return this result; of a long answer the document is read now, in a thread.

        At its first use it would be read on the event loop, and hold up everything else there.
        """
        if not self._format.is_text and len(self.text) >= LONG:
            await asyncio.to_thread(lambda: self._document)
        return self

    @cached_property
    def _document(self) -> _Document:
        if self._format.is_text:
            return _Document()
        text, parser = self._find_answer()
        is_closed = parser.is_closed
        parser.finish()
        if parser.is_too_deep:
            return _Document(is_too_deep=True)
        read_bare = self._format.read_bare
        if parser.data is None and read_bare:
            return _Document(read_bare(text[_find_lone_end(text) :]))
        is_open = parser.ends_open(text)
        return _Document(parser.data, is_whole=is_closed and not is_open, is_open=is_open)

    def _find_answer(self) -> tuple[str, InstantParser]:
        """Return the text that has the answer, and the parser that has read it.

        A document before the end of reasoning that nothing opened, since the chat template has, is a draft.
        """
        text = self.text
        parser = self._format.make_parser()
        parser.feed(text)
        end = _find_lone_end(text)
        if not end or not parser.is_closed or end <= len(text) - len(parser.find_rest(text)):
            return text, parser
        later = self._format.make_parser()
        later.feed(text[end:])
        return (text, parser) if later.data is None else (text[end:], later)

    @property
    def _cut_off(self) -> str | None:
        """Why the answer is incomplete, if it is; a document that had ended before is whole.

        A model that stops within a typed answer has not given it, whatever reason its provider names.
        """
        reason = self.finish.reason if self.finish else ""
        document = self._document
        if reason in CUT_OFF and not document.is_whole:
            return CUT_OFF[reason]
        return _NOT_CLOSED if self._format.is_typed and document.is_open else None

    @property
    def _not_parsed(self) -> str | None:
        if self._format.is_text or self.parsed is not None:
            return None
        if self._document.is_too_deep:
            return f"the answer is nested deeper than {DEEPEST} levels"
        kind = "array" if isinstance(self._format.schema, list) else "object"
        return f"the answer contains no JSON {kind}"

    @cached_property
    def _built(self) -> tuple[Any, str | None]:
        build = self._format.build
        if build is None:
            return self.data, None
        if self._not_parsed is not None or self._cut_off is not None:
            return None, None
        try:
            return build(self.data), None
        except (ValueError, TypeError) as error:  # pydantic's ValidationError is a ValueError
            return None, f"the answer does not fit what was asked for: {error}"
