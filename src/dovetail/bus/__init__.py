"""Events out, questions out, answers in; the policy that says which calls may run."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

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

__getattr__ = lazy_exports(
    __name__,
    {
        "Decision": "dovetail.bus.policy",
        "Message": "dovetail.bus.bus",
        "MessageBus": "dovetail.bus.bus",
        "PendingRegistry": "dovetail.bus.pending",
        "Policy": "dovetail.bus.policy",
        "PolicyCall": "dovetail.bus.rule",
        "PolicyFile": "dovetail.bus.policy_file",
        "PolicyRule": "dovetail.bus.rule",
        "RememberedRules": "dovetail.bus.policy_file",
    },
)
