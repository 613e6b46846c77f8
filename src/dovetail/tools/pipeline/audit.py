"""One audit record for every call: its caller, arguments, decision and outcome."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from dovetail.data.secrets import mask_secrets
from dovetail.events.call import CallStatus

logger = logging.getLogger("dovetail.audit")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """The record of one call; secrets in `args` are masked."""

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
"""A sink of audit records; must not block."""


def log_audit(record: AuditRecord) -> None:
    """Write a record to the log `dovetail.audit`, as one line of JSON."""
    logger.info("%s", json.dumps(asdict(record), ensure_ascii=False, default=str))


def find_log_audit() -> Audit | None:
    """Return the audit that writes to the log, if that log is enabled."""
    return log_audit if logger.isEnabledFor(logging.INFO) else None


def mask_arguments(arguments: str | Mapping[str, Any]) -> Any:
    """Return arguments without secrets; a text that could not be parsed is replaced by its length."""
    return {"unread_characters": len(arguments)} if isinstance(arguments, str) else mask_secrets(arguments)
