"""The former place of `dovetail.tools.pipeline.audit`; re-exports only."""

from dovetail.data.secrets import mask_secrets
from dovetail.tools.pipeline.audit import Audit, AuditRecord, find_log_audit, log_audit, mask_arguments

__all__ = ["Audit", "AuditRecord", "find_log_audit", "log_audit", "mask_arguments", "mask_secrets"]
