"""The tasks of a session, as its runs reach them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dovetail.agents.background import offer_background
from dovetail.app import Dovetail
from dovetail.errors import NotFoundError, StoreError
from dovetail.events.run_context import RunContext, entered
from dovetail.events.tool_context import ToolContext
from dovetail.loop.budget import Budget, BudgetLimits
from dovetail.sessions.request import ChatRequest
from dovetail.sessions.store import SessionStore
from dovetail.settings import as_settings
from dovetail.testing import ScriptedRequester
from postgres import make_database, uses_postgres
from serving import ScriptedRuntime

AGENT = "---\ndescription: Looks.\ntools: []\n---\nYou look.\n"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=uses_postgres)])
async def app(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Dovetail]:
    url = None if request.param == "sqlite" else await make_database()
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "scout.md").write_text(AGENT)
    model = ScriptedRequester([{"when": "hi", "text": "Hello.", "repeat": True}, "Seen."])
    runtime = ScriptedRuntime(model, as_settings({"store": {"url": url}} if url else {}))
    async with Dovetail(workspace=tmp_path, runtime=runtime) as app:
        await app.open_chat()
        for name in ("s", "other"):
            started = await app.chat.send(
                ChatRequest(parts=[{"type": "text", "text": "hi"}], session_id=name)
            )
            await started.handle.result()
        yield app


async def make_context(app: Dovetail, budget: Budget, session_id: str = "s") -> RunContext:
    tasks = app.chat.open_tasks(await app.sessions.get(session_id))
    path, agents = ("run_x",), ("master",)
    return RunContext(
        owner="local",
        session_id=session_id,
        run_path=path,
        agent_path=agents,
        budget=budget,
        background=tasks,
    )


async def test_call_that_is_repeated_after_a_crash_starts_no_second_task(app: Dovetail) -> None:
    tool = offer_background(app.tools.snapshot(), app).get("scout")
    assert tool is not None
    budget = Budget(BudgetLimits(width=1))
    context = await make_context(app, budget)
    with entered(context):
        arguments = {"query": "look", "background": True}
        call = ToolContext(call_id="c", scope=context)
        first, again = await tool.execute(arguments, call), await tool.execute(arguments, call)
        refused = await tool.execute(arguments, ToolContext(call_id="d", scope=context))
    assert first.data == again.data
    assert refused.error.type == "agent_not_started"
    [task] = await app.sessions.list_tasks("s")
    assert task.task_id == first.data["task_id"]
    assert await app.sessions.count_tasks("s", "run_x") == 1
    assert await app.sessions.count_tasks("s", "run_y") == 0


async def test_tasks_of_another_session_cannot_be_reached(app: Dovetail) -> None:
    started = await app.chat.send(
        ChatRequest(parts=[{"type": "text", "text": "look"}], session_id="s", background=True)
    )
    await started.handle.result()
    own = app.chat.open_tasks(await app.sessions.get("s"))
    others = app.chat.open_tasks(await app.sessions.get("other"))
    assert [task.task_id for task in await own.list()] == [started.session_id]
    assert (await own.read(started.session_id)).result == "Seen."
    assert await others.list() == []
    for act in (others.read, others.cancel):
        with pytest.raises(NotFoundError, match="not found in this session"):
            await act(started.session_id)
    with pytest.raises(NotFoundError, match="not found in this session"):
        await others.message(started.session_id, "hi", {})


async def test_task_cannot_start_below_a_session_that_was_deleted(app: Dovetail) -> None:
    tool = offer_background(app.tools.snapshot(), app).get("scout")
    assert tool is not None
    context = await make_context(app, Budget())
    await app.chat.delete("s", owner="local")
    with entered(context):
        result = await tool.execute(
            {"query": "look", "background": True}, ToolContext(call_id="c", scope=context)
        )
    assert result.error is not None
    assert "Session 's' not found." in result.error.message
    assert await app.sessions.list_tasks("s") == []


class Away(SessionStore):
    """Sessions whose database is away at the first look."""

    is_away = True

    async def count_tasks(self, session_id: str, run_id: str) -> int:
        if self.is_away:
            self.is_away = False
            raise StoreError("connection was closed in the middle of operation")
        return await super().count_tasks(session_id, run_id)


async def test_a_resumed_run_waits_for_the_number_of_its_tasks_while_the_database_is_away(
    app: Dovetail,
) -> None:
    chat = app.chat
    chat.sessions = Away(chat.sessions._database)
    tasks = chat.open_tasks(await app.sessions.get("s"))
    assert await tasks.count("run_x") == 0
    assert not chat.sessions.is_away
