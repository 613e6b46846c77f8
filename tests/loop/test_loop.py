"""Turn after turn: every way a loop can end."""

import asyncio
import gc
from collections.abc import Sequence
from typing import Any
from weakref import ref

from dovetail.events.call import ChatMessage
from dovetail.events.cancel import CancelSignal
from dovetail.events.delta import Usage
from dovetail.events.model_events import ModelResponseEvent
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import Event, ToolEnd, TurnEnd, UserMessage
from dovetail.events.run_result import RunResult
from dovetail.events.tool_context import ToolContext
from dovetail.loop.budget import Budget, BudgetLimits
from dovetail.loop.limits import ResumePoint
from dovetail.loop.loop import TurnLoop
from dovetail.loop.repetition import REPEATS
from dovetail.testing import ScriptedRequester
from dovetail.tools.pipeline.runner import ToolRunner
from dovetail.tools.snapshot import ToolSnapshot
from dovetail.tools.tool import Tool, ToolResult
from leap import Leap
from patience import PATIENCE

START: list[ChatMessage] = [{"role": "user", "content": "Go."}]


def make_tool(name: str = "add", result: str = "3") -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult(result, data=args.get("value"))

    return Tool(name=name, description=name, parameters={"type": "object"}, execute=execute)


def call(name: str = "add", arguments: str = "{}", call_id: str = "c1") -> dict[str, Any]:
    return {"tool_calls": [{"call_id": call_id, "name": name, "arguments": arguments}]}


async def run(
    replies: Sequence[Any], tools: Sequence[Tool] = (), completion: str | None = None, **given: Any
) -> tuple[RunResult, list[Event], ScriptedRequester]:
    events: list[Event] = []
    requester = ScriptedRequester(replies)
    loop = TurnLoop(
        requester=requester, tools=ToolSnapshot.of(tools), runner=ToolRunner(), completion=completion
    )
    outcome = await loop.run(START, RunContext(emit=events.append, **given))
    return outcome, events, requester


def results(messages: Sequence[ChatMessage]) -> list[tuple[str, Any]]:
    return [
        (message["tool_call_id"], message["content"]) for message in messages if message["role"] == "tool"
    ]


async def test_plain_answer_is_the_goal() -> None:
    outcome, events, _ = await run(["Done."])
    assert (outcome.reason, outcome.text, outcome.turns) == ("goal", "Done.", 1)
    assert outcome.messages == [{"role": "assistant", "content": "Done."}]
    assert [event.type for event in events][-1] == "turn-end"


async def test_result_of_a_call_goes_back_to_the_model() -> None:
    outcome, events, requester = await run([call(), "It is 3."], [make_tool()])
    assert outcome.text == "It is 3."
    assert results(requester.requests[1].messages) == [("c1", "3")]
    assert [
        event.type for event in events if event.type.startswith("tool-") and "input" not in event.type
    ] == [
        "tool-start",
        "tool-end",
    ]


async def test_model_names_an_unknown_tool_and_gets_an_error() -> None:
    outcome, _, requester = await run([call("ad"), "Sorry."], [make_tool()])
    assert outcome.reason == "goal"
    assert "add" in results(requester.requests[1].messages)[0][1]


async def test_empty_answer_is_asked_for_once_more() -> None:
    outcome, _, requester = await run(["", "Here it is."])
    assert outcome.text == "Here it is."
    assert "empty" in requester.requests[1].messages[-1]["content"]


async def test_a_refused_answer_is_not_asked_for_again() -> None:
    outcome, _, requester = await run([{"text": "", "finish_reason": "content-filter"}, "Second."])
    assert (outcome.reason, outcome.text, outcome.finish_reason) == ("goal", "", "content-filter")
    assert len(requester.requests) == 1


async def test_the_reason_of_the_last_answer_is_in_the_result() -> None:
    outcome, _, _ = await run([call(), {"text": "Cut of", "finish_reason": "length"}], [make_tool()])
    assert (outcome.reason, outcome.text, outcome.finish_reason) == ("goal", "Cut of", "length")


