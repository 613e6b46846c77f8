"""Every call goes through the same steps and ends in exactly one outcome."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Any

from dovetail.events.call import Kind, ToolCall
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import Entry, Event, ToolEnd, ToolProgress, ToolStart
from dovetail.events.tool_context import ToolContext
from dovetail.policy.policy import Policy
from dovetail.policy.rule import PolicyRule
from dovetail.tools.makers.function import make_tool, tool
from dovetail.tools.pipeline.runner import ToolRunner
from dovetail.tools.snapshot import ToolSnapshot


def make_call(name: str, call_id: str = "call-1", /, **arguments: Any) -> ToolCall:
    return ToolCall(call_id=call_id, name=name, arguments=arguments)


@tool
async def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


async def test_call_returns_its_result_and_emits_two_events() -> None:
    events: list[Event] = []
    [outcome] = await ToolRunner().run_batch(
        ToolSnapshot.of([add]), [make_call("add", a=40)], RunContext(emit=events.append)
    )
    assert (outcome.status, outcome.result.llm_content, outcome.result.data) == ("ok", "42", 42)
    assert events == [
        ToolStart("call-1", "other", "add"),
        ToolEnd("call-1", "ok", {"llm_content": "42", "data": 42}, None, outcome.duration),
    ]


async def test_unknown_tool_is_answered_with_the_nearest_names() -> None:
    [outcome] = await ToolRunner().run_batch(ToolSnapshot.of([add]), [make_call("ad")], RunContext())
    assert outcome.status == "error"
    assert outcome.result.error is not None
    assert outcome.result.error.type == "tool_not_registered"
    assert outcome.result.error.message == "Unknown tool 'ad'. Did you mean 'add'?"


async def test_wrong_arguments_are_reported_and_the_tool_does_not_run() -> None:
    [outcome] = await ToolRunner().run_batch(
        ToolSnapshot.of([add]), [make_call("add", a=[1], b=1)], RunContext()
    )
    assert outcome.status == "error"
    assert outcome.result.error is not None
    assert outcome.result.error.type == "invalid_tool_params"
    assert "a" in outcome.result.error.message


async def test_crash_is_a_failed_result() -> None:
    async def crash() -> None:
        raise ZeroDivisionError("by zero")

    [outcome] = await ToolRunner().run_batch(
        ToolSnapshot.of([make_tool(crash)]), [make_call("crash")], RunContext()
    )
    assert (outcome.status, outcome.result.llm_content) == ("error", "Error: ZeroDivisionError: by zero")


async def test_cancel_ends_every_call_once_and_signals_the_tool() -> None:
    started, told = asyncio.Event(), []
    events: list[Event] = []

    async def wait(context: ToolContext) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            told.append(context.cancelled.is_set())

    scope = RunContext(emit=events.append)
    batch = asyncio.create_task(
        ToolRunner().run_batch(
            ToolSnapshot.of([make_tool(wait), add]),
            [make_call("wait", "one"), make_call("add", "two", a=1)],
            scope,
        )
    )
    await started.wait()
    scope.cancelled.set()
    outcomes = await batch
    assert [(outcome.call.call_id, outcome.status) for outcome in outcomes] == [
        ("one", "interrupted"),
        ("two", "interrupted"),
    ]
    assert told == [True]
    assert [event.call_id for event in events if isinstance(event, ToolEnd)] == ["one", "two"]
    assert [outcome.result.error and outcome.result.error.type for outcome in outcomes] == [
        "interrupted",
        "not_started",
    ]
    assert "Whether it had an effect is not known" in str(outcomes[0].result.llm_content)
    assert "It had no effect." in str(outcomes[1].result.llm_content)


async def test_calls_that_wait_for_an_approval_are_not_started_when_the_run_is_cancelled() -> None:
    asked = asyncio.Event()

    async def ask(*question: Any) -> Mapping[str, Any]:
        asked.set()
        await asyncio.Event().wait()
        return {}

    async def write() -> None:
        raise AssertionError("it was not approved")

    scope = RunContext(ask=ask)
    tools = ToolSnapshot.of([make_tool(write, kind=Kind.Write), add])
    calls = [make_call("write", "one"), make_call("add", "two", a=1)]
    batch = asyncio.create_task(ToolRunner().run_batch(tools, calls, scope))
    await asked.wait()
    scope.cancelled.set()
    errors = [outcome.result.error for outcome in await batch]
    assert [error and error.type for error in errors] == ["not_started", "not_started"]


async def test_a_call_that_is_stopped_before_its_start_is_stored_is_not_started() -> None:
    flushing = asyncio.Event()

    class SlowJournal:
        is_abandoned = is_resumed = False

        async def flush(self) -> None:
            flushing.set()
            await asyncio.Event().wait()

        async def confirm(self) -> None:
            return None

        async def close_children(self, path: tuple[str, ...], keep: Collection[str]) -> None:
            return None

        async def history(self) -> list[Entry]:
            return []

    async def write() -> None:
        raise AssertionError("its start was not stored")

    scope = RunContext(journal=SlowJournal())
    running = asyncio.create_task(
        ToolRunner().run_call(ToolSnapshot.of([make_tool(write)]), make_call("write"), scope)
    )
    await flushing.wait()
    scope.cancelled.set()
    outcome = await running
    assert (outcome.status, outcome.result.error and outcome.result.error.type) == (
        "interrupted",
        "not_started",
    )


async def test_cancelled_task_still_ends_every_call() -> None:
    started = asyncio.Event()
    events: list[Event] = []

    async def wait() -> None:
        started.set()
        await asyncio.Event().wait()

    batch = asyncio.create_task(
        ToolRunner().run_batch(
            ToolSnapshot.of([make_tool(wait)]), [make_call("wait")], RunContext(emit=events.append)
        )
    )
    await started.wait()
    batch.cancel()
    await asyncio.wait([batch])
    assert batch.cancelled()
    assert [event.status for event in events if isinstance(event, ToolEnd)] == ["interrupted"]


async def test_reading_calls_run_in_parallel_and_others_in_order() -> None:
    log: list[str] = []
    both = asyncio.Barrier(2)

    @tool(kind=Kind.Read)
    async def read(name: str) -> None:
        await both.wait()
        log.append(name)

    @tool
    async def work(name: str) -> None:
        log.append(f"begin {name}")
        await asyncio.sleep(0)
        log.append(f"end {name}")

    tools = ToolSnapshot.of([read, work])
    runner = ToolRunner()
    calls = [make_call("read", "1", name="a"), make_call("read", "2", name="b")]
    outcomes = await runner.run_batch(tools, calls, RunContext())
    assert [outcome.status for outcome in outcomes] == ["ok", "ok"]
    log.clear()
    await runner.run_batch(
        tools, [make_call("work", "1", name="a"), make_call("work", "2", name="b")], RunContext()
    )
    assert log == ["begin a", "end a", "begin b", "end b"]


async def test_ask_without_anyone_to_ask_is_a_denial() -> None:
    @tool(kind=Kind.Delete)
    def wipe() -> None: ...

    [outcome] = await ToolRunner().run_batch(ToolSnapshot.of([wipe]), [make_call("wipe")], RunContext())
    assert outcome.status == "denied"
    assert "no approver is available" in str(outcome.result.llm_content)


async def test_all_approvals_are_settled_before_any_call_runs() -> None:
    log: list[str] = []
    asked: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
    both_asked = asyncio.Event()

    @tool(kind=Kind.Write)
    async def write(name: str) -> str:
        log.append(name)
        return name

    async def ask(
        kind: str, call_id: str, payload: Mapping[str, Any], seconds: float | None
    ) -> Mapping[str, Any]:
        asked[call_id] = asyncio.get_running_loop().create_future()
        if len(asked) == 2:
            both_asked.set()
        return await asked[call_id]

    batch = asyncio.create_task(
        ToolRunner().run_batch(
            ToolSnapshot.of([write]),
            [make_call("write", "1", name="a"), make_call("write", "2", name="b")],
            RunContext(ask=ask),
        )
    )
    await both_asked.wait()
    asked["2"].set_result({"approved": True, "edited_args": {"name": "c"}})
    await asyncio.sleep(0)
    assert log == []
    asked["1"].set_result({"approved": False, "value": "not today"})
    outcomes = await batch
    assert [outcome.status for outcome in outcomes] == ["denied", "ok"]
    assert "not today" in str(outcomes[0].result.llm_content)
    assert outcomes[1].result.data == "c"


async def test_time_limit_ends_a_call_that_never_returns() -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    [outcome] = await ToolRunner().run_batch(
        ToolSnapshot.of([make_tool(hang, time_limit=0.01)]), [make_call("hang")], RunContext()
    )
    assert outcome.status == "timeout"
    assert "0.01 s" in str(outcome.result.llm_content)


async def test_progress_of_a_sync_generator_is_shown_and_summed_up() -> None:
    events: list[Event] = []

    def count() -> Any:
        yield "one "
        yield "two"

    [outcome] = await ToolRunner().run_batch(
        ToolSnapshot.of([make_tool(count)]), [make_call("count")], RunContext(emit=events.append)
    )
    assert outcome.result.data == "one two"
    assert [event.output for event in events if isinstance(event, ToolProgress)] == ["one ", "two"]


async def test_denied_call_is_reported_with_the_reason_of_the_rule() -> None:
    policy = Policy([PolicyRule(action="deny", tool="add", reason="no sums on Sundays")])
    [outcome] = await ToolRunner(policy).run_batch(
        ToolSnapshot.of([add]), [make_call("add", a=1)], RunContext()
    )
    assert (outcome.status, outcome.result.llm_content) == (
        "denied",
        "Error: 'add' is not allowed: no sums on Sundays",
    )
