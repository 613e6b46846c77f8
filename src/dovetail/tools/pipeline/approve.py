"""Policy and approval: whether a call may run, and what the person who was asked answered."""

import asyncio
import copy
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.errors import ToolError
from dovetail.events.asks import LONGEST_SECONDS, OpenAsk, raised
from dovetail.events.call import Kind
from dovetail.events.run_context import Bus, Mode, RunContext
from dovetail.events.run_events import AskAnswer, AskRequest, Entry
from dovetail.events.tool_context import ToolContext
from dovetail.policy.policy import Decision, Policy
from dovetail.policy.rule import PolicyCall
from dovetail.tools.pipeline.prepare import Prepared, Preparer
from dovetail.tools.preview import make_preview
from dovetail.tools.tool import Tool

_MOST_RESTORED = 1000


class Approver:
    """Apply the policy's decisions; every refusal is a `ToolError` whose message is for the model."""

    def __init__(self, policy: Policy, preparer: Preparer) -> None:
        self._policy = policy
        self._preparer = preparer
        self._restored: OrderedDict[str, None] = OrderedDict()

    def decide(self, prepared: Prepared, run: RunContext) -> Decision:
        """Return the policy's decision on a call."""
        return self._policy.decide(describe_call(prepared, run))

    def allows(self, decision: Decision, prepared: Prepared, run: RunContext) -> bool:
        """Whether the call may run without approval; raise if it may not run at all."""
        if decision.action == "allow":
            return True
        name = prepared.tool.name
        if decision.action == "deny":
            raise ToolError(f"{name!r} is not allowed: {decision.reason}", type="policy_violation")
        if run.ask is None and not (run.bus and run.bus.can_be_asked):
            raise ToolError(
                f"{name!r} requires approval, but no approver is available: {decision.reason}",
                type="policy_violation",
                data={"needs": "approval"},
            )
        return False

    async def restore(self, run: RunContext) -> None:
        """Allow again what was allowed for a run before it was interrupted: its journal has the answers."""
        if run.journal is None or not run.journal.is_resumed or run.run_path[0] in self._restored:
            return
        self._restored[run.run_path[0]] = None
        if len(self._restored) > _MOST_RESTORED:
            self._restored.popitem(last=False)
        for call in _find_allowed(await run.history(), run):
            self._policy.remember(call, "run")

    async def ask(self, prepared: Prepared, decision: Decision, call_id: str, run: RunContext) -> Prepared:
        """Ask a person or a listener on the bus; return the approved call, perhaps with edited arguments."""
        payload = {
            "tool": prepared.tool.name,
            "title": prepared.tool.describe(prepared.args),
            "kind": prepared.tool.kind.value,
            "args": prepared.args,
            "reason": decision.reason,
            "agent_path": list(run.agent_path),
        }
        if prepared.tool.fingerprint:
            payload["definition"] = prepared.tool.fingerprint
        context = ToolContext(call_id=call_id, scope=run)
        if (preview := await make_preview(prepared.tool, prepared.args, context)) is not None:
            payload["preview"] = preview
        answer = await _ask_outside(call_id, payload, run)
        if answer.get("status") == "timeout":
            raise ToolError(
                f"The approval of {prepared.tool.name!r} timed out. It was not started and had no effect.",
                type="approval_timeout",
            )
        if answer.get("approved") is not True:
            raise ToolError(_explain_refusal(prepared.tool.name, answer, run), type="declined")
        return self._apply(prepared, answer, run)

    def _apply(self, prepared: Prepared, answer: Mapping[str, Any], run: RunContext) -> Prepared:
        edited = answer.get("edited_args")
        if is_mapping(edited):
            prepared = self._preparer.validate(prepared.tool, dict(edited), run)
            decision = self.decide(prepared, run)
            if decision.action == "deny":
                raise ToolError(
                    f"{prepared.tool.name!r} is not allowed with the edited arguments: {decision.reason}",
                    type="policy_violation",
                )
        remember = answer.get("remember")
        if remember in ("run", "always"):
            self._policy.remember(describe_call(prepared, run), remember)
        return prepared


