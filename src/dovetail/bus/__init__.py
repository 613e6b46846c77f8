"""Events out, questions out, answers in; the policy that says which calls may run."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.bus.bus import Message, MessageBus
    from dovetail.bus.pending import PendingRegistry
    from dovetail.bus.policy import Decision, Policy
    from dovetail.bus.policy_file import PolicyFile, RememberedRules
    from dovetail.bus.rule import PolicyCall, PolicyRule

__all__ = [
    "Decision",
    "Message",
    "MessageBus",
    "PendingRegistry",
    "Policy",
    "PolicyCall",
    "PolicyFile",
    "PolicyRule",
    "RememberedRules",
]

_HOMES = {
    "Decision": "dovetail.bus.policy",
    "Message": "dovetail.bus.bus",
    "MessageBus": "dovetail.bus.bus",
    "PendingRegistry": "dovetail.bus.pending",
    "Policy": "dovetail.bus.policy",
    "PolicyCall": "dovetail.bus.rule",
    "PolicyFile": "dovetail.bus.policy_file",
    "PolicyRule": "dovetail.bus.rule",
    "RememberedRules": "dovetail.bus.policy_file",
}


def __getattr__(name: str) -> Any:
    """Load a name at its first use, so that importing one module does not load them all."""
    if name not in _HOMES:
        raise AttributeError(
            f"module 'dovetail.bus' has no attribute {name!r}; it exports: {', '.join(__all__)}"
        )
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