async def test_turn_limit_ends_with_a_grace_turn_that_answers() -> None:
    outcome, _, requester = await run(
        [call(call_id="c1"), "My best guess."], [make_tool()], budget=Budget(BudgetLimits(turns=1))
    )
    assert (outcome.reason, outcome.limit, outcome.text) == ("goal", "max-turns", "My best guess.")
    assert requester.requests[1].tool_choice == "none"
    assert list(requester.requests[1].tools) == []


async def test_grace_turn_without_an_answer_keeps_the_limit_as_reason() -> None:
    outcome, _, _ = await run([call(), ""], [make_tool()], budget=Budget(BudgetLimits(turns=1)))
    assert outcome.reason == "max-turns"


async def test_completion_tool_hands_in_the_result() -> None:
    handed = call("complete_task", '{"value": {"n": 1}}')
    outcome, _, _ = await run([handed], [make_tool("complete_task")], "complete_task")
    assert (outcome.reason, outcome.data) == ("goal", {"n": 1})


async def test_answer_in_words_is_asked_for_again_with_all_tools() -> None:
    outcome, _, requester = await run(
        ["I think I am done.", call(), call("complete_task", '{"value": 5}', call_id="c2")],
        [make_tool("complete_task"), make_tool()],
        "complete_task",
    )
    assert (outcome.reason, outcome.limit, outcome.data) == ("goal", None, 5)
    assert requester.requests[1].tools == requester.requests[0].tools
    assert "call `complete_task` when you have the result" in requester.requests[1].messages[-1]["content"]


async def test_model_that_only_answers_in_words_has_one_last_turn_with_the_completion_tool_alone() -> None:
    outcome, _, requester = await run(
        [*["I am done."] * REPEATS, call("complete_task", '{"value": 5}')],
        [make_tool("complete_task"), make_tool()],
        "complete_task",
    )
    assert (outcome.reason, outcome.limit, outcome.data) == ("goal", "no-completion", 5)
    assert [spec.name for spec in requester.requests[-1].tools] == ["complete_task"]


async def test_same_call_five_times_is_stopped() -> None:
    outcome, _, requester = await run([*[call()] * 5, "I give up."], [make_tool()])
    assert (outcome.limit, outcome.text) == ("no-completion", "I give up.")
    assert len(requester.requests) == 6


async def test_time_over_in_the_middle_of_an_answer_keeps_what_came() -> None:
    requester_stalls = [["Half an ", Leap()]]
    budget = Budget(BudgetLimits(seconds=60))
    outcome, events, _ = await run([*requester_stalls, "All of it."], [make_tool()], budget=budget)
    assert (outcome.limit, outcome.text) == ("timeout", "All of it.")
    assert outcome.messages[0] == {"role": "assistant", "content": "Half an "}
    assert "text-end" in [event.type for event in events]


async def test_answer_without_tools_may_take_all_the_time_and_is_not_asked_for_again() -> None:
    outcome, _, requester = await run([["Half an ", Leap()]], budget=Budget(BudgetLimits(seconds=60)))
    assert (outcome.reason, outcome.text) == ("timeout", "Half an ")
    assert len(requester.requests) == 1


async def test_last_turn_has_the_rest_of_the_time_limit() -> None:
    clock = iter([0.0, *[590.0] * 100])
    budget = Budget(BudgetLimits(seconds=600), clock=lambda: next(clock))
    begun = asyncio.get_running_loop().time()
    outcome, _, requester = await run([[Leap(11)], "Late."], [make_tool()], budget=budget)
    assert (outcome.reason, outcome.limit) == ("timeout", None)
    assert len(requester.requests) == 1
    assert asyncio.get_running_loop().time() - begun < 60


async def test_run_with_tools_keeps_a_tenth_of_its_time_for_the_last_turn() -> None:
    budget = Budget(BudgetLimits(seconds=600), clock=iter([0.0, *[545.0] * 100]).__next__)
    outcome, _, requester = await run(["The best I have."], [make_tool()], budget=budget)
    assert (outcome.reason, outcome.limit, outcome.text) == ("goal", "timeout", "The best I have.")
    assert len(requester.requests) == 1
    child = budget.child()
    assert child.seconds_left() == -5.0


