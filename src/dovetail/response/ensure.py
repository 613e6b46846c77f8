"""Says what an answer lacks, in words that help a model to do better."""

from collections.abc import Iterable
from typing import Any

from dovetail.data.paths import EVERY, split_path
from dovetail.data.shapes import is_list, is_mapping


def find_missing(data: Any, keys: Iterable[str]) -> list[str]:
    """The keys, dotted or slashed, that the data does not have; `[*]` asks it of every item."""
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
