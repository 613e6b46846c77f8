"""A browser tool is a definition; the browser carries it out and answers."""

from collections.abc import Mapping
from typing import Any

import pytest

from dovetail.events.call import ToolCall
from dovetail.tools import CallOutcome, RunContext, ToolRunner, ToolSnapshot
from dovetail.tools.makers.browser import make_browser_tool, open_url

ARGUMENTS = {"actionName": "Show the plan", "url": "https://plan.example", "timeoutSec": 5}


async def call(
    answer: Mapping[str, Any], tab_id: str | None = "tab", **arguments: Any
) -> tuple[CallOutcome, list[tuple[Any, ...]]]:
    asked: list[tuple[Any, ...]] = []

    async def ask(
        kind: str, call_id: str, payload: Mapping[str, Any], seconds: float | None
    ) -> Mapping[str, Any]:
        asked.append((kind, call_id, payload, seconds))
        return answer

    made = ToolCall(call_id="1", name="open-url", arguments={**ARGUMENTS, **arguments})
    scope = RunContext(tab_id=tab_id, ask=ask)
    return await ToolRunner().run_call(ToolSnapshot.of([open_url]), made, scope), asked


async def test_browser_is_asked_and_its_output_is_the_result() -> None:
    outcome, asked = await call({"status": "success", "output": {"viewKey": "v1"}})
    assert (outcome.status, outcome.result.data) == ("ok", {"viewKey": "v1"})
    assert asked == [("browser", "1", {"tool": "open-url", "args": ARGUMENTS, "tab_id": "tab"}, 5)]


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        ({"status": "failed", "errorText": "popup blocked"}, "error", "popup blocked"),
        ({"status": "timeout"}, "timeout", "did not answer 'open-url' within 5 s"),
        ({"approved": False}, "error", "The user declined 'open-url'"),
    ],
)
async def test_failures_in_the_browser_are_reported(
    answer: Mapping[str, Any], status: str, words: str
) -> None:
    outcome, _ = await call(answer)
    assert outcome.status == status
    assert words in str(outcome.result.llm_content)


async def test_without_a_tab_nothing_is_asked() -> None:
    outcome, asked = await call({"status": "success"}, tab_id=None)
    assert outcome.status == "error"
    assert "has no tab id" in str(outcome.result.llm_content)
    assert asked == []


async def test_open_url_has_its_four_parameters() -> None:
    assert open_url.name == "open-url"
    assert list(open_url.parameters["properties"]) == ["actionName", "url", "title", "timeoutSec"]
    assert open_url.parameters["required"] == ["actionName", "url"]
    outcome, asked = await call({"status": "success"}, actionName="")
    assert "`actionName` must have at least 1 characters" in str(outcome.result.llm_content)
    assert asked == []


async def test_silent_success_is_a_result_too() -> None:
    tool = make_browser_tool("blink", "Blink.", {"type": "object"})

    async def ask(*question: Any) -> Mapping[str, Any]:
        assert question[3] == 60
        return {"status": "success"}

    scope = RunContext(tab_id="tab", ask=ask)
    outcome = await ToolRunner().run_call(
        ToolSnapshot.of([tool]), ToolCall(call_id="1", name="blink", arguments=""), scope
    )
    assert outcome.result.llm_content == "done"
