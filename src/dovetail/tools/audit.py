"""The former place of `dovetail.tools.pipeline.audit`; re-exports only."""

from dovetail.tools.pipeline.audit import (
    Audit,
    AuditRecord,
    T,
    find_log_audit,
    log_audit,
    mask_arguments,
    mask_secrets,
)

__all__ = ["Audit", "AuditRecord", "T", "find_log_audit", "log_audit", "mask_arguments", "mask_secrets"]
