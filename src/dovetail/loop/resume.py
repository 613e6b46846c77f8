"""Continue the loop of a run where its process left it: for answers of chats and for sub-agents.

Promises: a finished turn is not asked for again, and a call that has its result does not run again; a call
that was cut off runs again only if its tool allows it. An agent that was called continues in the same way,
at any depth, with the questions that it had asked; one that was started by other means ends as interrupted.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.errors import DovetailError
from dovetail.events.call import ChatMessage, ToolCall, write_result
from dovetail.events.run_context import RunContext, RunInbox, ignore_event
from dovetail.events.run_events import Entry, RunEnd, RunStart, ToolEnd, TurnEnd, UserMessage
from dovetail.events.run_result import RunResult
from dovetail.ids import new_id
from dovetail.loop.conversation import read_mail
from dovetail.loop.limits import ResumePoint
from dovetail.loop.loop import TurnLoop
from dovetail.loop.replay import Replay, replay
from dovetail.loop.stop import demand_result
from dovetail.tools.pipeline.prepare import find_by_near_name
from dovetail.tools.snapshot import ToolSnapshot
from dovetail.tools.tool import Tool

_CUT_OFF = "The server was restarted while this call was under way; whether it had an effect is not known."
_NO_AGENT = "Agent {!r} no longer exists, so its work ended; whether it had an effect is not known."


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRun:
    """A child that its call had started before an interruption; `end` is how it ended, if it did."""

    run_id: str
    began: float
    done: Replay
    setup: Mapping[str, Any] | None = None
    end: RunEnd | None = None


async def find_child(parent: RunContext, call_id: str) -> EarlierRun | None:
    """Return the child that this call had started before the run was interrupted, if any."""
    if parent.journal is None or not parent.journal.is_resumed:
        return None
    entries = await parent.history()
    start = next((entry for entry in entries if _is_start(entry, parent, call_id)), None)
    if start is None:
        return None
    own = (entry.event for entry in entries if entry.path == start.path)
    return EarlierRun(
        run_id=start.path[-1],
        began=start.time,
        setup=start.event.setup if isinstance(start.event, RunStart) else None,
        done=replay(entries, start.path),
        end=next((event for event in own if isinstance(event, RunEnd)), None),
    )


def _is_start(entry: Entry, parent: RunContext, call_id: str) -> bool:
    event = entry.event
    is_same = isinstance(event, RunStart) and event.parent_call_id == call_id
    return is_same and entry.path[:-1] == parent.run_path


async def read_end(loop: TurnLoop, context: RunContext, earlier: EarlierRun) -> RunResult:
    """Return the result of a run whose end is stored."""
    end, done = earlier.end or RunEnd("interrupted"), earlier.done
    return RunResult(
        reason=end.reason,
        text=str(end.result or ""),
        data=await _read_completion(loop, context, done) if end.reason == "goal" else None,
        messages=done.messages,
        usage=end.usage,
        turns=done.turns,
        limit=end.limit,
        notice=end.notice,
        error=end.error,
        exception=DovetailError(str(end.error.get("message", ""))) if end.error else None,
    )


async def resume_loop(
    loop: TurnLoop, messages: Sequence[ChatMessage], context: RunContext, done: Replay, notice: str = ""
) -> RunResult:
    """Run the loop from `messages` and what the run has `done`, which its budget has counted already.

    A `notice` reaches the model once, before its next turn, as a message to the run.
    """
    ended = await _find_end(loop, context, done)
    mail = [] if ended is None else await read_mail(context)
    results, point = _end_interrupted_calls(context, done, loop.tools)
    await _end_lost_children(context, done, loop.tools)
    if ended is not None and not mail:
        return ended
    asked = [*messages, *done.messages, *results, *mail]
    if asked[-1]["role"] == "assistant" and not done.pending and loop.completion is not None:
        asked.append({"role": "user", "content": demand_result("no-completion", loop.completion)})
    if notice and (done.turns or done.pending) and _say(notice) not in done.messages:
        context = dataclasses.replace(context, inbox=_NoticeFirst(notice, context.inbox))
    return await loop.run(asked, context, point)


class _NoticeFirst:
    """The messages to a run, after a notice about the run itself."""

    def __init__(self, notice: str, inbox: RunInbox | None) -> None:
        parts = ({"type": "text", "text": notice},)
        self._first = [UserMessage(new_id("msg"), "notice", parts, (_say(notice),))]
        self._inbox = inbox

    @property
    def has_mail(self) -> bool:
        return bool(self._first) or (self._inbox is not None and self._inbox.has_mail)

    async def take(self) -> list[UserMessage]:
        first, self._first = self._first, []
        return first if self._inbox is None else [*first, *await self._inbox.take()]


def _say(text: str) -> ChatMessage:
    return {"role": "user", "content": text}


async def _find_end(loop: TurnLoop, context: RunContext, done: Replay) -> RunResult | None:
    """Return the result of a run that was finished, but whose end was not stored."""
    if loop.completion is not None:
        data = await _read_completion(loop, context, done)
        return None if data is None else _make_end(done, data)
    is_answered = bool(done.messages) and not done.pending and done.messages[-1]["role"] == "assistant"
    return _make_end(done) if is_answered else None


async def _read_completion(loop: TurnLoop, context: RunContext, done: Replay) -> Any:
    """Return the result that was handed in, read again from its call: an event holds no large one."""
    call = next((call for call in done.succeeded if call.name == loop.completion), None)
    if call is None:
        return None
    unseen = dataclasses.replace(context, emit=ignore_event, tools=loop.tools)
    return (await loop.runner.run_call(loop.tools, call, unseen)).result.data


def _make_end(done: Replay, data: Any = None) -> RunResult:
    return RunResult(
        text=done.text, data=data, messages=done.messages, turns=done.turns, usage=done.spent.usage
    )


def _end_interrupted_calls(
    context: RunContext, done: Replay, tools: ToolSnapshot
) -> tuple[list[ChatMessage], ResumePoint]:
    """End the calls that a crash cut off and that must not be repeated; the others run again."""
    results: list[ChatMessage] = []
    for call in done.pending:
        tool = _find_tool(call, tools)
        if call.call_id in done.started and not (tool is not None and tool.may_repeat):
            is_lost_agent = tool is None and call.call_id in done.children
            text = _NO_AGENT.format(call.name) if is_lost_agent else _CUT_OFF
            error = {"type": "interrupted", "message": text}
            context.emit(ToolEnd(call.call_id, "interrupted", {"llm_content": text}, error))
            results.append(write_result(call.call_id, text))
    if results and len(results) == len(done.pending):
        context.emit(TurnEnd(done.turns + 1, done.open_usage, "tool-calls"))
        return results, ResumePoint(turns=done.turns + 1)
    return results, ResumePoint(turns=done.turns, usage=done.open_usage)


async def _end_lost_children(context: RunContext, done: Replay, tools: ToolSnapshot) -> None:
    """End children that no call continues: those of other tools, and of tools that no longer exist."""
    if context.journal is None or not context.journal.is_resumed:
        return
    found = {call.call_id: _find_tool(call, tools) for call in done.pending}
    continued = {call_id for call_id, tool in found.items() if tool is not None and tool.resumable}
    keep = {run_id for call_id, run_id in done.children.items() if call_id in continued}
    await context.journal.close_children(context.run_path, keep)


def _find_tool(call: ToolCall, tools: ToolSnapshot) -> Tool | None:
    return tools.get(call.name) or find_by_near_name(call.name, tools)
