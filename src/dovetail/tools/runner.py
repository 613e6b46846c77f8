"""The pipeline that every call goes through, whoever makes it.

    find → repair → validate → policy → (ask) → execute → size guard → result → event + audit

Every call gets exactly one outcome and one `tool-end` event, also when it is cancelled, times out or crashes.
All approvals of a batch are settled before any of its calls runs; the calls run in parallel when all tools of
the batch only read, and else one after the other, in the order in which they were made.
"""

from collections.abc import Sequence
from typing import Any

from dovetail.bus.policy import Policy
from dovetail.messages.call import ToolCall
from dovetail.tools.approve import Approver
from dovetail.tools.batch import Batch
from dovetail.tools.outcome import CallOutcome
from dovetail.tools.registry import ToolSnapshot
from dovetail.tools.scope import Ask, CallScope

__all__ = ["Ask", "CallOutcome", "CallScope", "ToolRunner"]


class ToolRunner:
    """Runs calls through the pipeline; one runner serves any number of runs."""

    def __init__(self, policy: Policy | None = None, artifacts: Any = None, audit: Any = None) -> None:
        self.policy = policy or Policy()
        self._approver = Approver(self.policy)

    async def run_batch(
        self, snapshot: ToolSnapshot, calls: Sequence[ToolCall], scope: CallScope
    ) -> list[CallOutcome]:
        """Run the calls of one turn; one outcome for each, in the order of the calls."""
        return await Batch(self._approver, snapshot, scope).run(calls)

    async def run_call(self, snapshot: ToolSnapshot, call: ToolCall, scope: CallScope) -> CallOutcome:
        """Run a single call."""
        return (await self.run_batch(snapshot, [call], scope))[0]
