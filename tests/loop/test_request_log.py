"""The requests to a model are recorded for inspection: whole, once, without keys."""

from collections.abc import Sequence
from typing import Any

from dovetail.events.call import ChatMessage, ModelRequest
from dovetail.events.model_events import ModelRequestEvent
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import Event
from dovetail.loop.loop import TurnLoop
from dovetail.loop.request_log import RequestLog
from dovetail.requesters.fallback import FallbackRequester
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.openai.requester import OpenAIRequester
from dovetail.testing import ScriptedRequester
from dovetail.tools.makers.function import make_tool
from dovetail.tools.pipeline.runner import ToolRunner
from dovetail.tools.snapshot import ToolSnapshot

KEY = "sk-very-secret-key"
CALL = {"tool_calls": [{"call_id": "c1", "name": "look", "arguments": "{}"}]}


def look() -> str:
    """Look around."""
    return "A key."


async def requests_of(
    replies: Sequence[Any], messages: Sequence[ChatMessage], **options: Any
) -> tuple[list[ModelRequestEvent], ScriptedRequester]:
    events: list[Event] = []
    requester = ScriptedRequester(replies)
    loop = TurnLoop(
        requester=requester, tools=ToolSnapshot.of([make_tool(look)]), runner=ToolRunner(), **options
    )
    await loop.run(messages, RunContext(emit=events.append))
    return [event for event in events if isinstance(event, ModelRequestEvent)], requester


def rebuild(told: Sequence[ModelRequestEvent]) -> list[list[ChatMessage]]:
    """The messages of each request, as a reader of the journal joins them."""
    whole: list[list[ChatMessage]] = []
    for event in told:
        whole.append([*(whole[-1][: event.kept] if whole else []), *event.messages])
    return whole


async def test_each_request_can_be_read_again_and_nothing_is_recorded_twice() -> None:
    start = [{"role": "system", "content": "Look."}, {"role": "user", "content": "Where is it?"}]
    told, requester = await requests_of([CALL, "Under the mat."], start)
    assert rebuild(told) == [list(request.messages) for request in requester.requests]
    assert [(event.turn, event.kept, len(event.messages)) for event in told] == [(1, 0, 2), (2, 2, 2)]
    assert (told[0].model, told[0].tools, told[0].tool_choice) == (requester.model, ("look",), "auto")


async def test_requests_are_not_recorded_when_that_is_disabled() -> None:
    told, _ = await requests_of(["Done."], [{"role": "user", "content": "Go."}], records_requests=False)
    assert told == []


async def test_request_for_a_summary_is_recorded_and_the_next_one_counts_from_the_conversation() -> None:
    start: list[ChatMessage] = [{"role": "user", "content": "Read all."}]
    for number in range(20):
        start.append({"role": "assistant", "content": "x" * 2000})
        start.append({"role": "user", "content": f"Go on {number}."})
    told, requester = await requests_of(["All was x.", "Done."], start, window=8000)
    assert [event.purpose for event in told] == ["summary", "answer"]
    assert list(told[0].messages) == list(requester.requests[0].messages)
    assert told[1].kept == 0
    assert list(told[1].messages) == list(requester.requests[1].messages)


def test_image_is_shown_by_its_size_and_data_as_the_text_that_is_sent() -> None:
    events: list[Any] = []
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9000}}
    words = {"type": "text", "text": "w" * 9000}
    asked: list[ChatMessage] = [
        {"role": "user", "content": [picture, words]},
        {"role": "user", "content": {"wanted": "a box"}},
    ]
    RequestLog(events.append, ScriptedRequester([])).record(1, ModelRequest(messages=asked))
    shown, data = events[0].messages
    assert shown["content"][0]["image_url"]["url"].endswith("… (9022 characters)")
    assert shown["content"][1] == words
    assert data["content"] == "wanted: a box\n"
    assert asked[0]["content"] == [picture, words]


def test_keys_of_the_model_are_hidden_wherever_they_stand() -> None:
    events: list[Any] = []
    endpoint = Endpoint(model="m", base_url="http://127.0.0.1:9/v1", api_key=KEY)
    requester = FallbackRequester([OpenAIRequester(endpoint), ScriptedRequester([])])
    arguments = f'{{"key": "{KEY}"}}'
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": arguments}}
    asked: list[ChatMessage] = [
        {"role": "user", "content": f"Use {KEY}."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
    ]
    RequestLog(events.append, requester).record(1, ModelRequest(messages=asked))
    assert KEY not in repr(events)
    assert events[0].messages[0]["content"] == "Use ***."
