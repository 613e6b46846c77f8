"""The research assistant from outside: agents in parallel and in the background, a schedule, sources."""

import re
import shutil
import tomllib
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from dovetail.testing import Gate
from serving import Serving, serve, text_of

WORKSPACE = Path(__file__).parents[2] / "examples" / "research_assistant"
COSTS = "[[1]](/ext/library/current/documents/costs.md)"
HEAT = "[[3]](/ext/library/current/documents/heat-report.md)"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A copy of the workspace."""
    return shutil.copytree(WORKSPACE, tmp_path / "library", ignore=shutil.ignore_patterns(".dovetail"))


def open_library(folder: Path, *replies: Any) -> AbstractAsyncContextManager[Serving]:
    return serve(folder, replies, settings=tomllib.loads((folder / "dovetail.toml").read_text()))


def call(name: str, call_id: str = "c1", /, **arguments: Any) -> dict[str, Any]:
    return {"call_id": call_id, "name": name, "arguments": arguments}


async def read_sources(server: Serving, text: str) -> list[str]:
    """Follow the links of an answer; return the documents."""
    links = re.findall(r"\[\[\d+\]\]\((/ext/[^)]+)\)", text)
    replies = [await server.client.get(link, follow_redirects=True) for link in links]
    assert [reply.status_code for reply in replies] == [200] * len(links)
    return [reply.text for reply in replies]


async def wait_for_end(server: Serving, run_id: str) -> dict[str, Any]:
    async for _ in server.stream("GET", f"/api/v1/runs/{run_id}/events"):
        pass
    return await server.get(f"/api/v1/runs/{run_id}")


async def test_passages_carry_citations_that_lead_to_their_documents(library: Path) -> None:
    search = {"tool_calls": [call("find_facts", question="What does planting a street tree cost?")]}
    async with open_library(library, search, f"It costs 2,900 euros {COSTS}.") as server:
        chunks = await server.chat("What does a street tree cost?")
        [passages] = [chunk["output"] for chunk in chunks if chunk["type"] == "tool-output-available"]
        for passage in passages:
            [document] = await read_sources(server, passage["citation"])
            assert passage["text"] in " ".join(document.split())
        [source] = await read_sources(server, text_of(chunks))
        read = server.model.requests[-1].messages[-1]["content"]
    assert COSTS in [passage["citation"] for passage in passages]
    assert f"three years of watering {COSTS}. Where pipes have to be moved" in read
    assert "Planting a street tree costs 2,900 euros" in source


async def test_parts_of_a_question_are_researched_at_the_same_time(library: Path) -> None:
    both = [call("researcher", "a", question="The cost?"), call("researcher", "b", question="The heat?")]
    gate = Gate()
    replies = [
        {"when": "cost and heat", "tool_calls": both},
        {"when": "The cost?", "steps": [gate, f"2,900 euros {COSTS}."]},
        lambda request: gate.open() or f"3.7 degrees cooler {HEAT}.",  # opens the way of the other one
        {"when": "degrees cooler", "text": f"2,900 euros {COSTS}; 3.7 degrees cooler {HEAT}."},
    ]
    async with open_library(library, *replies) as server:
        chunks = await server.chat("Compare cost and heat.")
        costs, heat = await read_sources(server, text_of(chunks))
        [(_, cost_tools), (_, heat_tools)] = [
            (request, [spec.name for spec in request.tools])
            for request in server.model.requests
            if "answer one question" in str(request.messages[0]["content"])
        ]
    assert "2,900 euros" in costs
    assert "3.7 degrees cooler" in heat
    assert cost_tools == heat_tools == ["find_facts"]


async def test_report_is_written_in_the_background_and_its_end_is_a_notice(library: Path) -> None:
    gate = Gate()
    replies = [
        {"when": "a report on heat", "tool_calls": [call("report_writer", topic="heat")]},
        {"when": "Call find_facts: heat", "steps": [gate, f"# Heat\n\nShade helps {HEAT}."]},
        {"when": "works in the background", "text": "It has begun."},
        {"when": "Shade helps", "text": "Yes: shade helps."},
    ]
    async with open_library(library, *replies) as server:
        begun = text_of(await server.chat("I need a report on heat."))
        [task] = (await server.get("/api/v1/sessions/s/children"))["children"]
        gate.open()
        report = await wait_for_end(server, task["run_id"])
        ready = text_of(await server.chat("Is it ready?"))
        [document] = await read_sources(server, report["result"])
    assert (begun, task["agent"], task["state"]) == ("It has begun.", "report_writer", "running")
    assert ready == "Yes: shade helps."
    assert "Heat in the old town" in document


async def test_digest_is_scheduled_and_can_be_run_at_once(library: Path) -> None:
    replies = [
        {"when": "Which documents", "tool_calls": [call("list_library")]},
        lambda request: "\n".join(re.findall(r"\[\[\d+\]\]\([^)]+\)", request.messages[-1]["content"])),
    ]
    async with open_library(library, *replies) as server:
        [schedule] = (await server.get("/api/v1/schedules"))["schedules"]
        started = await server.client.post(f"/api/v1/schedules/{schedule['id']}/run")
        run = await wait_for_end(server, started.json()["run_id"])
        session = await server.get(f"/api/v1/sessions/{started.json()['session_id']}")
        documents = await read_sources(server, run["result"])
    assert (schedule["id"], schedule["title"], schedule["enabled"]) == ("digest.1", "Weekly digest", True)
    assert started.status_code == 202
    assert session["title"] == "Weekly digest"
    assert len(documents) == len(list((library / "extensions/library/web/documents").glob("*.md")))