async def test_cancel_now_interrupts_the_running_tool_with_its_one_result() -> None:
    cancel = CancelSignal()

    async def wait_for_ever(args: dict[str, Any], context: ToolContext) -> ToolResult:
        cancel.request("now")
        await asyncio.Event().wait()
        return ToolResult("never")

    tool = Tool(name="wait", description="waits", parameters={"type": "object"}, execute=wait_for_ever)
    outcome, events, requester = await run([call("wait")], [tool], cancel=cancel)
    assert outcome.reason == "cancelled"
    assert [name for name, _ in results(outcome.messages)] == ["c1"]
    assert len(requester.requests) == 1
    assert [event.type for event in events].count("tool-end") == 1


async def test_a_run_that_was_cancelled_before_it_begins_asks_no_model() -> None:
    cancel = CancelSignal()
    cancel.request()
    outcome, events, requester = await run(["Never asked."], cancel=cancel)
    assert (outcome.reason, outcome.turns, events) == ("cancelled", 0, [])
    assert requester.requests == []


async def test_cancel_after_turn_lets_the_tool_finish() -> None:
    cancel = CancelSignal()

    async def finish(args: dict[str, Any], context: ToolContext) -> ToolResult:
        cancel.request("after_turn")
        return ToolResult("finished")

    tool = Tool(name="work", description="works", parameters={"type": "object"}, execute=finish)
    outcome, _, requester = await run([call("work")], [tool], cancel=cancel)
    assert outcome.reason == "cancelled"
    assert results(outcome.messages) == [("c1", "finished")]
    assert len(requester.requests) == 1


async def test_a_whole_answer_is_the_goal_although_a_stop_after_it_was_wished() -> None:
    cancel = CancelSignal()
    cancel.request("after_turn")
    outcome, _, _ = await run(["All of it."], cancel=cancel)
    assert (outcome.reason, outcome.text) == ("goal", "All of it.")


async def test_failing_model_ends_the_loop_with_its_error() -> None:
    outcome, _, _ = await run([{"status": 401, "body": "no"}])
    assert outcome.reason == "error"
    assert outcome.error is not None


async def test_full_window_is_shortened_for_the_model_but_kept_for_the_record() -> None:
    tool = make_tool(result="y" * 6_000)
    requester = ScriptedRequester([call(call_id=f"c{turn}") for turn in range(4)] + ["Done."])
    loop = TurnLoop(requester=requester, tools=ToolSnapshot.of([tool]), runner=ToolRunner(), window=9_000)
    outcome = await loop.run(START, RunContext())
    assert [len(content) for _, content in results(outcome.messages)] == [6_000] * 4
    seen = results(requester.requests[-1].messages)
    assert len(seen) == 4
    assert len(seen[0][1]) < 1_000


async def test_calls_left_open_by_a_crash_run_first_and_finished_ones_never_again() -> None:
    ran: list[str] = []

    async def note(args: dict[str, Any], context: ToolContext) -> ToolResult:
        ran.append(context.call_id)
        return ToolResult("noted")

    tool = Tool(name="note", description="notes", parameters={"type": "object"}, execute=note)
    function = {"name": "note", "arguments": "{}"}
    calls = [{"id": name, "type": "function", "function": function} for name in ("c1", "c2")]
    before: list[ChatMessage] = [
        *START,
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "noted"},
    ]
    requester = ScriptedRequester(["Both are noted."])
    loop = TurnLoop(requester=requester, tools=ToolSnapshot.of([tool]), runner=ToolRunner())
    outcome = await loop.run(before, RunContext())
    assert ran == ["c2"]
    assert results(requester.requests[0].messages) == [("c1", "noted"), ("c2", "noted")]
    assert outcome.text == "Both are noted."


async def test_a_model_that_restarts_its_call_ids_in_every_turn_gets_each_result_once() -> None:
    calls = [call(arguments='{"value": 1}'), call(arguments='{"value": 2}')]
    outcome, events, requester = await run([*calls, "Done."], [make_tool()])
    ended = [event.call_id for event in events if isinstance(event, ToolEnd)]
    assert ended[0] == "c1"
    assert len(set(ended)) == 2
    assert [call_id for call_id, _ in results(requester.requests[-1].messages)] == ended
    assert [
        message["tool_calls"][0]["id"] for message in outcome.messages if "tool_calls" in message
    ] == ended


