"""Whatever happens, and in whatever order: every call of a batch ends exactly once."""

import asyncio
from collections.abc import Mapping
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dovetail.events.call import Kind, ToolCall
from dovetail.events.cancel import CancelSignal
from dovetail.events.run_events import Event, ToolEnd, ToolStart
from dovetail.tools import CallOutcome, RunContext, Tool, ToolContext, ToolRunner, ToolSnapshot

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": False}
ANSWERS: list[Mapping[str, Any]] = [
    {"approved": True},
    {"approved": False, "value": "no"},
    {"approved": True, "edited_args": {"text": "edited"}},
    {"approved": True, "edited_args": {"wrong": 1}},
    {"approved": True, "remember": "run"},
    {"status": "timeout"},
    {},
]


class SteppedLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock moves only on request."""

    now = 0.0

    def time(self) -> float:
        return self.now

    def step(self, rounds: int = 30) -> None:
        for _ in range(rounds):
            self.run_until_complete(asyncio.sleep(0))


class Batch(RuleBasedStateMachine):
    """One batch at a time, with tools that end, crash, hang or do not listen, as the machine decides."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = SteppedLoop()
        self.runner = ToolRunner()
        self.tools = ToolSnapshot.of(
            [
                self.make_tool("read", Kind.Read),
                self.make_tool("other", Kind.Other),
                self.make_tool("write", Kind.Write),
                self.make_tool("deaf", Kind.Read),
            ]
        )
        self.task: asyncio.Task[list[CallOutcome]] | None = None
        self.calls: list[ToolCall] = []
        self.number = 0
        self.gates: list[asyncio.Future[str]] = []

    def make_tool(self, name: str, kind: Kind) -> Tool:
        async def execute(args: dict[str, Any], context: ToolContext) -> str:
            self.at_work[context.call_id] = gate = self.loop.create_future()
            self.gates.append(gate)
            self.ever_at_work.append(context.call_id)
            assert not any(not future.done() for future in self.asks.values()), "ran before all approvals"
            try:
                while True:
                    try:
                        return await asyncio.shield(gate)
                    except asyncio.CancelledError:
                        if name != "deaf":
                            raise
            finally:
                self.at_work.pop(context.call_id, None)

        return Tool(name=name, description="", parameters=SCHEMA, execute=execute, kind=kind, time_limit=10)

    async def ask(
        self, kind: str, call_id: str, payload: Mapping[str, Any], seconds: float | None
    ) -> Mapping[str, Any]:
        self.asks[call_id] = self.loop.create_future()
        return await self.asks[call_id]

    @precondition(lambda self: self.task is None)
    @rule(
        names=st.lists(st.sampled_from(["read", "other", "write", "deaf", "unknown"]), min_size=1, max_size=5)
    )
    def begin(self, names: list[str]) -> None:
        self.number += 1
        self.events: list[Event] = []
        self.asks: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self.at_work: dict[str, asyncio.Future[str]] = {}
        self.ever_at_work: list[str] = []
        self.calls = [
            ToolCall(call_id=f"{self.number}-{index}", name=name, arguments={"text": name})
            for index, name in enumerate(names)
        ]
        self.cancelled = asyncio.Event()
        scope = RunContext(
            ask=self.ask,
            emit=self.events.append,
            cancel=CancelSignal(self.cancelled),
            run_path=(f"run-{self.number}",),
        )
        self.task = self.loop.create_task(self.runner.run_batch(self.tools, self.calls, scope))
        self.loop.step()

    @precondition(lambda self: self.task is not None and any(not f.done() for f in self.asks.values()))
    @rule(data=st.data(), answer=st.sampled_from(ANSWERS))
    def answer_one(self, data: st.DataObject, answer: Mapping[str, Any]) -> None:
        call_id = data.draw(st.sampled_from([key for key, future in self.asks.items() if not future.done()]))
        self.asks[call_id].set_result(answer)
        self.loop.step()

    @precondition(lambda self: self.task is not None and self.at_work)
    @rule(data=st.data(), fails=st.booleans())
    def end_one(self, data: st.DataObject, fails: bool) -> None:
        gate = self.at_work[data.draw(st.sampled_from(list(self.at_work)))]
        if fails:
            gate.set_exception(ValueError("crashed"))
        else:
            gate.set_result("done")
        self.loop.step()

    @precondition(lambda self: self.task is not None)
    @rule()
    def cancel_the_run(self) -> None:
        self.cancelled.set()
        self.loop.step()

    @precondition(lambda self: self.task is not None)
    @rule()
    def cancel_the_task(self) -> None:
        assert self.task is not None
        self.task.cancel()
        self.loop.step()

    @rule(seconds=st.sampled_from([1.0, 3.0, 11.0]))
    def let_time_pass(self, seconds: float) -> None:
        self.loop.now += seconds
        self.loop.step()

    @invariant()
    def no_call_ends_twice(self) -> None:
        if self.calls:
            ended = [event.call_id for event in self.events if isinstance(event, ToolEnd)]
            assert len(ended) == len(set(ended))

    @invariant()
    def ended_batch_has_one_end_for_each_call(self) -> None:
        if self.task is None or not self.task.done():
            return
        ends = {event.call_id: event for event in self.events if isinstance(event, ToolEnd)}
        assert sorted(ends) == sorted(call.call_id for call in self.calls)
        started = [event.call_id for event in self.events if isinstance(event, ToolStart)]
        assert set(self.ever_at_work) <= set(started)
        assert all(ends[call_id].status != "denied" for call_id in started)
        if not self.task.cancelled():
            outcomes = self.task.result()
            assert [outcome.call for outcome in outcomes] == self.calls
            assert [outcome.status for outcome in outcomes] == [ends[c.call_id].status for c in self.calls]
        self.task = None

    def teardown(self) -> None:
        if self.task is not None:
            self.cancelled.set()
            self.loop.step()
            self.loop.now += 100
            self.loop.step()
            assert self.task.done(), "the batch did not end"
            self.ended_batch_has_one_end_for_each_call()
        for gate in self.gates:
            if not gate.done():
                gate.set_result("late")
        self.loop.step()
        self.loop.close()


TestBatch = Batch.TestCase
TestBatch.settings = settings(max_examples=60, stateful_step_count=20)
