"""Continue the loop of a run where its process left it: for answers of chats and for sub-agents.

Promises: a finished turn is not asked for again, a call that has its result does not run again, and a call
that was cut off runs again only if its tool allows it.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from dovetail.events.call import ChatMessage, write_result
from dovetail.events.run_context import RunContext, ignore_event
from dovetail.events.run_events import ToolEnd, TurnEnd
from dovetail.events.run_result import RunResult
from dovetail.loop.limits import ResumePoint
from dovetail.loop.loop import TurnLoop
from dovetail.loop.replay import Replay
from dovetail.loop.stop import demand_result
from dovetail.tools.snapshot import ToolSnapshot

_CUT_OFF = "The server was restarted while this call was under way; whether it had an effect is not known."


async def resume_loop(
    loop: TurnLoop, messages: Sequence[ChatMessage], context: RunContext, done: Replay
) -> RunResult:
    """Run the loop from `messages` and what the run has `done`, which its budget has counted already."""
    ended = await _find_end(loop, context, done)
    if ended is not None:
        return ended
    results, point = _end_interrupted_calls(context, done, loop.tools)
    asked = [*messages, *done.messages, *results]
    if asked[-1]["role"] == "assistant" and not done.pending and loop.completion is not None:
        asked.append({"role": "user", "content": demand_result("no-completion", loop.completion)})
    return await loop.run(asked, context, point)


async def _find_end(loop: TurnLoop, context: RunContext, done: Replay) -> RunResult | None:
    """Return the result of a run that was finished, but whose end was not stored."""
    if loop.completion is not None:
        data = await read_completion(loop, context, done)
        return None if data is None else _make_end(done, data)
    is_answered = bool(done.messages) and not done.pending and done.messages[-1]["role"] == "assistant"
    return _make_end(done) if is_answered else None


async def read_completion(loop: TurnLoop, context: RunContext, done: Replay) -> Any:
    """Return the result that was handed in, read again from its call: an event holds no large one."""
    call = next((call for call in done.succeeded if call.name == loop.completion), None)
    if call is None:
        return None
    unseen = dataclasses.replace(context, emit=ignore_event, tools=loop.tools)
    return (await loop.runner.run_call(loop.tools, call, unseen)).result.data


def _make_end(done: Replay, data: Any = None) -> RunResult:
    return RunResult(text=done.text, data=data, turns=done.turns, usage=done.spent.usage)


def _end_interrupted_calls(
    context: RunContext, done: Replay, tools: ToolSnapshot
) -> tuple[list[ChatMessage], ResumePoint]:
    """End the calls that a crash cut off and that must not be repeated; the others run again."""
    results: list[ChatMessage] = []
    for call in done.pending:
        tool = tools.get(call.name)
        if call.call_id in done.started and not (tool is not None and tool.idempotent):
            error = {"type": "interrupted", "message": _CUT_OFF}
            context.emit(ToolEnd(call.call_id, "interrupted", {"llm_content": _CUT_OFF}, error))
            results.append(write_result(call.call_id, _CUT_OFF))
    if results and len(results) == len(done.pending):
        context.emit(TurnEnd(done.turns + 1, done.open_usage, "tool-calls"))
        return results, ResumePoint(turns=done.turns + 1)
    return results, ResumePoint(turns=done.turns, usage=done.open_usage)
