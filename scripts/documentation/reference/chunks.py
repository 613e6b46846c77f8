"""docs/reference/chunks.md: what a chat streams; the server's encoder makes the examples."""

from collections.abc import Iterator, Mapping
from typing import Any

from documentation.markdown import code, head, join, json_block
from dovetail.events.delta import Usage
from dovetail.events.model_events import (
    ModelProgress,
    ReasoningDeltaEvent,
    ReasoningEnd,
    ReasoningStart,
    TextDeltaEvent,
    TextEnd,
    TextStart,
    ToolInputDeltaEvent,
    ToolInputEnd,
    ToolInputStart,
)
from dovetail.events.run_events import (
    AskAnswer,
    AskRequest,
    Entry,
    Event,
    RunEnd,
    RunStart,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnEnd,
    TurnReset,
    UserMessage,
)
from dovetail.sessions.chunks import DETAIL, ChunkEncoder

INTRODUCTION = """\
`POST /api/v1/chat` ([HTTP](http.md)) streams its answer in chunks: those of the AI SDK's UI message stream,
which any `useChat` client reads, made of the [events](events.md) of the run. Each chunk is the data of a
server-sent event, whose `id` is the number of the run's event; `data: [DONE]` is the last one. [Write your
own client](../client.md) shows how they are used.

Below is each type with an example and the events that it comes from. Parts with `transient` are not stored
with the message.
"""

_RUN = ("run_1",)
_CHILD = ("run_1", "run_2")
_ANSWER: tuple[tuple[tuple[str, ...], Event], ...] = (
    (_RUN, RunStart("master", "openai:gpt-4.1", session_id="ses_1")),
    (_RUN, ModelProgress("read", 360, 900)),
    (_RUN, ReasoningStart("reasoning-1-1")),
    (_RUN, ReasoningDeltaEvent("reasoning-1-1", "The user wants")),
    (_RUN, ReasoningEnd("reasoning-1-1")),
    (_RUN, TextStart("text-1-1")),
    (_RUN, TextDeltaEvent("text-1-1", "I am writing")),
    (_RUN, TextEnd("text-1-1")),
    (_RUN, ToolInputStart("call_1", "send_mail")),
    (_RUN, ToolInputDeltaEvent("call_1", '{"to":')),
    (_RUN, ToolInputEnd("call_1", "send_mail", {"to": "a@b.example"})),
    (_RUN, AskRequest("ask_1", "approval", "call_1", {"title": "Send a mail", "kind": "execute"})),
    (_RUN, AskAnswer("ask_1", {"approved": True})),
    (_RUN, ToolStart("call_1", "execute", "Send a mail")),
    (_RUN, ToolProgress("call_1", "connecting")),
    (_RUN, ToolEnd("call_1", "ok", "sent", duration=0.4)),
    (_RUN, ToolInputStart("call_2", "send_mail")),
    (_RUN, ToolInputEnd("call_2", "send_mail", {"to": "b"})),
    (_RUN, ToolEnd("call_2", "error", None, error={"message": "Invalid address 'b'."})),
    (_RUN, ToolInputStart("call_3", "send_mail")),
    (_RUN, ToolInputEnd("call_3", "send_mail", {"to": "c@d.example"})),
    (_RUN, AskRequest("ask_2", "question", "call_3", {"question": "Which address?"})),
    (_RUN, AskAnswer("ask_2", {"value": "c@d.example"})),
    (_RUN, ToolEnd("call_3", "denied", None)),
    (_CHILD, RunStart("researcher", "openai:gpt-4.1", parent_call_id="call_1")),
    (_CHILD, RunEnd("goal")),
    (_RUN, TurnReset()),
    (_RUN, TurnEnd(1, Usage(input_tokens=210, output_tokens=34), "tool_calls")),
    (_RUN, UserMessage("msg_3", "steer", ({"type": "text", "text": "In German, please."},), ())),
)
"""A run in which everything happens that has chunks, each event with the path of its run."""

_DONE = RunEnd("goal", "Sent.", Usage(input_tokens=420, output_tokens=60))
_FAILED = RunEnd("error", error={"message": "Rate limit exceeded.", "hint": "Try again in 20 seconds."})
_CANCELLED = RunEnd("cancelled")


def write() -> str:
    """Return the page: each type of chunk once, in the order in which a run has them."""
    found: dict[str, tuple[Mapping[str, Any], list[str]]] = {}
    for event, chunk in make_chunks():
        _, sources = found.setdefault(chunk["type"], (chunk, []))
        if event not in sources:
            sources.append(event)
    return join(
        head("Chunks of a chat", "src/dovetail/sessions/chunks.py", INTRODUCTION),
        *(
            join(
                f"## {code(name)}",
                f"From {', '.join(code(source) for source in sources)}.",
                json_block(chunk),
            )
            for name, (chunk, sources) in found.items()
        ),
    )


def make_chunks() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return chunks of all types, each with the type of the event that it comes from."""
    metadata = {"session_id": "ses_1", "run_id": "run_1"}
    for ending in (_DONE, _FAILED, _CANCELLED):
        encoder = ChunkEncoder(message_id="msg_2", metadata=metadata, describe=_describe_tool)
        for number, (path, event) in enumerate([*_ANSWER, (_RUN, ending)], 1):
            for chunk in encoder.encode(Entry(number, path[0], path, 1796000000.0 + number, event)):
                if chunk["type"] != DETAIL:
                    yield event.type, chunk


def _describe_tool(name: str) -> Mapping[str, Any]:
    return {"title": "Send a mail", "kind": "execute"}