async def test_a_loop_that_resumes_after_a_crash_continues_its_counts() -> None:
    said: ChatMessage = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}],
    }
    events: list[Event] = []
    requester = ScriptedRequester([call(call_id="c1"), {"text": "Done.", "usage": Usage(3, 2)}])
    loop = TurnLoop(requester=requester, tools=ToolSnapshot.of([make_tool()]), runner=ToolRunner())
    outcome = await loop.run(
        [*START, said],
        RunContext(emit=events.append),
        earlier=ResumePoint(turns=4, usage=Usage(10, 5)),
    )
    ends = [event for event in events if isinstance(event, TurnEnd)]
    assert [event.turn for event in ends] == [5, 6, 7]
    assert ends[0].usage == Usage(10, 5)
    assert outcome.turns == 7
    ended = [event.call_id for event in events if isinstance(event, ToolEnd)]
    assert ended[0] == "c1"
    assert len(set(ended)) == 2


async def test_usage_of_an_answer_is_recorded_before_its_calls_run() -> None:
    _, events, _ = await run([{**call(), "usage": Usage(10, 5)}, "Done."], [make_tool()])
    types = [event.type for event in events]
    assert types.index("tool-input-end") < types.index("model-answer") < types.index("tool-start")
    assert events[types.index("model-answer")] == ModelResponseEvent(1, Usage(10, 5))
    assert types.count("model-answer") == 1


async def answer(replies: Sequence[Any], rounds: int = 1) -> tuple[RunResult, list[Event], ScriptedRequester]:
    events: list[Event] = []
    requester = ScriptedRequester(replies)
    loop = TurnLoop(
        requester=requester,
        tools=ToolSnapshot.of([make_tool()]),
        runner=ToolRunner(),
        schema={"type": "object"},
    )
    return await loop.answer(START, RunContext(emit=events.append), rounds), events, requester


async def test_request_must_answer_after_its_rounds_and_reads_only_what_the_program_wrote() -> None:
    outcome, events, requester = await answer([call(), "It is 3."])
    assert (outcome.reason, outcome.text) == ("goal", "It is 3.")
    assert [request.tool_choice for request in requester.requests] == ["auto", "none"]
    assert [message["role"] for message in requester.requests[1].messages] == ["user", "assistant", "tool"]
    assert all(request.schema == {"type": "object"} for request in requester.requests)
    assert "model-request" not in {event.type for event in events}


async def test_empty_answer_of_a_request_is_its_answer() -> None:
    outcome, _, requester = await answer([""])
    assert (outcome.reason, outcome.text) == ("goal", "")
    assert len(requester.requests) == 1


async def test_request_may_repeat_a_call_as_often_as_it_has_rounds() -> None:
    outcome, _, requester = await answer([*[call()] * 6, "Enough."], rounds=6)
    assert outcome.text == "Enough."
    assert [request.tool_choice for request in requester.requests] == [*["auto"] * 6, "none"]


class Post:
    """An inbox that messages are put into; it counts how often the loop looks into it."""

    def __init__(self, *texts: str) -> None:
        self.waiting = list(texts)
        self.looks = 0

    @property
    def has_mail(self) -> bool:
        return bool(self.waiting)

    async def take(self) -> list[UserMessage]:
        self.looks += 1
        taken, self.waiting = self.waiting, []
        return [
            UserMessage(f"m-{text}", "steer", ({"type": "text", "text": text},), (said(text),))
            for text in taken
        ]


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def sending(post: Post, text: str) -> Tool:
    async def execute(args: dict[str, Any], context: ToolContext) -> ToolResult:
        post.waiting.append(text)
        return ToolResult("3")

    return Tool(name="add", description="add", parameters={"type": "object"}, execute=execute)


async def test_a_message_that_comes_during_a_call_is_read_in_the_next_turn() -> None:
    post = Post()
    outcome, events, requester = await run([call(), "So."], [sending(post, "In metres!")], inbox=post)
    assert [message["role"] for message in requester.requests[1].messages] == [
        "user",
        "assistant",
        "tool",
        "user",
    ]
    assert requester.requests[1].messages[-1] == said("In metres!")
    assert [event.message_id for event in events if isinstance(event, UserMessage)] == ["m-In metres!"]
    assert (outcome.reason, outcome.text, post.looks) == ("goal", "So.", 1)
    assert outcome.messages[2] == said("In metres!")


