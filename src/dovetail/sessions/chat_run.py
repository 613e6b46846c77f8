"""How an answer is made: an agent's definition, the newest tools, a model, and the loop."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dovetail.agents.definition import AgentDefinition
from dovetail.agents.prepare import AgentHost, build_preface, choose_tools, find_limits
from dovetail.data.template import fill_template
from dovetail.errors import ConfigError, DovetailError
from dovetail.events.call import ChatMessage, write_result
from dovetail.events.context import within
from dovetail.events.run_events import ToolEnd, TurnEnd
from dovetail.loop.budget import Budget, BudgetLimits
from dovetail.loop.limits import ResumePoint
from dovetail.loop.loop import TurnLoop
from dovetail.loop.request_log import StoredMessages
from dovetail.loop.scope import LoopOutcome
from dovetail.policy.bus import MessageBus
from dovetail.policy.mode import choose_mode
from dovetail.policy.rule import Mode
from dovetail.runs.failure import describe_error
from dovetail.runs.run import RunContext, RunOutcome, Work
from dovetail.sessions.request import ChatTurn
from dovetail.skills.injection import find_seen_skills
from dovetail.skills.library import SkillLibrary
from dovetail.tools.pipeline.runner import CallScope
from dovetail.tools.registry import ToolSnapshot


class ChatHost(AgentHost, Protocol):
    """An app with a workspace and skills."""

    @property
    def workspace(self) -> Path: ...

    @property
    def skills(self) -> SkillLibrary: ...


PACE = 0.05
"""Text of a fast model comes in steps of so many seconds: about as often as a page draws it."""
_CUT_OFF = "The server was restarted while this call was under way; whether it had an effect is not known."


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The work of an answer, and what is known of it beforehand."""

    work: Work
    model: str
    generation: int


def plan_answer(host: ChatHost, turn: ChatTurn) -> Plan:
    """Choose agent, tools and model.

    An agent or a model that the caller names and there is not is an error now; that the settings name no
    model is one of the run.
    """
    definition = host.get_agent_registry().get_definition(turn.agent)
    mode = choose_mode(host.settings, turn.mode)
    tools, completion = choose_tools(definition, host.get_tool_registry().snapshot(), ())
    if turn.tab_id is None:  # without a browser its tools can only fail
        tools = ToolSnapshot.of((tool for tool in tools if not tool.needs_tab), tools.generation)
    try:
        requester = host.runtime.requester(turn.model or definition.model_config.model)
    except DovetailError as error:
        if turn.model:
            raise ConfigError(
                f"the model {turn.model!r} cannot be used: {error.message}", hint=error.hint
            ) from error
        return Plan(work=fail_with(error), model="", generation=tools.generation)
    loop = TurnLoop(
        requester=requester,
        tools=tools,
        runner=host.runtime.runner,
        completion=completion,
        window=host.runtime.window(requester),
        options={**definition.model_config.options, **turn.options},
        pace=PACE,
        records_requests=host.runtime.settings.get("runtime.record_requests", True),
        stored=StoredMessages(turn.history[-1].id, turn.messages) if turn.session.id else None,
    )
    answer = _Answer(
        loop,
        definition,
        turn,
        build_preface(host, "conversation", turn.session.created_at, tools, mode),
        host.runtime.active_bus,
        find_limits(definition, host.settings),
        mode,
    )
    return Plan(work=answer.work, model=requester.model, generation=tools.generation)


@dataclass(frozen=True, slots=True)
class _Answer:
    loop: TurnLoop
    definition: AgentDefinition
    turn: ChatTurn
    preface: str
    bus: MessageBus | None
    limits: BudgetLimits
    mode: Mode

    async def work(self, context: RunContext) -> RunOutcome:
        done = context.replay
        if done.messages and not done.pending and done.messages[-1]["role"] == "assistant":
            return RunOutcome(result=done.text)  # it was finished, only its end was not stored
        told, earlier = _tell_interrupted(context, self.loop.tools)
        messages = [
            *self._read_system(),
            *self.turn.messages,
            *done.messages,
            *told,
        ]
        parts = (part for message in self.turn.history for part in message.parts)
        with within(tab_id=self.turn.tab_id, skills=tuple(sorted(find_seen_skills(parts)))):
            outcome = await self.loop.run(
                messages,
                emit=context.emit,
                scope=self._scope(context),
                budget=Budget(self.limits, spent=done.spent),
                cancel=context.cancel,
                earlier=earlier,
            )
        return _to_outcome(outcome)

    def _read_system(self) -> list[ChatMessage]:
        """What is the same for all chats comes first, so that a model need not read it again."""
        prompt = self.definition.prompt_config.system_prompt
        texts = [fill_template(prompt, {"query": self.turn.history[-1].text}), self.preface]
        return [{"role": "system", "content": text} for text in texts if text]

    def _scope(self, context: RunContext) -> CallScope:
        return CallScope(
            session_id=self.turn.session.id or None,
            run_path=context.path,
            agent_path=(self.definition.name,),
            owner=self.turn.owner,
            tab_id=self.turn.tab_id,
            mode=self.mode,
            ask=context.ask if self.turn.can_ask else None,
            answer=context.answer,
            bus=self.bus,
            settle=context.settle,
            is_abandoned=context.is_abandoned,
        )


def _tell_interrupted(context: RunContext, tools: ToolSnapshot) -> tuple[list[ChatMessage], ResumePoint]:
    """End the calls that a crash cut off and that must not be repeated; the others run again."""
    told: list[ChatMessage] = []
    done = context.replay
    for call in done.pending:
        tool = tools.get(call.name)
        if call.call_id in done.started and not (tool is not None and tool.idempotent):
            error = {"type": "interrupted", "message": _CUT_OFF}
            context.emit(ToolEnd(call.call_id, "interrupted", {"llm_content": _CUT_OFF}, error))
            told.append(write_result(call.call_id, _CUT_OFF))
    if told and len(told) == len(done.pending):
        context.emit(TurnEnd(done.turns + 1, done.open_usage, "tool-calls"))
        return told, ResumePoint(turns=done.turns + 1)
    return told, ResumePoint(turns=done.turns, usage=done.open_usage)


def _to_outcome(outcome: LoopOutcome) -> RunOutcome:
    return RunOutcome(
        reason=outcome.reason,
        result=outcome.text if outcome.data is None else outcome.data,
        usage=outcome.usage,
        error=describe_error(outcome.error) if outcome.error else None,
    )


def fail_with(error: DovetailError) -> Work:
    """The work of an answer that cannot be given."""

    async def work(context: RunContext) -> RunOutcome:
        raise error

    return work
