"""One audit record for every call: its caller, arguments, decision and outcome."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from dovetail.data.secrets import mask_call
from dovetail.events.call import CallStatus

logger = logging.getLogger("dovetail.audit")


DecidedBy: TypeAlias = Literal["rule", "remembered", "person", "listener", "timeout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """The record of one call; secrets in `args` are masked.

    `decided_by` says who allowed or refused it: a `rule`, an answer that was `remembered`, a `person` (the
    owner), a `listener` on the bus, or the `timeout`; `waited` are the seconds of its question.
    """

    time: float
    call_id: str
    tool: str
    args: Any
    status: CallStatus
    duration: float
    kind: str = ""
    decision: str = ""
    rule: str = ""
    decided_by: DecidedBy | None = None
    waited: float = 0.0
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
    return {"unread_characters": len(arguments)} if isinstance(arguments, str) else mask_call(arguments)
