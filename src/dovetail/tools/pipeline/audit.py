"""One record for every call: who made it, where, with what, who decided and what came of it."""

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias, TypeVar

from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import MASK
from dovetail.events.call import CallStatus

logger = logging.getLogger("dovetail.audit")

T = TypeVar("T")

_LONGEST_TEXT = 500
_MOST_VALUES = 1000
_SECRET = re.compile(
    r"(?i)(pass(word|wd|phrase)|secret|token(?!s|_?count|_?limit|iz)|api[_-]?key|private[_-]?key|access[_-]?key|auth(orization)?$"
    r"|cookie|credential|bearer|signature|\bpin\b)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """What is kept of one call; secrets in `args` are masked."""

    time: float
    call_id: str
    tool: str
    args: Any
    status: CallStatus
    duration: float
    kind: str = ""
    decision: str = ""
    rule: str = ""
    error: str | None = None
    owner: str | None = None
    session_id: str | None = None
    run_path: tuple[str, ...] = ()
    agent_path: tuple[str, ...] = ()


Audit: TypeAlias = Callable[[AuditRecord], None]
"""Takes audit records; must not block."""


def log_audit(record: AuditRecord) -> None:
    """Write a record to the log `dovetail.audit`, as one line of JSON."""
    logger.info("%s", json.dumps(asdict(record), ensure_ascii=False, default=str))


def find_log_audit() -> Audit | None:
    """The audit that writes to the log, when somebody wants to read that log."""
    return log_audit if logger.isEnabledFor(logging.INFO) else None


def mask_arguments(arguments: str | Mapping[str, Any]) -> Any:
    """Arguments as an audit may keep them; a text that could not be read is told by its length."""
    return {"unread_characters": len(arguments)} if isinstance(arguments, str) else mask_secrets(arguments)


def mask_secrets(value: Any) -> Any:
    """The value with the values of telling keys masked, at any depth; long texts and long lists are cut."""
    return _Masker().mask(value)


class _Masker:
    """Masks one value; whatever its size, only its first members are looked at."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def mask(self, value: Any) -> Any:
        if is_mapping(value):
            return self._mask_mapping(value)
        if is_list(value):
            masked = [self.mask(item) for item in self._take(value)]
            return masked if len(masked) == len(value) else [*masked, _tell_rest(len(value) - len(masked))]
        return _cut(value) if isinstance(value, str) else value

    def _mask_mapping(self, value: Mapping[Any, Any]) -> dict[Any, Any]:
        masked = {
            _cut(key): MASK if _SECRET.search(str(key)) else self.mask(item)
            for key, item in self._take(value.items())
        }
        if len(masked) < len(value):
            masked["…"] = _tell_rest(len(value) - len(masked))
        return masked

    def _take(self, members: Iterable[T]) -> Iterator[T]:
        for member in members:
            if not self._left:
                return
            self._left -= 1
            yield member


def _cut(text: Any) -> Any:
    if not isinstance(text, str) or len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]}… ({len(text)} characters)"


def _tell_rest(number: int) -> str:
    return f"… ({number} more)"