async def _ask_outside(call_id: str, payload: Mapping[str, Any], run: RunContext) -> Mapping[str, Any]:
    """Ask a person and the listeners on the bus: one ask, which the first answer ends."""
    bus = run.bus if run.bus and run.bus.can_be_asked else None
    with run.paused():
        if bus is None:
            return await run.ask("approval", call_id, payload, None) if run.ask else {"approved": False}
        copied = copy.deepcopy(dict(payload))  # a listener must not change what is then executed
        if run.ask is None:
            return await bus.ask("approval", call_id, copied, LONGEST_SECONDS)
        ask = OpenAsk(kind="approval", call_id=call_id, payload=copied, path=bus.path)
        with raised(ask):
            person = asyncio.ensure_future(run.ask("approval", call_id, payload, None))
        try:
            await _wait_until_stored(ask, person)
            return await person if person.done() else await _wait_for_any(ask, person, bus)
        finally:
            person.cancel()


async def _wait_until_stored(ask: OpenAsk, person: "asyncio.Future[Mapping[str, Any]]") -> None:
    """Wait until a run that adopts the ask has stored it: listeners hear of no question that may be lost."""
    await asyncio.sleep(0)  # an asker that adopts does so in its first step
    if ask.is_adopted:
        stored = asyncio.ensure_future(ask.asked.wait())
        try:
            await asyncio.wait({stored, person}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stored.cancel()


async def _wait_for_any(
    ask: OpenAsk, person: "asyncio.Future[Mapping[str, Any]]", bus: Bus
) -> Mapping[str, Any]:
    with bus.carry(ask):
        await asyncio.wait({ask.future, person}, return_when=asyncio.FIRST_COMPLETED)
        if not ask.is_adopted and ask.future.done():
            return ask.future.result()
        answer = await person  # of a run that has adopted the ask: the one that was stored
        ask.answer(answer)
        return answer


def describe_call(prepared: Prepared, run: RunContext) -> PolicyCall:
    """Return a call as the policy sees it."""
    return PolicyCall(
        tool=prepared.tool.name,
        kind=prepared.tool.kind,
        args=prepared.args,
        agent_path=run.agent_path,
        mode=run.mode,
        run_path=run.run_path,
        owner=run.owner,
        session_id=run.session_id,
        definition=prepared.tool.fingerprint,
        defaults=prepared.tool.defaults,
    )


def _find_allowed(entries: Iterable[Entry], run: RunContext) -> Iterator[PolicyCall]:
    """Yield the calls that a person has allowed for the whole run."""
    asked: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, AskRequest) and event.kind == "approval":
            asked[event.ask_id] = event.payload
        elif isinstance(event, AskAnswer) and event.ask_id in asked and _allows_run(event.value):
            yield _read_call(asked[event.ask_id], event.value, run)


def _allows_run(answer: Any) -> bool:
    return is_mapping(answer) and answer.get("approved") is True and answer.get("remember") == "run"


def _read_call(payload: Mapping[str, Any], answer: Mapping[str, Any], run: RunContext) -> PolicyCall:
    edited = answer.get("edited_args")
    return PolicyCall(
        tool=payload["tool"],
        kind=Kind(payload["kind"]),
        args=edited if is_mapping(edited) else payload["args"],
        agent_path=tuple(payload["agent_path"]),
        mode=run.mode,
        run_path=run.run_path[:1],
        owner=run.owner,
        session_id=run.session_id,
        definition=payload.get("definition", ""),
    )


def describe_trial(
    tool: Tool, arguments: Mapping[str, Any], agents: tuple[str, ...], mode: Mode, owner: str
) -> PolicyCall:
    """Return a call that is not made as the policy would see it."""
    scope = RunContext(owner=owner, agent_path=agents, mode=mode)
    return describe_call(Prepared(tool=tool, args=dict(arguments)), scope)


def _explain_refusal(name: str, answer: Mapping[str, Any], run: RunContext) -> str:
    words = answer.get("value") or answer.get("reason")
    said = f" and said: {words}" if isinstance(words, str) and words.strip() else ""
    text = f"The user declined this call of {name!r}{said}; do not repeat it unless asked to"
    if len(run.agent_path) > 1:  # a sub-agent: only its result reaches the caller
        text += ". If you cannot finish without it, say in your result what blocks you"
    return text
