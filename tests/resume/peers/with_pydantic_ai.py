"""pydantic-ai with DBOS on SQLite: runs are workflows, tools are steps, approvals are deferred calls.

Messages and open approvals are kept by the program, as the documentation asks for; each run has an id of its
own, so that a run that is started twice runs once.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

from dbos import DBOS, SetWorkflowID
from effects import MODEL_URL, STATE, report, run, work
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolDenied
from pydantic_ai.durable_exec.dbos import DBOSDurability
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

HISTORY = STATE / "history.json"
OPEN = STATE / "open.json"
RUN = STATE / "run"
DBOS(
    config={
        "name": "matrix",
        "system_database_url": f"sqlite:///{STATE / 'dbos.sqlite'}",
        "log_level": "ERROR",
    }
)
model = OpenAIChatModel("x", provider=OpenAIProvider(base_url=MODEL_URL, api_key="none"))
agent = Agent(model, name="master", output_type=[str, DeferredToolRequests], capabilities=[DBOSDurability()])


@agent.tool_plain
@DBOS.step()
def note(key: str) -> str:
    """Note."""
    return work("note", key)


@agent.tool_plain(requires_approval=True)
@DBOS.step()
def spend(key: str) -> str:
    """Spend, after an approval."""
    return work("spend", key)


Kept = tuple[str, list[str]]


@DBOS.workflow()
async def chat(text: str | None, messages: str, approvals: dict[str, bool]) -> Kept:
    """Run the agent; return all messages and the calls that wait for an approval."""
    answers = {call: True if yes else ToolDenied("The user declined.") for call, yes in approvals.items()}
    result = await agent.run(
        text,
        message_history=ModelMessagesTypeAdapter.validate_json(messages),
        deferred_tool_results=DeferredToolResults(approvals=answers) if answers else None,
    )
    is_asked = isinstance(result.output, DeferredToolRequests)
    calls = [call.tool_call_id for call in result.output.approvals] if is_asked else []
    return result.all_messages_json().decode(), calls


async def begin() -> None:
    """Have a conversation and start the job."""
    with SetWorkflowID("hello"):
        keep(await chat("hello", "[]", {}))
    RUN.write_text("job")
    with SetWorkflowID("job"):
        keep(await chat("job one", HISTORY.read_text(), {}))


def keep(kept: Kept, **fields: Any) -> None:
    """Keep the messages and the open approvals of a run."""
    messages, calls = kept
    HISTORY.write_text(messages)
    OPEN.write_text(json.dumps(calls))
    report(state="asked" if calls else "ended", **fields)


async def resume() -> None:
    """Wait for the run that DBOS recovers at its start."""
    handle = await DBOS.retrieve_workflow_async(RUN.read_text())
    keep(await handle.get_result())


async def answer(word: str) -> None:
    """Answer the open approvals, if there are any."""
    calls = json.loads(OPEN.read_text())
    if not calls:
        report(accepted=False)
        return
    RUN.write_text(f"answer to {calls[0]}")
    with SetWorkflowID(f"answer to {calls[0]}"):
        keep(await chat(None, HISTORY.read_text(), dict.fromkeys(calls, word == "yes")), accepted=True)


async def history() -> None:
    """Report the stored messages."""
    found: list[dict[str, Any]] = []
    for message in ModelMessagesTypeAdapter.validate_json(HISTORY.read_text()):
        calls: list[dict[str, str]] = []
        for part in message.parts:
            if part.part_kind == "tool-call":
                calls.append({"id": part.tool_call_id})
            elif part.part_kind == "tool-return":
                found.append(
                    {"role": "tool", "tool_call_id": part.tool_call_id, "content": str(part.content)}
                )
        if message.kind == "response":
            found.append({"role": "assistant", "content": "", "tool_calls": calls})
    report(messages=found)


def wait_for(command: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a command to its end."""
    return lambda *words: loop.run_until_complete(command(*words))


if __name__ == "__main__":
    loop = asyncio.new_event_loop()
    DBOS.launch()  # recovers what another process has left
    commands = {"begin": begin, "resume": resume, "answer": answer, "history": history}
    run({name: wait_for(command) for name, command in commands.items()})
    DBOS.destroy()