async def test_a_message_that_comes_during_the_last_answer_gets_an_answer_of_its_own() -> None:
    post = Post()

    def answer(request: Any) -> str:
        post.waiting.append("And in feet?")
        return "Three metres."

    outcome, events, requester = await run([answer, "Ten feet."], inbox=post)
    assert requester.requests[1].messages[1:] == (
        {"role": "assistant", "content": "Three metres."},
        said("And in feet?"),
    )
    assert (outcome.text, outcome.turns) == ("Ten feet.", 2)
    kinds = [event.type for event in events if event.type in ("turn-end", "user-message")]
    assert kinds == ["turn-end", "user-message", "turn-end"]


async def test_the_same_calls_are_counted_from_the_last_message_also_after_an_interruption() -> None:
    post, made = Post(), 0

    async def execute(args: dict[str, Any], context: ToolContext) -> ToolResult:
        nonlocal made
        made += 1
        post.waiting += ["Once more!"] if made == 3 else []
        return ToolResult("3")

    tool = Tool(name="add", description="add", parameters={"type": "object"}, execute=execute)
    most = 3 + REPEATS
    replies = [*[call(call_id=f"c{number}") for number in range(most)], "I am stuck."]
    outcome, _, _ = await run(replies, [tool], inbox=post)
    assert (made, outcome.limit, outcome.text) == (most, "no-completion", "I am stuck.")
    done = outcome.messages
    for place, message in enumerate(done):
        made = sum(one["role"] == "tool" for one in done[:place])
        if message["role"] == "assistant" and 3 <= made < most:
            loop = TurnLoop(
                requester=ScriptedRequester(replies[made:]),
                tools=ToolSnapshot.of([tool]),
                runner=ToolRunner(),
            )
            resumed = await loop.run([*START, *done[:place]], RunContext())
            assert (made, resumed.limit, resumed.text) == (most, "no-completion", "I am stuck.")


async def test_no_message_is_taken_after_a_limit() -> None:
    post = Post()
    budget = Budget(BudgetLimits(turns=1))
    outcome, events, _ = await run([call(), "Saved."], [sending(post, "Wait!")], inbox=post, budget=budget)
    assert (outcome.limit, post.waiting, post.looks) == ("max-turns", ["Wait!"], 0)
    assert not any(isinstance(event, UserMessage) for event in events)


async def test_a_run_that_is_to_stop_takes_no_more_messages() -> None:
    post, cancel = Post(), CancelSignal()

    def answer(request: Any) -> str:
        post.waiting.append("More!")
        cancel.request("after_turn")
        return "Three."

    outcome, _, _ = await run([answer], inbox=post, cancel=cancel)
    assert (outcome.reason, post.waiting) == ("goal", ["More!"])


async def test_a_child_and_a_request_take_no_message_of_the_run_around_them() -> None:
    post = Post("For the root")
    context = RunContext(inbox=post)
    requester = ScriptedRequester(["One.", "Two."])
    loop = TurnLoop(requester=requester, tools=ToolSnapshot.of([]), runner=ToolRunner())
    await loop.run(START, context.for_child("child", "helper", emit=print, budget=Budget()))
    await loop.answer(START, context, rounds=1)
    assert post.waiting == ["For the root"]


class Noted(dict[str, Any]):
    """A message whose end can be seen."""


async def test_a_conversation_is_given_back_although_its_calls_leave_timers_behind() -> None:
    timers: list[asyncio.TimerHandle] = []

    async def execute(args: dict[str, Any], context: ToolContext) -> ToolResult:
        timers.append(asyncio.get_running_loop().call_later(PATIENCE, timers.clear))
        return ToolResult("3")

    tool = Tool(name="add", description="add", parameters={"type": "object"}, execute=execute)
    requester = ScriptedRequester([call(), "Done."])
    loop = TurnLoop(requester=requester, tools=ToolSnapshot.of([tool]), runner=ToolRunner())
    message = Noted(START[0])
    seen = ref(message)
    outcome = await loop.run([message], RunContext())
    assert (outcome.text, len(timers)) == ("Done.", 1)
    requester.requests.clear()
    del message, loop, requester
    gc.collect()
    assert seen() is None
    timers[0].cancel()
