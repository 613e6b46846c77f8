"""Agents that work in the background of a chat: started, listed, read, messaged, cancelled and deleted."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from dovetail.app import Dovetail
from dovetail.concurrency import backoff, retrying
from dovetail.events.call import Kind
from dovetail.events.delta import Usage
from dovetail.testing import Gate, ScriptedRequester, ScriptedServer
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool
from patience import PATIENCE
from serving import Serving, serve, serve_app, text_of

RESEARCHER = "---\ndescription: Researches.\n{more}---\nYou are the {name}.\n"


def write_agent(folder: Path, more: str = "tools: []\n", name: str = "researcher") -> Path:
    (folder / "agents").mkdir(exist_ok=True)
    (folder / "agents" / f"{name}.md").write_text(RESEARCHER.format(more=more, name=name))
    return folder


def call(name: str, call_id: str = "c1", /, **arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"call_id": call_id, "name": name, "arguments": arguments}]}


START = {"when": "start it", **call("researcher", query="find oaks", background=True)}
STARTED = {"when": "works in the background", "text": "It has started."}


def held(text: str, when: str = "find oaks") -> tuple[dict[str, Any], Gate]:
    """Return the answer of an agent in the background that waits until the test opens its gate."""
    gate = Gate()
    return {"when": when, "steps": [gate, text]}, gate


async def wait_for_end(server: Serving, run_id: str) -> dict[str, Any]:
    async for _ in server.stream("GET", f"/api/v1/runs/{run_id}/events"):
        pass
    return await server.get(f"/api/v1/runs/{run_id}")


async def wait_for_event(server: Serving, run_id: str, type: str) -> None:
    async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events"):
        if event["type"] == type:
            return


async def list_children(server: Serving, session_id: str = "s") -> list[dict[str, Any]]:
    return (await server.get(f"/api/v1/sessions/{session_id}/children"))["children"]


def make_gate() -> tuple[Tool, asyncio.Event]:
    """Return a tool that waits until the test opens its gate."""
    gate = asyncio.Event()

    async def dig(where: str) -> str:
        """Dig."""
        await gate.wait()
        return f"dug {where}"

    return make_tool(dig, kind=Kind.Read), gate


async def test_caller_does_not_wait_for_an_agent_in_the_background(tmp_path: Path) -> None:
    dig, gate = make_gate()
    replies = [START, {"when": "find oaks", **call("dig", where="here")}, STARTED]
    replies += [{"when": "dug here", "text": "Seven oaks."}]
    async with serve(write_agent(tmp_path, "tools: [dig]\n"), replies, [dig]) as server:
        chunks = await server.chat("start it")
        [child] = await list_children(server)
        listed = (await server.get("/api/v1/sessions"))["sessions"]
        below = (await server.get("/api/v1/sessions?parent=s"))["sessions"]
        gate.set()
        run = await wait_for_end(server, child["run_id"])
        [ended] = await list_children(server)
        view = await server.get(f"/api/v1/sessions/{child['session_id']}")
    assert text_of(chunks) == "It has started."
    [output] = [chunk["output"] for chunk in chunks if chunk["type"] == "tool-output-available"]
    assert output == {
        "task_id": child["session_id"],
        "run_id": child["run_id"],
        "agent": "researcher",
    }
    assert (child["state"], child["reason"], child["call_id"]) == ("running", None, "c1")
    assert (child["agent"], child["title"]) == ("researcher", "find oaks")
    assert [session["id"] for session in listed] == ["s"]
    assert [session["id"] for session in below] == [child["session_id"]]
    assert (run["reason"], run["result"]) == ("goal", "Seven oaks.")
    assert (ended["state"], ended["reason"]) == ("ended", "goal")
    assert (view["parent_id"], view["agent"]) == ("s", "researcher")
    origin = {"kind": "background", "agent": "researcher", "call_id": "c1"}
    assert view["origin"] == {**origin, "run_id": chunks[0]["messageMetadata"]["run_id"]}


async def test_task_is_stored_after_the_start_of_its_call(tmp_path: Path) -> None:
    answer, gate = held("Seven oaks.")
    guard = """CREATE TRIGGER guard BEFORE INSERT ON sessions WHEN NEW.parent_id IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM entries WHERE type = 'tool-start') BEGIN SELECT RAISE(ABORT, 'too early'); END"""
    async with serve(write_agent(tmp_path), [START, answer, STARTED]) as server:
        await server.app.runs.database.write(lambda connection: connection.exec_driver_sql(guard) and None)
        chunks = await server.chat("start it")
        gate.open()
        [child] = await list_children(server)
        await wait_for_end(server, child["run_id"])
    assert text_of(chunks) == "It has started."


async def test_agent_in_the_background_has_its_own_prompt_with_its_inputs(tmp_path: Path) -> None:
    more = "inputs:\n  tree: {type: string, required: true}\nquery: Find every ${tree}.\ntools: []\n"
    write_agent(tmp_path, more)
    with (tmp_path / "agents" / "researcher.md").open("a") as file:
        file.write("You know the ${tree}.")
    start = {"when": "start it", **call("researcher", tree="oak", background=True)}
    replies = [start, {"when": "Find every oak.", "text": "Seven."}, STARTED]
    async with serve(tmp_path, replies) as server:
        await server.chat("start it")
        [child] = await list_children(server)
        await wait_for_end(server, child["run_id"])
        [asked] = [one for one in server.model.requests if "You know the oak." in str(one.messages)]
    contents = [message["content"] for message in asked.messages]
    assert contents[0] == "You are the researcher.\nYou know the oak."
    assert contents[1].startswith("This task began on")
    assert contents[2:] == ["Find every oak."]


async def test_tool_for_tasks_is_not_offered_if_the_allowed_tools_leave_it_out(tmp_path: Path) -> None:
    settings = {"tools": {"allowed": ["researcher"]}}
    async with serve(write_agent(tmp_path), ["Hello."], settings=settings) as server:
        await server.chat("hello")
        offered = [tool.name for tool in server.model.requests[0].tools]
    assert offered == ["researcher"]


async def test_agent_file_can_say_that_its_agent_always_works_in_the_background(tmp_path: Path) -> None:
    write_agent(tmp_path, "background: true\ntools: []\n")
    start = {"when": "start it", **call("researcher", query="find oaks")}
    answer, gate = held("Seven.")
    async with serve(tmp_path, [start, answer, STARTED]) as server:
        chunks = await server.chat("start it")
        gate.open()
        [spec] = [tool for tool in server.model.requests[0].tools if tool.name == "researcher"]
        [child] = await list_children(server)
        await wait_for_end(server, child["run_id"])
    assert text_of(chunks) == "It has started."
    assert list(spec.parameters["properties"]) == ["query"]


async def test_agent_behind_the_dispatcher_works_in_the_background(tmp_path: Path) -> None:
    arguments = {"name": "researcher", "inputs": {"query": "find oaks"}, "background": True}
    replies = [{"when": "start it", **call("sub-agent", **arguments)}]
    answer, gate = held("Seven.")
    replies += [answer, STARTED]
    settings = {"subagents": {"shape": "dispatcher"}}
    async with serve(write_agent(tmp_path), replies, settings=settings) as server:
        chunks = await server.chat("start it")
        gate.open()
        [child] = await list_children(server)
        run = await wait_for_end(server, child["run_id"])
    assert text_of(chunks) == "It has started."
    assert (child["agent"], run["result"]) == ("researcher", "Seven.")


async def test_result_in_the_agents_own_form_is_the_result_of_the_run(tmp_path: Path) -> None:
    more = "tools: []\noutput:\n  name: report\n  schema: {type: object}\n"
    hand_in = {"when": "find oaks", **call("complete_task", report={"oaks": 7})}
    async with serve(write_agent(tmp_path, more), [START, hand_in, STARTED]) as server:
        await server.chat("start it")
        [child] = await list_children(server)
        run = await wait_for_end(server, child["run_id"])
    assert (run["reason"], run["result"]) == ("goal", {"oaks": 7})


async def test_agent_in_the_background_has_no_tool_that_its_caller_lacks(tmp_path: Path) -> None:
    write_agent(tmp_path, "")
    write_agent(tmp_path, "tools: [researcher, look]\n", name="boss")
    tools = [make_tool(lambda: "seen", name=name, description=name) for name in ("look", "smash")]
    answer, gate = held("Seven.")
    async with serve(tmp_path, [START, answer, STARTED, "Eight."], tools) as server:
        await server.chat("start it", agent="boss")
        gate.open()
        [child] = await list_children(server)
        await wait_for_end(server, child["run_id"])
        again = await server.chat("and elms?", session_id=child["session_id"])
        offered = [
            {tool.name for tool in request.tools}
            for request in server.model.requests
            if "You are the researcher" in str(request.messages)
        ]
    assert text_of(again) == "Eight."  # a message to the task's own session is answered by its agent
    assert offered == [{"look"}, {"look"}]


async def test_task_has_no_more_than_its_caller_has_left(tmp_path: Path) -> None:
    write_agent(tmp_path, "tools: []\nmax_tokens: 9000\nmax_depth: 3\n")
    write_agent(tmp_path, "tools: [researcher]\nmax_tokens: 5000\nmax_depth: 2\n", name="boss")
    replies = [{**START, "usage": Usage(900, 100)}, {"when": "find oaks", "text": "Seven."}, STARTED]
    async with serve(tmp_path, replies) as server:
        await server.chat("start it", agent="boss")
        [child] = await list_children(server)
        await wait_for_end(server, child["run_id"])
        limits = (await server.app.runs.get(child["run_id"])).spec.input["limits"]
    assert (limits["tokens"], limits["depth"], 0 < limits["seconds"] <= 600) == (4000, 1, True)


async def test_task_ends_at_what_its_caller_had_left(tmp_path: Path) -> None:
    dig, gate = make_gate()
    gate.set()
    write_agent(tmp_path, "tools: [dig]\n")
    write_agent(tmp_path, "tools: [researcher, dig]\nmax_tokens: 1100\n", name="boss")
    held_call = {"when": "find oaks", **call("dig", where="here"), "usage": Usage(200, 0)}
    replies = [{**START, "usage": Usage(1000, 0)}, held_call, "Six, I think.", "It has started."]
    async with serve(tmp_path, replies, [dig]) as server:
        await server.chat("start it", agent="boss")
        [child] = await list_children(server)
        run = await wait_for_end(server, child["run_id"])
    assert run["limit"] == "max-tokens"


def start_many(number: int) -> dict[str, Any]:
    calls = [call("researcher", f"c{n}", query=f"find oaks {n}", background=True) for n in range(number)]
    return {"when": "start it", "tool_calls": [each["tool_calls"][0] for each in calls]}


@pytest.mark.parametrize(
    ("limit", "used"),
    [("max_calls: 6", Usage()), ("max_tokens: 600", Usage(100, 0)), ("max_cost: 0.006", Usage(0, 100))],
    ids=["requests", "tokens", "money"],
)
async def test_tasks_and_their_caller_share_one_limit(tmp_path: Path, limit: str, used: Usage) -> None:
    dig, gate = make_gate()
    gate.set()
    write_agent(tmp_path, "tools: [dig]\n")
    write_agent(tmp_path, f"tools: [researcher, dig]\n{limit}\n", name="boss")
    look = {"when": "dug here", **call("dig", where="here"), "usage": used, "repeat": True}
    replies = [{**start_many(10), "usage": used}, look]
    replies += [{"when": "oaks", **call("dig", where="here"), "usage": used, "repeat": True}]
    replies += [{"text": "That is all.", "usage": used, "repeat": True}]
    settings = {"model": {"prices": {"scripted:model": {"input": 0.0, "output": 10.0}}}}
    settings |= {
        "agents": {"researcher": {"options": {"max_tokens": 100}}, "boss": {"options": {"max_tokens": 100}}}
    }
    async with serve(tmp_path, replies, [dig], settings) as server:
        chunks = await server.chat("start it", agent="boss")
        for child in await list_children(server):
            await wait_for_end(server, child["run_id"])
        left = await server.app.runs.database.read(
            lambda one: one.exec_driver_sql("SELECT * FROM reservations").all()
        )
        sent = len(server.model.requests)
    assert chunks[-1]["type"] == "finish"
    # Tokens are checked before a request: those in progress at once may exceed them, and a last answer each.
    assert 2 <= sent <= (2 * 11 if "tokens" in limit else 6)
    assert left == []


async def test_task_whose_caller_has_ended_draws_on_what_the_caller_left(tmp_path: Path) -> None:
    dig, gate = make_gate()
    write_agent(tmp_path, "tools: [dig]\n")
    write_agent(tmp_path, "tools: [researcher, dig]\nmax_calls: 5\n", name="boss")
    replies = [START, STARTED, {"when": "find oaks", **call("dig", where="here")}]
    async with serve(tmp_path, replies, [dig]) as server:
        await server.chat("start it", agent="boss")
        [child] = await list_children(server)
        await wait_for_event(server, child["run_id"], "tool-start")
    again = call("dig", "c9", where="there")
    async with serve(tmp_path, [again, "Seven, I think.", "Not sent."], [dig]) as server:  # after a restart
        gate.set()
        run = await wait_for_end(server, child["run_id"])
        sent = len(server.model.requests)
    assert (run["limit"], run["result"], sent) == ("max-calls", "Seven, I think.", 2)


@pytest.mark.parametrize(
    ("limit", "told"), [("max_children: 1", "limit of 1 children"), ("max_depth: 0", "depth limit")]
)
async def test_tasks_count_as_agents_below_the_run(tmp_path: Path, limit: str, told: str) -> None:
    write_agent(tmp_path)
    write_agent(tmp_path, f"tools: [researcher]\n{limit}\n", name="boss")
    both = call("researcher", query="find oaks", background=True)["tool_calls"]
    both += call("researcher", "c2", query="find elms", background=True)["tool_calls"]
    if "depth" in limit:  # without a level below there is nothing to offer
        both = call("researcher", query="find oaks")["tool_calls"]
    answer, gate = held("Seven.")
    replies = [{"when": "start it", "tool_calls": both}, answer, {"when": told, "text": "One was refused."}]
    async with serve(tmp_path, replies) as server:
        chunks = await server.chat("start it", agent="boss")
        gate.open()
        children = await list_children(server)
        for child in children:
            await wait_for_end(server, child["run_id"])
    assert text_of(chunks) == "One was refused."
    assert len(children) == (0 if "depth" in limit else 1)


async def test_deleting_a_session_cancels_and_deletes_what_works_in_its_background(tmp_path: Path) -> None:
    dig_ended = asyncio.Event()

    async def dig(where: str) -> str:
        """Dig without end."""
        try:
            return await asyncio.Future()
        finally:
            dig_ended.set()

    replies = [START, {"when": "find oaks", **call("dig", where="here")}, STARTED]
    async with serve(
        write_agent(tmp_path, "tools: [dig]\n"), replies, [make_tool(dig, kind=Kind.Read)]
    ) as server:
        await server.chat("start it")
        [child] = await list_children(server)
        await wait_for_event(server, child["run_id"], "tool-start")
        assert (await server.client.delete("/api/v1/sessions/s")).status_code == 204
        gone = await server.client.get(f"/api/v1/sessions/{child['session_id']}")
        await dig_ended.wait()
        async for _ in retrying(backoff(0.01, 0.1)):  # it is about to end
            if (await server.client.get(f"/api/v1/runs/{child['run_id']}")).status_code == 404:
                break
    assert gone.status_code == 404


async def test_cancelling_the_caller_leaves_its_task_at_work(tmp_path: Path) -> None:
    dig, gate = make_gate()
    wait = {"when": "works in the background", **call("dig", "c2", where="there")}
    replies = [START, {"when": "find oaks", **call("dig", where="here")}, wait]
    replies += [{"when": "dug here", "text": "Seven oaks."}]
    async with serve(write_agent(tmp_path, "tools: [dig]\n"), replies, [dig]) as server:
        body = {"message": "start it", "session_id": "s"}
        async for chunk in server.stream("POST", "/api/v1/chat", json=body):
            if chunk["type"] == "start":
                run_id = chunk["messageMetadata"]["run_id"]
            if chunk["type"] == "tool-input-available" and chunk["toolCallId"] == "c2":
                await server.client.post(f"/api/v1/runs/{run_id}/cancel", json={})
        [child] = await list_children(server)
        caller = await server.get(f"/api/v1/runs/{run_id}")
        gate.set()
        run = await wait_for_end(server, child["run_id"])
    assert (caller["reason"], run["reason"], run["result"]) == ("cancelled", "goal", "Seven oaks.")


async def test_question_of_a_task_is_listed_with_both_sessions_and_answered(tmp_path: Path) -> None:
    def fell(tree: str) -> str:
        """Fell a tree."""
        return f"felled {tree}"

    replies = [START, {"when": "find oaks", **call("fell", tree="oak")}, STARTED]
    replies += [{"when": "felled oak", "text": "It is down."}]
    tools = [make_tool(fell, kind=Kind.Execute)]
    async with serve(write_agent(tmp_path, "tools: [fell]\n"), replies, tools) as server:
        await server.chat("start it")
        [started] = await list_children(server)
        await wait_for_event(server, started["run_id"], "ask-request")
        [child] = await list_children(server)
        asks = (await server.get("/api/v1/asks"))["asks"]
        await server.client.post(f"/api/v1/asks/{asks[0]['id']}", json={"approved": True})
        run = await wait_for_end(server, child["run_id"])
    assert (asks[0]["session_id"], asks[0]["parent_session_id"]) == (child["session_id"], "s")
    assert child["state"] == "waiting"
    assert run["result"] == "It is down."


async def test_message_over_http_is_answered_in_the_background(tmp_path: Path) -> None:
    replies = ["Hello.", {"when": "find oaks", "text": "Seven."}, {"when": "alone", "text": "Fine."}]
    async with serve(write_agent(tmp_path), replies) as server:
        await server.chat("Hi")
        body = {"message": "find oaks", "background": True, "agent": "researcher"}
        response = await server.client.post("/api/v1/chat", json={**body, "session_id": "s"})
        started = response.json()
        run = await wait_for_end(server, started["run_id"])
        [child] = await list_children(server)
        unknown = await server.client.post("/api/v1/chat", json={**body, "session_id": "nothing"})
        alone = await server.client.post("/api/v1/chat", json={"message": "alone", "background": True})
        await wait_for_end(server, alone.json()["run_id"])
        listed = (await server.get("/api/v1/sessions"))["sessions"]
        view = await server.get(f"/api/v1/sessions/{started['session_id']}")
    assert response.status_code == 202
    assert set(started) == {"session_id", "run_id", "message_id"}
    assert (child["session_id"], child["run_id"]) == (started["session_id"], started["run_id"])
    assert (child["call_id"], run["result"]) == (None, "Seven.")
    assert view["path"][-1]["id"] == started["message_id"]
    assert unknown.status_code == 404
    assert [session["id"] for session in listed] == [alone.json()["session_id"], "s"]


def use_tasks(when: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    return {"when": when, **call("background_tasks", call_id, **arguments)}


async def test_model_lists_reads_and_continues_its_tasks(tmp_path: Path) -> None:
    answer, gate = held("Seven oaks.")
    elms, may_end = held("Two elms.", "and elms?")
    async with serve(write_agent(tmp_path), [START, answer, STARTED]) as server:
        await server.chat("start it")
        gate.open()
        [child] = await list_children(server)
        await wait_for_end(server, child["run_id"])
        task_id = child["session_id"]
        server.model.script.add(
            use_tasks("Background task", "l", action="list"),  # the notice follows the question
            use_tasks("ended by goal", "r", action="read", task_id=task_id),
            use_tasks("Seven oaks.", "m", action="message", task_id=task_id, message="and elms?"),
            elms,
            {"when": "continues with this message", "text": "It looks for elms."},
        )
        chunks = await server.chat("what works?")
        may_end.open()
        [revived] = await list_children(server)
        run = await wait_for_end(server, revived["run_id"])
        view = await server.get(f"/api/v1/sessions/{task_id}")
    assert text_of(chunks) == "It looks for elms."
    assert revived["run_id"] != child["run_id"]
    assert run["result"] == "Two elms."
    texts = [part["text"] for message in view["path"] for part in message["parts"] if "text" in part]
    assert texts == ["find oaks", "Seven oaks.", "and elms?", "Two elms."]


async def test_model_cancels_a_task_and_cannot_reach_those_of_other_sessions(tmp_path: Path) -> None:
    dig, _ = make_gate()
    replies: list[Any] = [START, {"when": "find oaks", **call("dig", where="here")}, STARTED]
    async with serve(write_agent(tmp_path, "tools: [dig]\n"), replies, [dig]) as server:
        await server.chat("start it")
        [child] = await list_children(server)
        task_id = child["session_id"]
        server.model.script.add(
            use_tasks("elsewhere", "x", action="cancel", task_id=task_id),
            {"when": "not found", "text": "I do not know it."},
            use_tasks("stop it", "x", action="cancel", task_id=task_id),
            use_tasks("without an id", "y", action="read"),
            {"when": "needs `task_id`", "text": "I need one."},
            {"when": "asked to stop", "text": "It stops."},
            {"when": "was cancelled", "text": "It stops.", "repeat": True},
        )
        stranger = await server.chat("elsewhere", session_id="other")
        without = await server.chat("without an id")
        own = await server.chat("stop it")
        run = await wait_for_end(server, child["run_id"])
    assert text_of(stranger) == "I do not know it."
    assert (text_of(own)[:9], run["reason"]) == ("It stops.", "cancelled")
    assert text_of(without) == "I need one."


def list_notices(request: Any) -> list[str]:
    """Return the notices that a request to the model holds."""
    contents = [str(message["content"]) for message in request.messages if message["role"] == "user"]
    return [content for content in contents if content.startswith("[Background task")]


async def test_caller_at_work_reads_the_notice_in_its_next_turn(tmp_path: Path) -> None:
    dig, gate = make_gate()
    answer, may_end = held("Seven oaks.")
    wait = {"when": "works in the background", **call("dig", "c2", where="there")}
    noticed = {"when": "[Background task", "text": "It found seven."}
    async with serve(write_agent(tmp_path), [START, answer, wait, noticed, "Fine."], [dig]) as server:
        chunks: list[dict[str, Any]] = []
        async for chunk in server.stream(
            "POST", "/api/v1/chat", json={"message": "start it", "session_id": "s"}
        ):
            chunks.append(chunk)
            if chunk["type"] == "tool-input-available" and chunk["toolCallId"] == "c2":
                may_end.open()
                [child] = await list_children(server)
                await wait_for_end(server, child["run_id"])
                gate.set()
        run_id = chunks[0]["messageMetadata"]["run_id"]
        journal = [event async for event in server.stream("GET", f"/api/v1/runs/{run_id}/events")]
        inbox = (await server.get("/api/v1/sessions/s/inbox"))["messages"]
        await server.chat("thanks")
        last, after = server.model.requests[-2:]
    assert text_of(chunks) == "It found seven."
    notice = f"[Background task {child['session_id']!r} (agent 'researcher') is done.]\nResult:\nSeven oaks."
    assert list_notices(last) == list_notices(after) == [notice]  # it is part of the conversation, once
    [taken] = [event for event in journal if event["type"] == "user-message"]
    assert (taken["kind"], taken["parts"][0]["text"]) == ("notice", notice)
    data = {"task_id": child["session_id"], "run_id": child["run_id"], "agent": "researcher"}
    assert taken["parts"][1] == {"type": "data-task", "data": data}
    assert inbox == []


async def test_model_sends_a_message_to_a_task_at_work(tmp_path: Path) -> None:
    dig, gate = make_gate()
    replies: list[Any] = [START, {"when": "find oaks", **call("dig", where="here")}, STARTED]
    async with serve(write_agent(tmp_path, "tools: [dig]\n"), replies, [dig]) as server:
        await server.chat("start it")
        [child] = await list_children(server)
        await wait_for_event(server, child["run_id"], "tool-start")
        server.model.script.add(
            use_tasks("tell it", "m", action="message", task_id=child["session_id"], message="only old ones"),
            {"when": "gets this message in its next turn", "text": "It knows."},
            {"when": "only old ones", "text": "Two old oaks."},
        )
        chunks = await server.chat("tell it")
        gate.set()
        run = await wait_for_end(server, child["run_id"])
    assert text_of(chunks) == "It knows."
    assert run["result"] == "Two old oaks."


@pytest.mark.parametrize("way", ["model", "http"])
async def test_task_with_a_message_that_waits_can_be_cancelled(tmp_path: Path, way: str) -> None:
    answer, gate = held("Seven oaks.")
    async with serve(write_agent(tmp_path), [START, answer, STARTED]) as server:
        await server.chat("start it")
        [child] = await list_children(server)
        run_id, task_id = child["run_id"], child["session_id"]
        await gate.reached.async_wait()
        body = {"message": "and elms?", "mode": "queue"}
        assert (await server.client.post(f"/api/v1/runs/{run_id}/messages", json=body)).status_code == 202
        server.model.script.add({"when": "and elms?", "text": "Two elms.", "repeat": True})
        if way == "http":
            assert (await server.client.post(f"/api/v1/runs/{run_id}/cancel")).status_code == 202
        else:
            server.model.script.add(
                use_tasks("stop it", "x", action="cancel", task_id=task_id),
                {"when": "asked to stop", "text": "It stops."},
                {"when": "was cancelled", "text": "It stops.", "repeat": True},
            )
            await server.chat("stop it")
        assert (await wait_for_end(server, run_id))["reason"] == "cancelled"
        await server.app.runs.inbox.look()
        [task] = await list_children(server)
        inbox = (await server.get(f"/api/v1/sessions/{task_id}/inbox"))["messages"]
    assert (task["run_id"], task["state"], task["reason"]) == (run_id, "ended", "cancelled")
    assert inbox == []


async def test_message_over_http_continues_a_task_and_its_new_end_is_a_notice(tmp_path: Path) -> None:
    answer, gate = held("Seven oaks.")
    async with serve(write_agent(tmp_path), [START, answer, STARTED]) as server:
        await server.chat("start it")
        gate.open()
        [child] = await list_children(server)
        await wait_for_end(server, child["run_id"])
        server.model.script.add({"when": "and elms?", "text": "Two elms."}, "Both.")
        path = f"/api/v1/runs/{child['run_id']}/messages"
        sent = await server.client.post(path, json={"message": "and elms?"})
        [revived] = await list_children(server)
        run = await wait_for_end(server, revived["run_id"])
        await server.chat("what did it find?")
    assert (sent.status_code, sent.json()["mode"]) == (202, "queue")
    assert (revived["session_id"], revived["run_id"] != child["run_id"]) == (child["session_id"], True)
    assert run["result"] == "Two elms."
    notices = list_notices(server.model.requests[-1])
    assert [notice.rpartition("\n")[2] for notice in notices] == ["Seven oaks.", "Two elms."]


async def test_failed_task_and_deleted_task_are_reported(tmp_path: Path) -> None:
    dig, _ = make_gate()
    both = call("researcher", "c1", query="find oaks", background=True)["tool_calls"]
    both += call("researcher", "c2", query="find elms", background=True)["tool_calls"]
    replies: list[Any] = [{"when": "start it", "tool_calls": both}]
    replies += [{"when": "find elms", **call("dig", where="here")}]
    failing = {"when": "find oaks", "steps": [{"hold": "oaks"}, {"error": "The forest burns."}]}
    replies += [failing, STARTED]
    async with serve(write_agent(tmp_path, "tools: [dig]\n"), replies, [dig]) as server:
        await server.chat("start it")
        server.model.script.gate("oaks").open()
        first, second = await list_children(server)
        await wait_for_end(server, first["run_id"])
        await server.client.delete(f"/api/v1/sessions/{second['session_id']}")
        server.model.script.add("I see.")
        await server.chat("how are they?")
        notices = list_notices(server.model.requests[-1])
    assert len(notices) == 2
    assert "ended by error.]\nError: " in notices[0]
    assert notices[1].endswith("was deleted before its end.]")


async def test_task_of_an_agent_with_an_inherited_model_asks_the_model_of_its_caller(tmp_path: Path) -> None:
    replies = [START, {"when": "find oaks", "text": "Seven oaks."}, STARTED]
    with ScriptedServer(replies) as provider:
        desk = {"base_url": provider.url, "api_key": "none"}
        settings = {"model": {"name": "desk:usual", "providers": {"desk": desk}}}
        app = Dovetail(settings, workspace=write_agent(tmp_path, "model: inherit\ntools: []\n"))
        async with (
            serve_app(app) as address,
            httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client,
        ):
            server = Serving(app, ScriptedRequester([]), client, address)
            await server.chat("start it", model="desk:other")
            [child] = await list_children(server)
            run = await wait_for_end(server, child["run_id"])
    assert (run["model"], run["result"]) == ("desk:other", "Seven oaks.")
