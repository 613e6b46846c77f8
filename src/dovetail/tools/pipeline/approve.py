"""Policy and approval: whether a call may run, and what the person who was asked answered."""

import asyncio
import copy
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dovetail.data.known_secrets import hide_known_in
from dovetail.data.shapes import is_mapping
from dovetail.data.shown_arguments import ShownArguments, has_labels
from dovetail.errors import ToolError
from dovetail.events.asks import LONGEST_SECONDS, Asker, OpenAsk, raised
from dovetail.events.call import Kind
from dovetail.events.model_events import ToolInputEnd
from dovetail.events.run_context import Bus, Mode, RunContext
from dovetail.events.run_events import AskAnswer, AskRequest, Entry, ToolStart
from dovetail.events.tool_context import ToolContext
from dovetail.policy.policy import Decision, Policy
from dovetail.policy.rule import PolicyCall, to_canonical_json
from dovetail.tools.pipeline.audit import DecidedBy
from dovetail.tools.pipeline.prepare import Prepared, Preparer
from dovetail.tools.preview import make_preview
from dovetail.tools.tool import Tool

_MOST_RESTORED = 1000
_DESCRIPTION = ("title", "reason", "preview")
"""What a question says about a call, besides the call itself."""


@dataclass(slots=True)
class Approval:
    """Who decided about a call, and how many seconds the question waited in this process."""

    by: DecidedBy = "rule"
    waited: float = 0.0


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
            raise _explain_absence(name, decision.reason)
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

    def check(self, prepared: Prepared, run: RunContext) -> None:
        """Raise if the rules deny an approved call by now: they may have changed while it waited."""
        decision = self.decide(prepared, run)
        if decision.action == "deny":
            raise ToolError(
                f"{prepared.tool.name!r} is not allowed: {decision.reason}. The rules have changed since the "
                "approval of this call was requested; it was not started and had no effect.",
                type="policy_violation",
            )

    async def ask(
        self, prepared: Prepared, reason: str, call_id: str, run: RunContext, approval: Approval
    ) -> Prepared:
        """Ask a person or a listener on the bus; return the approved call, perhaps with edited arguments.

        Who answered, and after how long, is noted in `approval`. The question shows no secrets; the call
        keeps the arguments that it came with.
        """
        shown = ShownArguments(prepared.args)
        payload = {
            "tool": prepared.tool.name,
            "title": prepared.tool.describe(shown.shown),
            "kind": prepared.tool.kind.value,
            "args": shown.shown,
            "reason": reason,
            "agent_path": list(run.agent_path),
        }
        if prepared.tool.fingerprint:
            payload["definition"] = prepared.tool.fingerprint
        context = ToolContext(call_id=call_id, scope=run)
        if (preview := await make_preview(prepared.tool, shown.masked, context)) is not None:
            payload["preview"] = hide_known_in(preview)
        answer = await _ask_outside(call_id, payload, run, approval)
        if answer.get("status") == "failed":
            approval.by = "rule"
            raise _explain_absence(prepared.tool.name, str(answer.get("errorText") or reason))
        if answer.get("status") == "timeout":
            approval.by = "timeout"
            raise ToolError(
                f"The approval of {prepared.tool.name!r} timed out. It was not started and had no effect.",
                type="approval_timeout",
            )
        if answer.get("approved") is not True:
            raise ToolError(_explain_refusal(prepared.tool.name, answer, run), type="declined")
        return self._apply(prepared, shown, answer, run)

    def _apply(
        self, prepared: Prepared, shown: ShownArguments, answer: Mapping[str, Any], run: RunContext
    ) -> Prepared:
        edited = answer.get("edited_args")
        if is_mapping(edited):
            restored = _restore(prepared.tool.name, edited, shown)
            prepared = self._preparer.validate(prepared.tool, restored, run)
            decision = self.decide(prepared, run)
            if decision.action == "deny":
                raise ToolError(
                    f"{prepared.tool.name!r} is not allowed with the edited arguments: {decision.reason}",
                    type="policy_violation",
                )
        self.check(prepared, run)
        remember = answer.get("remember")
        if remember in ("run", "always"):
            self._policy.remember(describe_call(prepared, run), remember)
        return prepared


def _restore(name: str, edited: Mapping[str, Any], shown: ShownArguments) -> dict[str, Any]:
    try:
        return shown.restore(edited)
    except ValueError as error:
        text = f"The edited arguments of {name!r} cannot be used. {error} The call was not started."
        raise ToolError(text, type="invalid_tool_params") from error


