"""The OpenAI Agents SDK with its SQLite session; approvals are kept as a serialized run state.

A run that was cut off cannot be resumed as such: the program runs the agent again on what the session holds.
"""

import asyncio
import json
from typing import Any

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    RunState,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from effects import MODEL_URL, STATE, report, run, work
from openai import AsyncOpenAI

set_tracing_disabled(True)
PAUSED = STATE / "run-state.json"
session = SQLiteSession("s", STATE / "session.db")
model = OpenAIChatCompletionsModel("x", AsyncOpenAI(base_url=MODEL_URL, api_key="none", max_retries=0))


@function_tool
async def note(key: str) -> str:
    """Note."""
    return await asyncio.to_thread(work, "note", key)


@function_tool(needs_approval=True)
async def spend(key: str) -> str:
    """Spend, after an approval."""
    return await asyncio.to_thread(work, "spend", key)


child = Agent(
    "helper", instructions="You are the helper of the resume matrix.", model=model, tools=[note, spend]
)
helper = child.as_tool("helper", "Does a task with tools of its own.")
agent = Agent("master", model=model, tools=[note, spend, helper])


async def begin() -> None:
    """Have a conversation and start the job."""
    await Runner.run(agent, "hello", session=session)
    keep(await Runner.run(agent, "job one", session=session))


def keep(result: Any, **fields: Any) -> None:
    """Keep the state of a run that waits for an approval."""
    if result.interruptions:
        PAUSED.write_text(json.dumps(result.to_state().to_json()))
    else:
        PAUSED.unlink(missing_ok=True)
    report(state="asked" if result.interruptions else "ended", **fields)


async def resume() -> None:
    """Run the agent again on what the session holds."""
    if PAUSED.exists():
        report(state="asked")
        return
    keep(await Runner.run(agent, [], session=session))


async def answer(word: str) -> None:
    """Answer the open approvals, if there are any."""
    if not PAUSED.exists():
        report(accepted=False)
        return
    state = await RunState.from_json(agent, json.loads(PAUSED.read_text()))
    for item in state.get_interruptions():
        state.approve(item) if word == "yes" else state.reject(item)
    keep(await Runner.run(agent, state, session=session), accepted=True)


async def history() -> None:
    """Report the stored messages."""
    report(messages=[describe(item) for item in await session.get_items()])


def describe(item: Any) -> dict[str, Any]:
    """Return an item in the form of chat completions; each call is a message of its own."""
    if item.get("type") == "function_call":
        return {"role": "assistant", "content": "", "tool_calls": [{"id": item["call_id"]}]}
    if item.get("type") == "function_call_output":
        return {"role": "tool", "tool_call_id": item["call_id"], "content": str(item["output"])}
    return {"role": item.get("role", "assistant"), "content": str(item.get("content"))}


if __name__ == "__main__":
    commands = {"begin": begin, "resume": resume, "answer": answer, "history": history}
    run({name: (lambda *words, act=act: asyncio.run(act(*words))) for name, act in commands.items()})
