"""One answer of a chat as a run: `begin` stores the question, `work` runs the agent, `end` stores the answer.

Promises: the user's message is stored before its answer begins; whatever the run said or did is stored as one
message together with the run's end, also when it failed or was cancelled.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

from dovetail.agents.background import offer_background, restrict_tools
from dovetail.agents.definition import AgentDefinition, RunConfig
from dovetail.agents.prepare import (
    AgentHost,
    build_messages,
    build_preface,
    choose_model,
    find_days,
    find_limits,
    prepare_loop,
)
from dovetail.agents.setup import RunSetup, find_requester, report_changes
from dovetail.concurrency import compute
from dovetail.data.template import fill_template
from dovetail.errors import ConfigError, DovetailError
from dovetail.events.background import Background
from dovetail.events.call import ChatMessage
from dovetail.events.delta import Usage
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import Entry, TurnEnd
from dovetail.events.run_result import RunResult
from dovetail.ids import new_id
from dovetail.loop.budget import Budget, BudgetLimits
from dovetail.loop.loop import TurnLoop
from dovetail.loop.replay import Replay, replay
from dovetail.loop.request_log import StoredMessages
from dovetail.loop.resume import resume_loop
from dovetail.loop.spend import Days
from dovetail.loop.tree import read_rest, share_account
from dovetail.policy.bus import MessageBus
from dovetail.policy.mode import choose_mode
from dovetail.policy.rule import Mode
from dovetail.requesters.requester import Requester
from dovetail.runs.run import RunSpec, RunWork
from dovetail.sessions.chunks import CUT_REASONS
from dovetail.sessions.message import Message, make_title, walk_parts
from dovetail.sessions.notice import write_notice
from dovetail.sessions.options import add_instructions, read_parameters
from dovetail.sessions.parts import fold_parts
from dovetail.sessions.request import ChatTurn
from dovetail.sessions.rows import check_turn, store_answer, store_notice, store_question
from dovetail.skills.injection import find_seen_skills
from dovetail.skills.library import SkillLibrary
from dovetail.store.database import SaveWork, Transaction
from dovetail.tools.snapshot import ToolSnapshot


class ChatHost(AgentHost, Protocol):
    """An app with a workspace, a project in it, and skills."""

    @property
    def workspace(self) -> Path: ...

    @property
    def project(self) -> Path: ...

    @property
    def skills(self) -> SkillLibrary: ...


TEXT_INTERVAL = 0.05
"""Seconds between steps of text from a fast model: about as often as a page draws it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAgent:
    """The agent of an answer, ready to run: its loop, its first messages and its limits.

    An answer that is made again after a restart begins as it was `kept`.
    """

    definition: AgentDefinition
    loop: TurnLoop
    system: Sequence[ChatMessage]
    limits: BudgetLimits
    days: Days
    mode: Mode
    bus: MessageBus | None
    kept: RunSetup | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRun(RunWork):
    """The answer to one message.

    `agent` is the error if the agent could not be prepared: the run then fails with it. `question` is the
    user's new message, if any; an answer that is made again has none. `also` is stored in the same
    transaction. A run that is `at_head` continues after the head that was read; one that `is_next` answers
    the message that has waited longest.
    """

    turn: ChatTurn
    spec: RunSpec
    agent: ChatAgent | DovetailError
    question: Message | None = None
    tasks: Background | None = None
    also: SaveWork | None = None
    at_head: bool = False
    is_next: bool = False

    @classmethod
    def prepare(
        cls,
        host: ChatHost,
        turn: ChatTurn,
        question: Message | None = None,
        *,
        tasks: Background | None = None,
        kept: RunSetup | None = None,
    ) -> Self:
        """Choose agent, tools and model of an answer; `tasks` are those in the background of its session.

        What an answer that is made again has `kept` stays as it is.
        Raise now if the caller names an unknown agent or model; if no model is configured, fail the run.
        """
        definition = host.get_agent_registry().get_definition(turn.agent)
        definition = definition if kept is None else kept.adapt(definition)
        mode = choose_mode(host.settings, turn.chosen_mode)
        try:
            requester = _find_requester(host, turn, definition, kept)
        except DovetailError as error:
            if turn.chosen_model:
                raise ConfigError(
                    f"Cannot use model {turn.chosen_model!r}: {error.message}", hint=error.hint
                ) from error
            tools = host.get_tool_registry().snapshot()
            spec = _make_spec(turn, definition.run_config, "", tools)
            return cls(turn=turn, spec=spec, agent=error, question=question)
        limits, days = find_limits(definition, host.settings), find_days(host, definition, turn.owner)
        if turn.limits is not None:
            rest, above = read_rest(turn.limits)
            limits, days = limits.lowered(rest), replace(days, accounts=(*days.accounts, *above))
        loop = prepare_loop(
            host,
            definition,
            requester=requester,
            has_tab=turn.tab_id is not None,
            options={**read_parameters(turn.options), **turn.parameters},
            pace=TEXT_INTERVAL,
            equip=partial(_equip, host, turn, definition, limits.depth > 0 if tasks else None, kept),
            stored=StoredMessages(turn.history[-1].id, turn.messages) if turn.is_stored else None,
        )
        agent = ChatAgent(
            definition=definition,
            loop=loop,
            system=_write_system(host, turn, definition, loop.tools, mode) if kept is None else kept.messages,
            limits=limits,
            days=days,
            mode=mode,
            bus=host.runtime.active_bus,
            kept=kept,
        )
        setup = RunSetup.of(loop, definition, agent.system)
        spec = _make_spec(turn, definition.run_config, requester.model, loop.tools, setup)
        return cls(turn=turn, spec=spec, agent=agent, question=question, tasks=tasks)

    @classmethod
    def prepare_accepted(
        cls, host: ChatHost, turn: ChatTurn, question: Message, *, tasks: Background | None = None
    ) -> Self:
        """Prepare the answer to a message that was accepted before; if its agent is gone, fail the run."""
        try:
            return cls.prepare(host, turn, question, tasks=tasks)
        except DovetailError as error:
            spec = _make_spec(turn, RunConfig(), "", host.get_tool_registry().snapshot())
            return cls(turn=turn, spec=spec, agent=error, question=question, tasks=tasks)

    @classmethod
    def resume(
        cls, host: ChatHost, turn: ChatTurn, spec: RunSpec, *, tasks: Background | None = None
    ) -> Self:
        """Prepare an answer again after a crash, as it began.

        If its agent is gone, what was said so far is kept.
        """
        kept = RunSetup.read(spec.input.get("setup"))
        try:
            agent = cls.prepare(host, turn, tasks=tasks, kept=kept).agent
        except DovetailError as error:
            agent = error
        return cls(turn=turn, spec=spec, agent=agent, tasks=tasks)

    def begin(self, transaction: Transaction) -> None:
        """Store the question, and its session if that is new; raise if it is not its turn."""
        session = self.turn.session
        if self.turn.is_stored and session.version:
            check_turn(transaction, session, at_head=self.at_head, is_next=self.is_next)
        if self.also is not None:
            self.also(transaction)
        if self.question is not None:
            title = session.title or make_title(self.question.text)
            store_question(transaction, session, self.question, title)

    async def work(self, context: RunContext) -> RunResult:
        """Run the agent's loop from where it stopped."""
        agent = self.agent
        if isinstance(agent, DovetailError):
            raise agent
        entries = await context.history()
        done, days = replay(entries, context.run_path), agent.days
        if context.journal is not None and context.journal.is_resumed:
            await days.book.release(run_id=context.run_path[0])
        if self.tasks is not None:
            began = entries[0].time if entries else time.time()
            days = share_account(days, context.run_path[0], agent.limits, began)
        if self.tasks is not None and (done.turns or done.pending):  # the journal does not hold its tasks
            done = _count_tasks(done, await self.tasks.count(context.run_path[0]))
        messages = [*agent.system, *self.turn.messages]
        notice = report_changes(agent.kept, agent.loop, context.run_id)
        return await resume_loop(
            agent.loop,
            messages,
            self._extend(context, agent, Budget(agent.limits, spent=done.spent, days=days)),
            done,
            notice,
        )

    async def end(self, context: RunContext, result: RunResult) -> SaveWork | None:
        """Return how to store what the run has said and done: as the answer's message.

        The session above that of a task in the background gets a notice.
        """
        if not self.turn.is_stored:
            return None
        spec = self.spec
        entries = await context.history()
        turns = [entry.event for entry in entries if isinstance(entry.event, TurnEnd)]
        usage = sum((turn.usage for turn in turns), Usage())
        metadata: dict[str, Any] = {
            "run_id": context.run_id,
            "agent": spec.agent,
            "model": spec.model,
            "reason": result.reason,
            "usage": asdict(usage),
            "duration": max(time.time() - entries[0].time, 0.0),
        }
        metadata |= {
            name: value for name in ("limit", "notice") if (value := getattr(result, name)) is not None
        }
        if result.reason == "goal" and turns and turns[-1].finish_reason in CUT_REASONS:
            metadata["cut"] = turns[-1].finish_reason
        if result.error is not None:
            metadata["error"] = dict(result.error)
        message = Message(
            id=spec.message_id or new_id("msg"),
            parent_id=spec.input["parent_id"],
            role="assistant",
            parts=await compute(lambda: fold_parts(entries), len(entries)),
            content=(await compute(lambda: _replay_answer(entries, context), len(entries))).messages,
            metadata=metadata,
            created_at=entries[0].time,
        )
        definition = self.agent.definition if isinstance(self.agent, ChatAgent) else None
        session = self.turn.session
        notice = write_notice(session, definition, result) if session.is_task else None

        def save(transaction: Transaction) -> None:
            store_answer(transaction, spec.session_id or "", spec.owner, message, usage)
            if notice is not None:
                store_notice(transaction, session, context.run_id or "", notice)

        return save

    def _extend(self, context: RunContext, agent: ChatAgent, budget: Budget) -> RunContext:
        """Add what the chat knows to the context of its run."""
        return replace(
            context,
            session_id=self.turn.session.id or None,
            agent_path=(*self.turn.session.callers, agent.definition.name),
            owner=self.turn.owner,
            tab_id=self.turn.tab_id,
            skills=tuple(sorted(find_seen_skills(walk_parts(self.turn.history)))),
            mode=agent.mode,
            time_zone=self.turn.options.get("time_zone"),
            ask=context.ask if self.turn.can_ask else None,
            bus=agent.bus,
            budget=budget,
            background=self.tasks,
        )


