"""LangGraph with its SQLite checkpointer in its most durable mode; approvals are interrupts."""

import sqlite3
import warnings
from typing import Any

from effects import MODEL_URL, STATE, report, run, work
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.prebuilt import create_react_agent
from langgraph.types import Command, interrupt

warnings.simplefilter("ignore")
HERE = {"configurable": {"thread_id": "s"}}
FIRST = STATE / "first-checkpoint"
model = ChatOpenAI(model="x", base_url=MODEL_URL, api_key="none", max_retries=0)


@tool
def note(key: str) -> str:
    """Note."""
    return work("note", key)


@tool
def spend(key: str) -> str:
    """Spend, after an approval."""
    if not interrupt({"key": key})["approved"]:
        return "The user declined."
    return work("spend", key)


child = create_react_agent(model, [note, spend], prompt="You are the helper of the resume matrix.")


@tool
def helper(query: str) -> str:
    """Do a task with tools of its own."""
    return child.invoke({"messages": [("user", query)]})["messages"][-1].content


saver = SqliteSaver(sqlite3.connect(STATE / "checkpoints.db", check_same_thread=False))
graph = create_react_agent(model, [note, spend, helper], checkpointer=saver)


def say(text: str, config: dict[str, Any]) -> None:
    """Send a message."""
    graph.invoke({"messages": [("user", text)]}, config, durability="sync")


def begin() -> None:
    """Have a conversation, fork it, and start the job from where it was forked."""
    say("hello", HERE)
    FIRST.write_text(graph.get_state(HERE).config["configurable"]["checkpoint_id"])
    fork()
    say("job one", find_first())
    tell()


def find_first() -> dict[str, Any]:
    """Return the place of the conversation before the job."""
    return {"configurable": {"thread_id": "s", "checkpoint_id": FIRST.read_text()}}


def resume() -> None:
    """Continue from the last checkpoint."""
    if graph.get_state(HERE).next and not graph.get_state(HERE).interrupts:
        graph.invoke(None, HERE, durability="sync")
    tell()


def answer(word: str) -> None:
    """Answer the open question, if there is one."""
    if not graph.get_state(HERE).interrupts:
        report(accepted=False)
        return
    graph.invoke(Command(resume={"approved": word == "yes"}), HERE, durability="sync")
    tell(accepted=True)


def tell(**fields: Any) -> None:
    """Report how far the job is."""
    state = graph.get_state(HERE)
    report(state="asked" if state.interrupts else "running" if state.next else "ended", **fields)


def history() -> None:
    """Report the stored messages."""
    report(messages=[describe(message) for message in graph.get_state(HERE).values["messages"]])


def describe(message: Any) -> dict[str, Any]:
    """Return a message in the form of chat completions."""
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    if isinstance(message, AIMessage):
        calls = [{"id": call["id"]} for call in message.tool_calls]
        return {"role": "assistant", "content": message.content, "tool_calls": calls}
    return {"role": "user", "content": message.content}


def fork() -> None:
    """Ask something else from where the conversation was before the job."""
    say("fork", find_first())


if __name__ == "__main__":
    run({"begin": begin, "resume": resume, "answer": answer, "history": history, "fork": fork})
