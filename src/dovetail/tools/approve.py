"""Policy and approval: may this call run, and if a person must say so, what did they say?"""

import logging
from collections.abc import Mapping
from typing import Any

from dovetail.bus.policy import Decision, Policy
from dovetail.bus.rule import PolicyCall
from dovetail.data.shapes import is_mapping
from dovetail.errors import ToolError
from dovetail.tools.prepare import Prepared, validate
from dovetail.tools.scope import CallScope

logger = logging.getLogger(__name__)


class Approver:
    """Puts the policy's decisions into effect."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def decide(self, prepared: Prepared, scope: CallScope) -> Decision:
        """What the policy says; a denial is a `ToolError` for the model."""
        decision = self._policy.decide(_describe(prepared, scope))
        if decision.action == "deny":
            raise ToolError(f"{prepared.tool.name!r} may not run: {decision.reason}", type="policy_violation")
        if decision.action == "ask" and scope.ask is None:
            raise ToolError(
                f"{prepared.tool.name!r} needs an approval and nobody can be asked: {decision.reason}",
                type="policy_violation",
            )
        return decision

    async def ask(self, prepared: Prepared, decision: Decision, call_id: str, scope: CallScope) -> Prepared:
        """Ask a person; gives the call as approved, perhaps with other arguments."""
        if scope.ask is None:
            raise ToolError(f"nobody can be asked about {prepared.tool.name!r}", type="policy_violation")
        payload = {
            "tool": prepared.tool.name,
            "title": prepared.tool.describe(prepared.args),
            "kind": prepared.tool.kind.value,
            "args": prepared.args,
            "reason": decision.reason,
            "agent_path": list(scope.agent_path),
        }
        answer = await scope.ask("approval", call_id, payload, None)
        if answer.get("status") == "timeout":
            raise ToolError(
                f"nobody answered whether {prepared.tool.name!r} may run", type="approval_timeout"
            )
        if not answer.get("approved"):
            raise ToolError(_explain_refusal(prepared.tool.name, answer), type="declined")
        return self._apply(prepared, answer, scope)

    def _apply(self, prepared: Prepared, answer: Mapping[str, Any], scope: CallScope) -> Prepared:
        edited = answer.get("edited_args")
        if is_mapping(edited):
            prepared = Prepared(prepared.tool, validate(prepared.tool, dict(edited)))
            decision = self._policy.decide(_describe(prepared, scope))
            if decision.action == "deny":
                raise ToolError(
                    f"{prepared.tool.name!r} may not run as edited: {decision.reason}",
                    type="policy_violation",
                )
        return prepared


def _describe(prepared: Prepared, scope: CallScope) -> PolicyCall:
    return PolicyCall(
        tool=prepared.tool.name,
        kind=prepared.tool.kind,
        args=prepared.args,
        agent_path=scope.agent_path,
        mode=scope.mode,
        run_path=scope.run_path,
        owner=scope.owner,
    )


def _explain_refusal(name: str, answer: Mapping[str, Any]) -> str:
    words = answer.get("value")
    said = f" and said: {words}" if isinstance(words, str) and words.strip() else ""
    return f"the user declined this call of {name!r}{said}; do not make it again unless asked to"
