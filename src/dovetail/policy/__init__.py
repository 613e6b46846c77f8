"""Which calls may run: rules, modes, remembered answers; and the message bus."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.policy.bus import Message, MessageBus
    from dovetail.policy.file import PolicyFile
    from dovetail.policy.pending import PendingRegistry
    from dovetail.policy.policy import Decision, Policy
    from dovetail.policy.remembered import RememberedRules
    from dovetail.policy.rule import PolicyCall, PolicyRule

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

__getattr__ = lazy_exports(
    __name__,
    {
        "Decision": "dovetail.policy.policy",
        "Message": "dovetail.policy.bus",
        "MessageBus": "dovetail.policy.bus",
        "PendingRegistry": "dovetail.policy.pending",
        "Policy": "dovetail.policy.policy",
        "PolicyCall": "dovetail.policy.rule",
        "PolicyFile": "dovetail.policy.file",
        "PolicyRule": "dovetail.policy.rule",
        "RememberedRules": "dovetail.policy.remembered",
    },
)
