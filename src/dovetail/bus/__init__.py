"""Events out, questions out, answers in; the policy that says which calls may run."""

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
