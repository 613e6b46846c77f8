"""The pipeline that every tool call goes through.

    find → repair → validate → policy → (ask) → execute → size limit → result → event + audit

Every call gets exactly one outcome and one `tool-end` event, also when it is cancelled, times out or crashes.
All approvals of a batch are answered before any of its calls runs. The calls run in parallel if all tools of
the batch only read (one agent that writes may be among them), otherwise one after the other, in their order.
"""

from collections.abc import Callable, Sequence

from dovetail.events.call import ToolCall
from dovetail.events.run_context import RunContext
from dovetail.policy.policy import Policy
from dovetail.tools.artifacts import ArtifactStore, MemoryArtifacts
from dovetail.tools.pipeline.approve import Approver
from dovetail.tools.pipeline.audit import Audit
from dovetail.tools.pipeline.batch import CallBatch, Steps
from dovetail.tools.pipeline.prepare import Preparer
from dovetail.tools.pipeline.result_limits import ResultLimiter, make_reader
from dovetail.tools.snapshot import ToolSnapshot
from dovetail.tools.tool import CallOutcome, ToolResult


class ToolRunner:
    """Run calls through the pipeline; one runner serves any number of runs.

    Without an `audit`, records go to the log `dovetail.audit`, if it is enabled. `reader` is the tool that
    reads more of large results: calls find it by name even if a snapshot does not hold it, but a model must
    know of it. `hide` removes secrets from the messages of failed calls: an exception may hold a key.

    >>> def double(n: int) -> int:
    ...     '''Double a number.'''
    ...     return n * 2
    >>> call = ToolCall(call_id="1", name="double", arguments='{"n": "2"}')  # repaired: 2 is a number
    >>> outcome = ToolRunner().run_call(ToolSnapshot.of([make_tool(double)]), call, RunContext(mode="yolo"))
    >>> asyncio.run(outcome).result.data
    4
    """

    def __init__(
        self,
        policy: Policy | None = None,
        artifacts: ArtifactStore | None = None,
        audit: Audit | None = None,
        hide: Callable[[str], str] | None = None,
    ) -> None:
        self.policy = policy or Policy()
        artifacts = artifacts or MemoryArtifacts()
        self.reader = make_reader(artifacts)
        preparer = Preparer([self.reader])
        self._steps = Steps(preparer, Approver(self.policy, preparer), ResultLimiter(artifacts), audit, hide)

    async def run_batch(
        self, snapshot: ToolSnapshot, calls: Sequence[ToolCall], run: RunContext
    ) -> list[CallOutcome]:
        """Run the calls of one turn and return one outcome for each, in their order."""
        return await CallBatch(self._steps, snapshot, run).run(calls)

    async def run_call(self, snapshot: ToolSnapshot, call: ToolCall, run: RunContext) -> CallOutcome:
        """Run a single call."""
        return (await self.run_batch(snapshot, [call], run))[0]

    async def keep(self, result: ToolResult, run: RunContext) -> ToolResult:
        """Store a large result for the `reader`; return its beginning and how to read more."""
        return await self._steps.limiter.keep(result, run)