def _find_requester(
    host: ChatHost, turn: ChatTurn, definition: AgentDefinition, kept: RunSetup | None
) -> Requester:
    """Return the model of an answer; a task in the background may inherit that of its caller."""
    inherited = turn.session.grant.get("model")
    if inherited and not turn.chosen_model and kept is None:
        with suppress(DovetailError):  # an object in code has no name by which to find it again
            return host.runtime.requester(inherited)
    return find_requester(host.runtime, turn.chosen_model or choose_model(definition, None), kept)


def _write_system(
    host: ChatHost, turn: ChatTurn, definition: AgentDefinition, tools: ToolSnapshot, mode: Mode
) -> Sequence[ChatMessage]:
    """Return the system messages; the part that all chats share comes first, to be cached."""
    what = "conversation" if turn.inputs is None else "task"
    zone = turn.options.get("time_zone")
    preface = build_preface(host, what, turn.session.created_at, tools, mode, zone)
    preface = add_instructions(preface, turn.options)
    if turn.inputs is not None:
        return build_messages(definition, turn.inputs, preface=preface)[:-1]
    prompt = definition.prompt_config.system_prompt
    texts = [fill_template(prompt, {"query": turn.history[-1].text}), preface]
    return [{"role": "system", "content": text} for text in texts if text]


