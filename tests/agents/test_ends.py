"""Every way a run of an agent can end, each with one `run-end` that says so."""

import asyncio
from typing import Any

import pytest

from agent_host import Host, call, make_tool, results
from dovetail.agents.definition import AgentDefinition, OutputConfig, RunConfig, ToolConfig
from dovetail.agents.run import AgentExecutor
from dovetail.events.run_events import ChildEvent, Event, RunEnd, RunStart
from dovetail.events.run_result import RunResult
from dovetail.events.tool_context import ToolContext
from dovetail.tools.tool import Tool, ToolResult
from leap import Leap, leap

HANDS_IN = OutputConfig(output_name="report")
HANDED = call("complete_task", '{"report": "37 cuts"}', "c9")
STALLS: list[Any] = ["Half an ", Leap()]


async def run(host: Host, **fields: Any) -> tuple[RunResult, list[Event]]:
    events: list[Event] = []
    definition = AgentDefinition(name="a", description="a", **fields)
    output = await (await AgentExecutor.create(definition, host, events.append)).run({"query": "go"})
    assert isinstance(events[0], RunStart)
    assert [event for event in events if isinstance(event, RunEnd)] == [events[-1]]
    return output, events


@pytest.mark.parametrize(
    ("replies", "fields", "reason", "limit", "result"),
    [
        (["Done."], {}, "goal", None, "Done."),
        ([HANDED], {"output_config": HANDS_IN}, "goal", None, "37 cuts"),
        ([call("look"), "My best."], {"run_config": RunConfig(max_turns=1)}, "goal", "max-turns", "My best."),
        ([call("look"), ""], {"run_config": RunConfig(max_turns=1)}, "max-turns", None, ""),
        (
            [STALLS, "All of it."],
            {"run_config": RunConfig(max_seconds=60)},
            "goal",
            "timeout",
            "All of it.",
        ),
        ([STALLS, ""], {"run_config": RunConfig(max_seconds=60)}, "timeout", None, "Half an "),
        ([*["I am done."] * 5, HANDED], {"output_config": HANDS_IN}, "goal", "no-completion", "37 cuts"),
        ([*["I am done."] * 5, "Really."], {"output_config": HANDS_IN}, "no-completion", None, "Really."),
        (["", ""], {}, "no-completion", None, ""),
        ([{"status": 401, "body": "no key"}], {}, "error", None, ""),
    ],
    ids=[
        "goal",
        "handed in",
        "turn limit, rescued",
        "turn limit",
        "time limit, rescued",
        "time limit",
        "no completion, rescued",
        "no completion",
        "empty twice",
        "error",
    ],
)
async def test_every_end_is_reported(
    replies: list[Any], fields: dict[str, Any], reason: str, limit: str | None, result: str
) -> None:
    replies = [*replies, *([""] if reason == "no-completion" and result == "" else [])]
    output, events = await run(Host(replies, make_tool("look")), **fields)
    assert (output.reason, output.limit, output.result) == (reason, limit, result)
    ended = events[-1]
    assert isinstance(ended, RunEnd)
    assert ended.reason == reason
    assert (output.error is not None) == (reason == "error")


async def test_token_limit_ends_with_a_grace_turn() -> None:
    dear = {**call("look"), "usage": {"input_tokens": 900, "output_tokens": 200}}
    output, _ = await run(Host([dear, "Enough."], make_tool("look")), run_config=RunConfig(max_tokens=1_000))
    assert (output.reason, output.limit, output.usage.input_tokens) == ("goal", "max-tokens", 900)


def make_endless_tool(begun: asyncio.Event) -> Tool:
    async def wait_for_ever(args: dict[str, Any], context: ToolContext) -> ToolResult:
        begun.set()
        await asyncio.Event().wait()
        return ToolResult("never")

    return Tool(name="wait", description="waits", parameters={"type": "object"}, execute=wait_for_ever)