async def _ask_outside(
    call_id: str, payload: Mapping[str, Any], run: RunContext, approval: Approval
) -> Mapping[str, Any]:
    """Ask a person and the listeners on the bus: one ask, which the first answer ends."""
    bus = run.bus if run.bus and run.bus.can_be_asked else None
    began, approval.by = time.monotonic(), "person"
    try:
        with run.paused():
            if bus is None:
                if run.ask is None:
                    return {"approved": False}
                return await _ask_person(_open_ask(call_id, payload), run.ask)
            copied = copy.deepcopy(dict(payload))  # a listener must not change what is then executed
            if run.ask is None:
                approval.by = "listener"
                return await bus.ask("approval", call_id, copied, LONGEST_SECONDS)
            ask = _open_ask(call_id, copied, bus)
            answer = await _ask_both(ask, run.ask, bus)
            approval.by = "listener" if ask.is_from_listener else "person"
            return answer
    finally:
        approval.waited = time.monotonic() - began


def _open_ask(call_id: str, payload: Mapping[str, Any], bus: Bus | None = None) -> OpenAsk:
    """Return the question about a call; asked again after a restart, it may be described in another way."""
    return OpenAsk(
        kind="approval",
        call_id=call_id,
        payload=payload,
        path=bus.path if bus else (),
        unstable=_DESCRIPTION,
        has_listeners=bus is not None,
    )


async def _ask_person(ask: OpenAsk, ask_person: Asker) -> Mapping[str, Any]:
    with raised(ask):
        return await ask_person(ask.kind, ask.call_id, ask.payload, None)


async def _ask_both(ask: OpenAsk, ask_person: Asker, bus: Bus) -> Mapping[str, Any]:
    person = asyncio.ensure_future(_ask_person(ask, ask_person))
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
    """Yield the calls that a person has allowed for the whole run; what a started call asks is its own."""
    made: dict[tuple[tuple[str, ...], str], Any] = {}
    asked: dict[str, tuple[Mapping[str, Any], Any]] = {}
    for entry in entries:
        event, path = entry.event, entry.path
        if isinstance(event, ToolInputEnd):
            made[path, event.call_id] = event.args
        elif isinstance(event, ToolStart):
            made.pop((path, event.call_id), None)
        elif isinstance(event, AskRequest) and event.kind == "approval" and (path, event.call_id) in made:
            asked[event.ask_id] = event.payload, made[path, event.call_id]
        elif isinstance(event, AskAnswer) and event.ask_id in asked and _allows_run(event.value):
            payload, given = asked[event.ask_id]
            args = _find_arguments(payload["args"], given, event.value.get("edited_args"))
            if args is not None:
                yield _read_call(payload, args, run)


def _allows_run(answer: Any) -> bool:
    return is_mapping(answer) and answer.get("approved") is True and answer.get("remember") == "run"


def _find_arguments(asked: Mapping[str, Any], given: Any, edited: Any) -> Mapping[str, Any] | None:
    """Return what a person has allowed; its secrets are in the arguments that the model has `given`.

    None if they cannot be found: the arguments were repaired, so those that were `asked` about differ.
    """
    args = given if is_mapping(given) else asked
    shown = ShownArguments(args)
    if to_canonical_json(shown.shown) != to_canonical_json(asked):
        if has_labels(asked):
            return None
        args, shown = asked, ShownArguments(asked)
    if not is_mapping(edited):
        return args
    try:
        return shown.restore(edited)
    except ValueError:  # it was refused then, too
        return None


def _read_call(payload: Mapping[str, Any], args: Mapping[str, Any], run: RunContext) -> PolicyCall:
    return PolicyCall(
        tool=payload["tool"],
        kind=Kind(payload["kind"]),
        args=args,
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


def _explain_absence(name: str, why: str) -> ToolError:
    """Return the error of a call that no one was there to approve: it was neither allowed nor declined."""
    text = f"{name!r} requires approval, but no approver is available: {why}"
    return ToolError(text, type="policy_violation", data={"needs": "approval"})


def _explain_refusal(name: str, answer: Mapping[str, Any], run: RunContext) -> str:
    words = answer.get("value") or answer.get("reason")
    said = f" and said: {words}" if isinstance(words, str) and words.strip() else ""
    text = f"The user declined this call of {name!r}{said}; do not repeat it unless asked to"
    if len(run.agent_path) > 1:  # a sub-agent: only its result reaches the caller
        text += ". If you cannot finish without it, say in your result what blocks you"
    return text
