"""How a request of an agent uses tools: the strategies of the loop that the setting `tools.strategy` names.

`native` hands the deltas of all turns on to the response as one answer. `judge` puts the results of its calls
into the prompt, before the request that answers (rules A40 to A66). Both keep a log of each call (rule A70).
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dovetail.agent.request import SPENT, TOOL_EVENTS
from dovetail.agent.runtime import Runtime
from dovetail.data.visible import show_in_json
from dovetail.errors import ConfigError
from dovetail.events.call import ModelRequest, ToolCall
from dovetail.events.delta import FinishDelta, Usage
from dovetail.events.run_context import RunContext
from dovetail.ids import new_id
from dovetail.loop.judged import Choices, NoPlan, Plan, confirm_plan, end_plan, open_plan, read_plan
from dovetail.loop.tokens import fits
from dovetail.loop.turn import ToolStrategy, Turn
from dovetail.prompt.prompt import Prompt
from dovetail.requesters.requester import Requester
from dovetail.requesters.warn import warn_of_tools
from dovetail.response.log import Log, LogEntry
from dovetail.response.response import Response
from dovetail.response.result import warn_of_calls
from dovetail.schema.json_data import to_json_data
from dovetail.settings import Settings
from dovetail.settings.sections import RuntimeSettings, ToolSettings
from dovetail.tools.result import read_value
from dovetail.tools.snapshot import ToolSnapshot
from dovetail.tools.tool import CallOutcome

TOPIC = "TOOL"
NOTICE = (
    "NOTICE: Where the answer builds on {action_results}, quote the key information from there, or name its "
    "source: a URL where there is one."
)
_USUAL_WINDOW = 128_000  # tokens, for models that do not say how many they can read
_ANY_SIZE = 2**63


@dataclass(frozen=True, slots=True)
class RequestTools:
    """The tools of one request, which the rules of the policy know by the name of the agent."""

    agent: str
    runtime: Runtime
    requester: Requester
    settings: Settings
    tools: ToolSnapshot

    async def stream(
        self, request: ModelRequest, result_data: dict[str, Any]
    ) -> AsyncGenerator[LogEntry, None]:
        """Stream the deltas of all turns as one answer, with a `tool` event for each call."""
        entries: Log[LogEntry] = Log()
        calling = asyncio.create_task(self._call(request, entries, result_data))
        try:
            async for entry in entries.read():
                yield entry
            await calling
        finally:
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)  # its error was raised above

    async def judge(self, prompt: Prompt) -> None:
        """Ask whether a tool is needed and run it, round after round; `prompt` gets the results."""
        if not getattr(self.requester, "chooses_tools", True):
            warn_of_tools(self.requester.model)
        judging = Judging(self, prompt, self.tools)
        context = replace(self._make_context(), largest_result=_ANY_SIZE)
        try:
            loop = self.runtime.make_loop(self.requester, self.tools, strategy=judging)
            outcome = await loop.answer((), context, self.settings.section(ToolSettings).max_rounds)
        finally:
            judging.close()
        if outcome.exception is not None:
            raise outcome.exception

    async def _call(self, request: ModelRequest, entries: Log[LogEntry], result_data: dict[str, Any]) -> None:
        calls = NativeCalls(self, entries, result_data)
        try:
            loop = self.runtime.make_loop(
                self.requester, self.tools, strategy=calls, schema=request.schema, options=request.options
            )
            rounds = self.settings.section(ToolSettings).max_rounds
            outcome = await loop.answer(request.messages, self._make_context(), rounds)
            if outcome.exception is not None:
                raise outcome.exception
            entries.append(replace(calls.finish, usage=outcome.usage))
        finally:
            entries.end()

    def _make_context(self) -> RunContext:
        return RunContext(agent_path=(self.agent,), bus=self.runtime.active_bus)


@dataclass(slots=True)
class NativeCalls(ToolStrategy):
    """The model calls functions; what it says goes to the response at once, its calls are kept back."""

    request_tools: RequestTools
    entries: Log[LogEntry]
    result_data: dict[str, Any]
    finish: FinishDelta = field(default_factory=FinishDelta)

    async def read_turn(self, turn: Turn, requester: Requester, request: ModelRequest) -> None:
        """Read the answer and hand it on; one that must not call anything ends with its text."""
        turn.hand_on = self.entries.append
        unfinished = turn.finish
        deltas = requester.stream(replace(request, model=requester.model))
        await turn.read_answer(requester, deltas, request.sizes)
        self.finish = FinishDelta() if turn.finish is unfinished else turn.finish
        if request.tool_choice == "none" and turn.calls:
            warn_of_calls(turn.calls)
            turn.calls.clear()

    async def take_outcomes(self, outcomes: Sequence[CallOutcome]) -> None:
        """Log each call, and send its `tool` event."""
        for outcome in outcomes:
            log = write_log(outcome)
            publish_log(log, self.result_data, self.request_tools.runtime, self.request_tools.settings)
            self.entries.append(("tool", log))


@dataclass(slots=True)
class Judging(ToolStrategy):
    """Each turn is a judging request, which knows nothing of the conversation (rule A41)."""

    request_tools: RequestTools
    prompt: Prompt
    tools: ToolSnapshot
    so_far: dict[str, Any] = field(default_factory=dict[str, Any])
    """The results as the model got them, by purpose."""
    _plan: Plan | None = None
    _response: Response[Any] | None = None

    async def read_turn(self, turn: Turn, requester: Requester, request: ModelRequest) -> None:
        """Judge; a plan becomes the call of the turn as soon as it is certain."""
        if request.tool_choice == "none":
            return  # the answer is a request of its own
        manager, settings = self.request_tools.runtime.manager, self.request_tools.settings
        choices = Choices.make(requester, self.tools, [manager.describe(tool) for tool in self.tools])
        self._response = open_plan(self.prompt, settings, requester, choices, self.so_far)
        plan = await read_plan(self._response, choices)
        if not self.so_far:  # a later round judges what is still missing, which the input does not say
            plan = await confirm_plan(plan, self.prompt, requester, self.tools)
        if isinstance(plan, NoPlan):
            if plan.problem:
                settings.append(TOOL_EVENTS, ("warning", f"No tool is used: {plan.problem}."))
            return
        self._plan = plan
        turn.calls.append(ToolCall(call_id=new_id("call"), name=plan.tool_name, arguments=plan.tool_kwargs))

    async def take_outcomes(self, outcomes: Sequence[CallOutcome]) -> None:
        """Put what the call returned into the prompt."""
        plan, response, settings = self._plan, self._response, self.request_tools.settings
        if plan is None or response is None:
            return
        for outcome in outcomes:
            log = write_log(outcome, plan.purpose)
            shown = await self._fit(log["result"], outcome)
            self.so_far[plan.purpose] = shown
            self.prompt.set("action_results", {plan.purpose: shown})
            self.prompt.set("extra_instruction", NOTICE)
            settings.append(TOOL_EVENTS, ("tool", log))
        settings.set(SPENT, settings.get(SPENT, Usage()) + await end_plan(response))
        self.close()

    def close(self) -> None:
        """Stop the judging request, if it is still in progress."""
        if self._response is not None:
            self._response.cancel()

    async def _fit(self, value: Any, outcome: CallOutcome) -> Any:
        """Return the whole value if the model can read it, otherwise its beginning and how to read more."""
        runtime = self.request_tools.runtime
        window = runtime.window(self.request_tools.requester, self.request_tools.settings) or _USUAL_WINDOW
        try:
            is_small = fits([to_json_data({"prompt": self.prompt.get(), "result": value})], window)
        except (ConfigError, ValueError):  # it holds itself, or a number too long to be printed
            return outcome.result.llm_content
        if is_small:
            return value
        kept = await runtime.runner.keep(outcome.result, RunContext())
        self.tools = ToolSnapshot.of(dict.fromkeys([*self.tools, runtime.runner.reader]))
        return kept.llm_content


def write_log(outcome: CallOutcome, purpose: str | None = None) -> dict[str, Any]:
    """Return the log of a call: `name` (also as `tool_name`), `kwargs`, `purpose`, `result` or the error."""
    error = outcome.result.error
    return {
        "name": outcome.call.name,
        "tool_name": outcome.call.name,
        "kwargs": outcome.call.shown_arguments,
        "purpose": purpose or f"use {outcome.call.name}",
        "result": read_value(outcome.result) if error is None else error.message,
    }


def publish_log(
    log: dict[str, Any], result_data: dict[str, Any], runtime: Runtime, settings: Settings
) -> None:
    """Add the log to the result, publish it on the bus and, if enabled in the settings, print it."""
    result_data.setdefault("extra", {}).setdefault("tool_logs", []).append(log)
    runtime.bus.publish(TOPIC, log)
    if settings.section(RuntimeSettings).show_tool_logs:
        sys.stderr.write(f"[{TOPIC}] {show_in_json(_write(log))}\n")


def _write(log: dict[str, Any]) -> str:
    try:
        return json.dumps(to_json_data(log), ensure_ascii=False, indent=2, default=str)
    except (ConfigError, ValueError):  # the result holds itself, or a number too long to be printed
        return _write({**log, "result": f"a {type(log['result']).__name__} that cannot be shown as JSON"})