async def test_signal_cancels_the_run_and_its_running_call() -> None:
    signal = asyncio.Event()
    tool = make_endless_tool(signal)
    events: list[Event] = []
    definition = AgentDefinition(name="a", description="a")
    executor = await AgentExecutor.create(definition, Host([call("wait")], tool), events.append)
    output = await executor.run({"query": "go"}, signal)
    assert output.reason == "cancelled"
    assert [event.type for event in events[-3:]] == ["tool-end", "turn-end", "run-end"]


async def test_child_of_a_cancelled_run_has_its_end_too() -> None:
    signal = asyncio.Event()
    tool = make_endless_tool(signal)
    host = Host([call("child", '{"query": "x"}'), call("wait", call_id="c2")], tool)
    host.offer(AgentDefinition(name="child", description="c"))
    events: list[Event] = []
    parent = AgentDefinition(name="parent", description="p")
    output = await (await AgentExecutor.create(parent, host, events.append)).run({"query": "go"}, signal)
    assert output.reason == "cancelled"
    inner = [event.event for event in events if isinstance(event, ChildEvent)]
    assert [event.type for event in inner].count("tool-end") == 1
    assert isinstance(inner[-1], RunEnd)
    assert inner[-1].reason == "cancelled"


async def test_a_child_that_the_time_limit_of_its_caller_stops_says_so() -> None:
    begun = asyncio.Event()
    replies = [call("child", '{"query": "x"}'), call("wait", call_id="c2"), "As far as I got."]
    host = Host(replies, make_endless_tool(begun))
    host.offer(AgentDefinition(name="child", description="c", tool_config=ToolConfig(tools=("wait",))))
    parent = AgentDefinition(name="parent", description="p", run_config=RunConfig(max_seconds=60))
    work = asyncio.create_task((await AgentExecutor.create(parent, host)).run({"query": "go"}))
    await begun.wait()
    leap(57)
    output = await work
    assert (output.reason, output.limit) == ("goal", "timeout")
    [told] = results(host.runtime.scripted.requests[-1])
    assert told.startswith(
        "Error: 'child' reached the time limit of its caller: The limit of 60 seconds is reached."
    )
    assert "Raise" in told


async def test_fault_in_the_middle_of_a_run_still_ends_it() -> None:
    def fail(request: Any) -> Any:
        raise RuntimeError("the wires are crossed")

    events: list[Event] = []
    definition = AgentDefinition(name="a", description="a")
    executor = await AgentExecutor.create(definition, Host([fail]), events.append)
    with pytest.raises(RuntimeError, match="wires"):
        await executor.run({"query": "go"})
    assert events[-1] == RunEnd("error", error={"type": "RuntimeError", "message": "the wires are crossed"})


async def test_malformed_unknown_and_wrong_calls_are_reported_and_the_run_continues() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    read = make_tool("read_file").with_changes(parameters=schema)
    bad = [
        call("read_file", '{"path": "a', "c1"),
        call("read_fil", '{"path": "a"}', "c2"),
        call("read_file", "{}", "c3"),
        call("read_file", "[1, 2]", "c4"),
        call("", "{}", "c5"),
        call("read_file", '{"path": "a"}', "c6"),
    ]
    host = Host([*bad, "Done."], read)
    output, _ = await run(host)
    assert output.result == "Done."
    told = results(host.runtime.scripted.requests[-1])
    assert "cut off inside `path`" in told[0]
    assert "Did you mean 'read_file'" in told[1]
    assert "`path` is missing" in told[2]
    assert "must be an object" in told[3]
    assert "Unknown tool ''" in told[4]
    assert told[5] == "read_file ran"


@pytest.mark.parametrize(("ways", "choice"), [((), "auto"), (({"chat": "talk"},), "required")])
async def test_a_small_model_that_must_hand_in_its_result_cannot_answer_in_words(
    ways: tuple[dict[str, str], ...], choice: str
) -> None:
    host = Host([HANDED])
    vars(host.runtime.scripted)["answer_ways"] = ways
    await run(host, output_config=HANDS_IN)
    assert [request.tool_choice for request in host.runtime.scripted.requests] == [choice]