def _replay_answer(entries: Sequence[Entry], context: RunContext) -> Replay:
    """Return what the model has said and read, whole or not, for the next request."""
    return replay(entries, context.run_path, keep_partial=True)


def _equip(
    host: ChatHost,
    turn: ChatTurn,
    definition: AgentDefinition,
    can_start: bool | None,
    kept: RunSetup | None,
    tools: ToolSnapshot,
) -> ToolSnapshot:
    """Return the tools within the rights of the session; `can_start` is None without a background."""
    names = turn.session.grant.get("tools")
    if names is not None:
        tools = restrict_tools(tools, definition, set(names))
    if can_start is not None:
        tools = offer_background(tools, host, can_start=can_start, has_tasks=turn.session.has_children)
    return tools if kept is None else kept.select(tools)


def _count_tasks(done: Replay, count: int) -> Replay:
    spent = replace(
        done.spent, children=done.spent.children + count, descendants=done.spent.descendants + count
    )
    return replace(done, spent=spent)


def _make_spec(
    turn: ChatTurn, config: RunConfig, model: str, tools: ToolSnapshot, setup: RunSetup | None = None
) -> RunSpec:
    """Return the stored part of a run; `input` is all that is needed to prepare the answer again."""
    if not turn.is_stored:
        return RunSpec(agent=turn.agent, model=model, generation=tools.generation, owner=turn.owner)
    return RunSpec(
        agent=turn.agent,
        model=model,
        generation=tools.generation,
        owner=turn.owner,
        session_id=turn.session.id,
        message_id=new_id("msg"),
        input={
            "parent_id": turn.history[-1].id,
            "model": turn.model,
            "tab_id": turn.tab_id,
            "mode": turn.mode,
            **({} if turn.limits is None else {"limits": dict(turn.limits)}),
            **({"options": dict(turn.options)} if turn.options else {}),
            **({} if setup is None else {"setup": setup.to_dict()}),
        },
        queue=config.queue,
        priority=config.priority,
    )
