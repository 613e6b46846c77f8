"""The boundary to models: the deltas of any requester are cleaned and limited here, once.

Text, reasoning, names and arguments become clean text: a character whose halves come in two deltas is joined,
a lone half and a NUL become U+FFFD. Text in `<think>` tags at the beginning of an answer is reasoning. An id
that no database or client could hold is replaced by one of ours. Token counts are whole and not negative, and
one answer has a limited number of calls and characters.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import replace
from typing import TypeAlias

from dovetail.data.clean import REPLACEMENT, clean_data, clean_text, is_clean
from dovetail.data.shapes import is_number, read_count
from dovetail.errors import ModelError
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProgressDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from dovetail.ids import new_id
from dovetail.requesters.sizes import Scale
from dovetail.requesters.think_tags import TagSplitter
from dovetail.settings.limits import AnswerLimits

LONGEST_ID = 200
LONGEST_NAME = 200
MOST_CALLS = 500
"""Calls in one answer; each is prepared, stored and logged, so thousands would block all other runs."""

_TEXTS = (TextDelta, ReasoningDelta)
Place: TypeAlias = type[TextDelta] | type[ReasoningDelta] | int
"""The part that a delta continues: text, reasoning, or the arguments of the call with this index."""


async def clean_deltas(
    deltas: AsyncIterator[Delta], sizes: AnswerLimits | None = None
) -> AsyncGenerator[Delta, None]:
    """Yield the deltas with clean text; most of them are the same objects.

    An answer that is longer than its sizes allow ends there: nothing more of it is read.
    """
    cleaner, scale = _Cleaner(), Scale(sizes or AnswerLimits())
    try:
        async for delta in deltas:
            kept = scale.weigh(delta)
            is_plain = cleaner.has_begun and isinstance(kept, _TEXTS) and is_clean(kept.text)
            for cleaned in () if kept is None else (kept,) if is_plain else cleaner.take(kept):
                yield cleaned
            if scale.end is not None:
                break
        for cleaned in cleaner.end():
            yield cleaned
        if scale.end is not None:
            yield scale.end
    finally:
        if isinstance(deltas, AsyncGenerator):
            await deltas.aclose()


class _Cleaner:
    """Cleaner of one delta after the other; `half` waits for the rest of its character."""

    __slots__ = ("_calls", "_ids", "_place", "_tags", "half")

    def __init__(self) -> None:
        self.half = ""
        self._tags = TagSplitter()
        self._place: Place = TextDelta
        self._calls: set[int] = set()
        self._ids: dict[int, str | None] = {}

    @property
    def has_begun(self) -> bool:
        """Whether the text has begun and nothing waits, so that clean text passes as it is."""
        return self._tags.is_over and not self.half

    def take(self, delta: Delta) -> Iterator[Delta]:
        """Yield the deltas that result from this one."""
        if self._tags.is_over:
            yield from self._clean(delta)
        else:
            for split in self._tags.split([delta]):
                yield from self._clean(split)

    def end(self) -> Iterator[Delta]:
        """Yield what still waits when the stream ends."""
        for held in self._tags.release():
            yield from self._clean(held)
        yield from self.release()

    def _clean(self, delta: Delta) -> Iterator[Delta]:
        if isinstance(delta, FinishDelta):
            yield from self.release()
            yield _clean_finish(delta)
        elif isinstance(delta, ToolCallDelta):
            yield from self.release(unless=delta.index)
            self._count_call(delta.index)
            arguments = self._join(delta.index, delta.arguments)
            name = None if delta.name is None else clean_text(delta.name)[:LONGEST_NAME]
            yield ToolCallDelta(delta.index, self._clean_id(delta), name, arguments)
        elif isinstance(delta, ProviderPartDelta):
            yield from self.release()
            yield ProviderPartDelta(clean_text(delta.source)[:LONGEST_NAME], clean_data(delta.data))
        elif isinstance(delta, ProgressDelta):
            total = read_count(delta.total)
            yield ProgressDelta(delta.phase, min(read_count(delta.done), total), total)
        else:
            kind = type(delta)
            yield from self.release(unless=kind)
            text = self._join(kind, delta.text)
            if text:
                yield delta if text is delta.text else kind(text)

    def release(self, unless: Place | None = None) -> Iterator[Delta]:
        """Yield a waiting half as U+FFFD if the next delta continues another part."""
        if self.half and self._place != unless:
            self.half = ""
            place = self._place
            yield (
                ToolCallDelta(place, arguments=REPLACEMENT) if isinstance(place, int) else place(REPLACEMENT)
            )

    def _join(self, place: Place, text: str) -> str:
        text, self.half = self.half + text, ""
        if "\ud800" <= text[-1:] <= "\udbff":
            self._place, self.half, text = place, text[-1], text[:-1]
        return clean_text(text)

    def _count_call(self, index: int) -> None:
        self._calls.add(index)
        if len(self._calls) > MOST_CALLS:
            raise ModelError(
                f"The model made more than {MOST_CALLS} tool calls in one answer.", provider="the model"
            )

    def _clean_id(self, delta: ToolCallDelta) -> str | None:
        """Return one id per call: the model's, unless it is too long or cannot be stored."""
        given = delta.call_id
        if given and not (is_clean(given) and len(given) <= LONGEST_ID):
            given = self._ids.get(delta.index) or new_id("call")
            self._ids[delta.index] = given
        return given


def _clean_finish(finish: FinishDelta) -> FinishDelta:
    given = finish.usage
    usage = Usage(
        read_count(given.input_tokens),
        read_count(given.output_tokens),
        read_count(given.cached_tokens),
        read_count(given.reasoning_tokens),
        given.cost if is_number(given.cost) and given.cost >= 0 else None,
        read_count(given.cache_write_tokens),
    )
    request_id = None if finish.request_id is None else clean_text(finish.request_id)[:LONGEST_ID]
    model = clean_text(finish.model)[:LONGEST_NAME]
    reason = clean_text(finish.reason)[:LONGEST_NAME]
    notice = clean_text(finish.notice)
    return replace(finish, reason=reason, usage=usage, model=model, request_id=request_id, notice=notice)
