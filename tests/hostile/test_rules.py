"""Every form of a rule about an agent against every way in which the agent can run: no denied call runs."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from mcp import Client

from dovetail.events.call import Kind, ModelRequest
from dovetail.server.mcp import ToolServer
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool
from patience import PATIENCE
from serving import Serving, serve

AGENT = "---\ndescription: Works.\ntools: [{tools}]\n---\nYou are the {name}.\n"
AGENTS = {"master": "mid, kid, look, note", "mid": "kid, look, note", "kid": "look, note"}
Go: TypeAlias = Callable[[Serving, str], Awaitable[Any]]


def obey(request: ModelRequest) -> Any:
    """Do as the plan says: `mid/kid&/look` is to call mid, which calls kid in the background, which looks."""
    said = "\n".join(str(message["content"]) for message in request.messages if message["role"] == "user")
    plan = re.search(r"plan ([\w/&]*)", said)
    if plan is None or any(message["role"] == "tool" for message in request.messages):
        return "Done."
    step, _, rest = plan[1].partition("/")
    arguments = {"query": f"plan {rest}"} | ({"background": True} if step.endswith("&") else {})
    return {"tool_calls": [{"name": step.rstrip("&"), "arguments": arguments if rest else {}}]}


def make_tools(ran: list[str]) -> list[Tool]:
    def look() -> str:
        """Look."""
        ran.append("look")
        return "seen"

    def note() -> str:
        """Write it down."""
        ran.append("note")
        return "noted"

    return [make_tool(look, kind=Kind.Read), make_tool(note, kind=Kind.Write)]


def write_agents(folder: Path) -> Path:
    (folder / "agents").mkdir()
    for name, tools in AGENTS.items():
        (folder / "agents" / f"{name}.md").write_text(AGENT.format(name=name, tools=tools))
    return folder


def write_rule(folder: Path, agent: str, tool: str = "look") -> None:
    (folder / "policy.toml").write_text(
        f'[[rule]]\naction = "deny"\ntool = "{tool}"\nagent = "{agent}"\nreason = "not here"\n'
    )


async def wait_for_all(server: Serving) -> None:
    """Wait until no run is in progress, those in the background included."""
    async with asyncio.timeout(PATIENCE):
        while running := await server.app.runs.store.find(state="running"):
            async for _ in server.stream("GET", f"/api/v1/runs/{running[0].id}/events"):
                pass


def chat(plan: str, agent: str = "master") -> Go:
    async def go(server: Serving, name: str) -> None:
        await server.chat(f"plan {plan}", name, agent=agent)

    return go


async def schedule(server: Serving, name: str) -> None:
    body = {"agent": "kid", "message": "plan look", "schedule": "0 0 1 1 *"}
    created = await server.client.post("/api/v1/schedules", json=body)
    ran = await server.client.post(f"/api/v1/schedules/{created.json()['id']}/run")
    assert ran.is_success, ran.text


async def call_over_http(server: Serving, name: str) -> None:
    called = await server.client.post("/api/v1/tools/kid/call", json={"arguments": {"query": "plan look"}})
    assert called.is_success, called.text


async def call_on_trial(server: Serving, name: str) -> None:
    body = {"arguments": {"query": "plan look"}, "tab_id": "t"}
    called = await server.client.post("/api/v1/tools/kid/call", json=body)
    assert called.is_success, called.text


async def call_over_mcp(server: Serving, name: str) -> None:
    app = server.app
    async with Client(ToolServer(app.tools, app.runtime.runner, ["kid"], "default").server) as client:
        await client.call_tool("kid", {"query": "plan look"})


WAYS: dict[str, tuple[str, Go]] = {
    "the chat's own": ("kid", chat("look", "kid")),
    "called": ("master/kid", chat("kid/look")),
    "called by another": ("mid/kid", chat("kid/look", "mid")),
    "nested": ("master/mid/kid", chat("mid/kid/look")),
    "background": ("master/kid", chat("kid&/look")),
    "background of a child": ("master/mid/kid", chat("mid/kid&/look")),
    "below a task": ("master/mid/kid", chat("mid&/kid/look")),
    "task of a task": ("master/mid/kid", chat("mid&/kid&/look")),
    "schedule": ("kid", schedule),
    "HTTP": ("kid", call_over_http),
    "trial": ("kid", call_on_trial),
    "MCP": ("kid", call_over_mcp),
}
FORMS: dict[str, set[str]] = {
    "kid": {"kid", "master/kid", "mid/kid", "master/mid/kid"},
    "*kid": {"kid", "master/kid", "mid/kid", "master/mid/kid"},
    "k[hi]?": {"kid", "master/kid", "mid/kid", "master/mid/kid"},
    "*": {"kid", "master/kid", "mid/kid", "master/mid/kid"},
    "*/kid": {"master/kid", "mid/kid", "master/mid/kid"},
    "master/kid": {"master/kid"},
    "mid/kid": {"mid/kid", "master/mid/kid"},
    "master/*": {"master/kid", "master/mid/kid"},
    "master/*/kid": {"master/mid/kid"},
    "/kid": {"kid"},
    "/master/kid": {"master/kid"},
    "/mid/kid": {"mid/kid"},
    "/*/kid": {"master/kid", "mid/kid", "master/mid/kid"},
    "master": set(),
    "kid/*": set(),
    "ki": set(),
    "main/kid": set(),
}


@pytest.mark.parametrize("way", WAYS)
async def test_rule_about_an_agent_holds_wherever_that_agent_runs(tmp_path: Path, way: str) -> None:
    path, go = WAYS[way]
    ran: list[str] = []
    found: dict[str, bool] = {}
    async with serve(write_agents(tmp_path), [obey] * 200, make_tools(ran)) as server:
        for number, form in enumerate(FORMS):
            write_rule(tmp_path, form)
            server.app.runtime.policy.reload()
            ran.clear()
            await go(server, f"s{number}")
            await wait_for_all(server)
            found[form] = not ran
    assert found == {form: path in denied for form, denied in FORMS.items()}


@pytest.mark.parametrize("form", ["kid", "master/kid", "*/kid", "*kid", "/master/kid"])
async def test_task_that_waits_over_a_restart_keeps_the_path_of_its_caller(tmp_path: Path, form: str) -> None:
    ran: list[str] = []
    async with serve(write_agents(tmp_path), [obey] * 9, make_tools(ran)) as server:
        await server.chat("plan kid&/note")
        [child] = (await server.get("/api/v1/sessions/s/children"))["children"]
        async for event in server.stream("GET", f"/api/v1/runs/{child['run_id']}/events"):
            if event["type"] == "ask-request":
                assert event["payload"]["agent_path"] == ["master", "kid"]
                break
    write_rule(tmp_path, form, "note")
    async with serve(tmp_path, [obey] * 9, make_tools(ran)) as server:
        [ask] = (await server.get("/api/v1/asks"))["asks"] or [None]
        if ask is not None:
            await server.client.post(f"/api/v1/asks/{ask['id']}", json={"approved": True})
        await wait_for_all(server)
    assert ran == []


HELD = {"the chat's own": "note", "called": "kid/note", "nested": "mid/kid/note", "background": "kid&/note"}


@pytest.mark.parametrize("way", HELD)
@pytest.mark.parametrize("remember", ["once", "always"])
async def test_rule_that_is_added_reaches_the_approval_that_is_open(
    tmp_path: Path, way: str, remember: str
) -> None:
    ran: list[str] = []
    async with serve(write_agents(tmp_path), [obey] * 9, make_tools(ran)) as server:
        started = asyncio.create_task(server.chat(f"plan {HELD[way]}"))
        async with asyncio.timeout(PATIENCE):
            while not (asks := (await server.get("/api/v1/asks"))["asks"]):
                await asyncio.wait([started], timeout=0.01)
        before = await server.get("/api/v1/policy/file")
        rule = '[[rule]]\naction = "deny"\ntool = "note"\nreason = "closed today"\n'
        body = {"text": rule, "version": before["version"]}
        assert (await server.client.put("/api/v1/policy/file", json=body)).is_success
        answer = {"approved": True, "remember": remember}
        assert (await server.client.post(f"/api/v1/asks/{asks[0]['id']}", json=answer)).is_success
        await started
        await wait_for_all(server)
        told = any(
            "closed today. The rules have changed" in str(sent.messages) for sent in server.model.requests
        )
    assert (ran, told) == ([], True)
