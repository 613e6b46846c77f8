"""How long an answer may be: the options of a request that say so, and the most that is really asked for."""

from collections.abc import Iterator, Mapping
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.events.call import ModelRequest
from dovetail.requesters.requester import Requester

_NAMES = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens")
_GROUPS = ("generationConfig", "inferenceConfig")


def read_length(options: Mapping[str, Any]) -> int | None:
    """Return the most output tokens that the options, or the body of a request, allow; None if unlimited."""
    groups = [options, *(group for name in _GROUPS if is_mapping(group := options.get(name)))]
    lengths = [length for group in groups for name in _NAMES if isinstance(length := group.get(name), int)]
    return max(lengths, default=None)


def merge_options(usual: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options over the usual ones; a given length replaces a usual one of another name."""
    kept = usual if read_length(given) is None else without_length(usual)
    return {**kept, **given}


def without_length(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options without those that limit the length of an answer."""
    return {name: value for name, value in options.items() if name not in _NAMES}


def find_longest_answer(requester: Requester, request: ModelRequest, usual: int) -> int:
    """Return the most output tokens that the answer to a request may have; `usual` if nothing limits it.

    Of several models, each may answer. A requester that changes the length on its way to the server has a
    method `find_length`.
    """
    return max(_find_length(each, request) or usual for each in list_requesters(requester))


def list_requesters(requester: Requester) -> Iterator[Requester]:
    """Yield the requesters that may answer: the one, or those that it asks in order."""
    members: Any = getattr(requester, "requesters", None)
    if not isinstance(members, list):
        yield requester
        return
    for member in members:  # pyright: ignore[reportUnknownVariableType] - optional attribute
        yield from list_requesters(member)  # pyright: ignore[reportUnknownArgumentType]


def _find_length(requester: Requester, request: ModelRequest) -> int | None:
    find = getattr(requester, "find_length", None)
    if find is not None:
        return find(request)
    return read_length(merge_options(getattr(requester, "options", {}), request.options))
