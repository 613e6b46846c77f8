"""A bare value as an answer: models write `42` where the JSON object `{"value": 42}` was asked for.

Only an answer that is nothing but the value counts, with or without a code fence, quotes or emphasis around
it; a value in the middle of a sentence does not.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

_FENCE = re.compile(r"\A```[\w-]*\n(.*?)\n?```\Z", re.DOTALL)
_THOUSANDS = re.compile(r"\A[+-]?\d{1,3}(,\d{3})+(\.\d+)?\Z")
_AROUND = "*_`\"' \t\n"
_WORDS = {"True": True, "False": False, "None": None}
_MISSING = object()
_ANY_TEXT = "\0 no value of a closed type"
_LONGEST = 1_000


def read_bare(text: str, accepts: Callable[[Any], bool]) -> Any:
    """Return the value that a whole answer is, as the document `{"value": …}`, otherwise None.

    Plain words count only for a type that does not accept every text: otherwise any answer would be valid.
    """
    stripped = text.strip()
    if len(stripped) > _LONGEST:
        return None
    fence = _FENCE.match(stripped)
    written = fence[1].strip() if fence else stripped
    for candidate in _list_candidates(written, with_words=not accepts(_ANY_TEXT)):
        if candidate is not _MISSING and accepts(candidate):
            return {"value": candidate}
    return None


def _list_candidates(text: str, *, with_words: bool) -> Iterator[Any]:
    inner = text.strip(_AROUND)
    for written in (text, inner, inner.rstrip(".").rstrip(_AROUND)):
        yield _read_json(written)
    if with_words and inner:
        plain = inner.rstrip(".!").rstrip(_AROUND)
        yield from (inner, plain, plain.lower())


def _read_json(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _THOUSANDS.match(text):
        text = text.replace(",", "")
    try:
        return json.loads(text)
    except ValueError:
        return _MISSING
