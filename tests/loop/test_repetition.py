"""A model that makes the same calls again and again reads that it does, and is then stopped with a notice."""

from collections.abc import Sequence
from typing import Any

import pytest

from dovetail.events.call import ToolCall
from dovetail.events.run_context import RunContext
from dovetail.events.run_result import RunResult
from dovetail.loop.loop import TurnLoop
from dovetail.loop.repetition import REPEATS, WARNED_AFTER, WARNING, CallHistory
from dovetail.testing import ScriptedRequester
from dovetail.tools.makers.function import make_tool
from dovetail.tools.pipeline.runner import ToolRunner
from dovetail.tools.snapshot import ToolSnapshot


def look(place: str) -> str:
    """Look for the keys."""
    return f"Nothing in the {place}."


def call(place: str, number: int) -> dict[str, Any]:
    return {"tool_calls": [{"call_id": f"c{number}", "name": "look", "arguments": {"place": place}}]}


async def run(places: Sequence[str], last: Any = "I am stuck.") -> tuple[RunResult, ScriptedRequester]:
    replies = [call(place, number) for number, place in enumerate(places)]
    model = ScriptedRequester([*replies, last])
    loop = TurnLoop(requester=model, tools=ToolSnapshot.of([make_tool(look)]), runner=ToolRunner())
    return await loop.run([{"role": "user", "content": "Find them."}], RunContext()), model


def find_warnings(model: ScriptedRequester) -> list[tuple[int, str]]:
    """Return after how many calls which warnings were read."""
    messages = model.requests[-1].messages
    return [
        (sum(one["role"] == "tool" for one in messages[:place]), message["content"])
        for place, message in enumerate(messages)
        if message["role"] == "user" and message["content"].startswith(WARNING)
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
async def test_a_circle_of_calls_is_shown_to_the_model_and_then_ends_the_run(size: int) -> None:
    circle = ["box", "bag", "hat", "bed"][:size]
    result, model = await run(circle * REPEATS)
    [(made, warning)] = find_warnings(model)
    assert made == size * WARNED_AFTER
    assert f'{WARNING} {WARNED_AFTER} times: look({{"place": "box"}})' in warning
    assert (result.turns, result.limit, result.text) == (size * REPEATS + 1, "no-completion", "I am stuck.")
    assert result.notice is not None
    assert result.notice.startswith(
        f"The model made the same calls {REPEATS} times in a row and was stopped: "
    )
    assert all(f'look({{"place": "{place}"}})' in result.notice for place in circle)
    assert model.requests[-1].messages[-1]["content"].startswith("You made the same calls again and again.")


async def test_a_run_that_ends_without_a_text_says_why() -> None:
    result, _ = await run(["box"] * REPEATS, last="")
    assert (result.reason, result.text) == ("no-completion", "")
    assert 'look({"place": "box"})' in str(result.notice)


async def test_calls_that_come_again_after_others_are_no_circle() -> None:
    places = [f"drawer {number // 2}" if number % 2 else "box" for number in range(20)]
    result, model = await run(places, last="Found.")
    assert (result.limit, result.text, find_warnings(model)) == (None, "Found.", [])


async def test_a_model_that_takes_the_warning_continues() -> None:
    result, model = await run(["box"] * WARNED_AFTER, last="Not in the box.")
    assert (result.limit, result.text, result.notice) == (None, "Not in the box.", None)
    assert len(find_warnings(model)) == 1


def test_long_arguments_and_many_calls_are_cut_in_the_notice() -> None:
    history = CallHistory()
    calls = [ToolCall(call_id=str(number), name="look", arguments={"x": "y" * 500}) for number in range(50)]
    for _ in range(REPEATS):
        history.add(calls)
    repetition = history.find_repetition()
    assert repetition is not None
    assert repetition.times == REPEATS
    assert len(repetition.write_notice()) < 600
