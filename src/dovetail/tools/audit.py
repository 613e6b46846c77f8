"""One record for every call: who made it, where, with what, who decided and what came of it."""

import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from dovetail.data.mask import MASK
from dovetail.data.shapes import is_list, is_mapping
from dovetail.messages.call import CallStatus

logger = logging.getLogger("dovetail.audit")

_LONGEST_TEXT = 500
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
    """The value with the values of telling keys masked, at any depth, and long texts cut."""
    if is_mapping(value):
        return {key: MASK if _SECRET.search(str(key)) else mask_secrets(item) for key, item in value.items()}
    if is_list(value):
        return [mask_secrets(item) for item in value]
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return f"{value[:_LONGEST_TEXT]}… ({len(value)} characters)"
    return value
