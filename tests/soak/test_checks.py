"""The checks of the soak report each kind of damage, and a soak that does not end reports what is open."""

import itertools
import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from dovetail.events.delta import Usage
from dovetail.events.model_events import TextDeltaEvent, TextEnd, TextStart, ToolInputEnd, ToolInputStart
from dovetail.events.run_events import Entry, RunEnd, RunStart, ToolEnd, ToolStart, TurnEnd
from dovetail.sessions.parts import fold_parts
from faults.brain import say
from resume.machine import Machine
from resume.world import World
from soak.brain import SoakBrain, plan_job
from soak.checks import find_damage
from soak.ending import describe_open, read_log, wait_for_end
from soak.people import Conversation
from soak.workspace import get_ledger, write_workspace

SEED = 7
JOB = next(f"job {n}" for n in itertools.count() if plan_job(f"job {n}", SEED) == [("note",)])
EFFECT = f"note {JOB}/0/0"
SESSION = "/api/v1/sessions/p0-0"
EVENTS = (
    RunStart("master", "openai:x"),
    TextStart("text_0"),
    TextDeltaEvent("text_0", say(JOB, 0)),
    TextEnd("text_0"),
    ToolInputStart("call_1", "note"),
    ToolInputEnd("call_1", "note", {"key": f"{JOB}/0/0"}),
    ToolStart("call_1", "write", "note"),
    ToolEnd("call_1", "ok", {"llm_content": "done", "data": None}),
    TurnEnd(1, Usage(), "tool_calls"),
    TextStart("text_1"),
    TextDeltaEvent("text_1", say(JOB, 1)),
    TextEnd("text_1"),
    TurnEnd(2, Usage(), "stop"),
    RunEnd("goal"),
)


@dataclass
class Service:
    """A service that has answered one question; a test damages what it has."""

    folder: Path
    talk: Conversation = field(default_factory=lambda: Conversation("p0-0", accepted=[JOB]))
    journal: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    pages: dict[str, Any] = field(default_factory=dict[str, Any])
    booked: int = 2
    held: int = 0

    def __post_init__(self) -> None:
        write_workspace(self.folder)
        self.add_effect(EFFECT)
        entries = [Entry(number, "run_1", ("run_1",), 0.0, event) for number, event in enumerate(EVENTS, 1)]
        self.journal = [json.loads(json.dumps(entry.to_dict())) for entry in entries]
        question = {"id": "q", "parent_id": None, "role": "user", "parts": [_text(JOB)], "metadata": {}}
        answer = {"id": "a", "parent_id": "q", "role": "assistant", "parts": fold_parts(entries)}
        path = [question, {**answer, "metadata": {"run_id": "run_1"}}]
        run = {"id": "run_1", "title": JOB, "state": "ended", "reason": "goal"}
        self.pages = {
            "/api/v1/runs?limit=200": {"runs": [run], "cursor": None},
            "/api/v1/runs/run_1": {"last_number": len(entries)},
            "/api/v1/asks": {"asks": []},
            "/api/v1/schedules": {"schedules": []},
            "/api/v1/tools": {"tools": [{"name": "note", "description": "Edition 1."}]},
            SESSION: {"path": path, "run_id": None},
            f"{SESSION}/messages?limit=500": {"messages": list(path)},
            f"{SESSION}/children": {"children": []},
            f"{SESSION}/inbox": {"messages": []},
        }

    @property
    def storage(self) -> "Service":
        """Its database."""
        return self

    @property
    def run(self) -> dict[str, Any]:
        """The row of its run."""
        return self.pages["/api/v1/runs?limit=200"]["runs"][0]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of all branches."""
        return self.pages[f"{SESSION}/messages?limit=500"]["messages"]

    def add_effect(self, effect: str) -> None:
        """Let a tool have an effect."""
        with get_ledger(self.folder).path.open("a") as ledger:
            ledger.write(f"{effect} 1\n")

    def add_schedule(self, *run_ids: str) -> None:
        """Have a schedule whose ticks started these runs."""
        ticks = [{"state": "started", "run_id": run_id, "session_id": "p0-0"} for run_id in run_ids]
        self.pages["/api/v1/schedules"]["schedules"].append({"id": "s", "last": None})
        self.pages["/api/v1/schedules/s"] = {"message": JOB, "ticks": ticks}

    def drop(self, kind: str) -> None:
        """Lose the events of a kind."""
        self.journal = [entry for entry in self.journal if entry["type"] != kind]
        self.pages["/api/v1/runs/run_1"]["last_number"] = self.journal[-1]["number"]

    async def get(self, path: str) -> Any:
        """Return a page."""
        pages = self.pages
        return pages[path.split("&")[0]] if path.startswith("/api/v1/runs?") else pages[path]

    async def stream(self, path: str) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the journal."""
        for entry in self.journal:
            yield entry

    async def fetch(self, query: str) -> list[Any]:
        """Return the requests that are booked, or held."""
        return [self.held if "reservations" in query else self.booked]

    async def find_damage(self) -> list[str]:
        """Find none in the database."""
        return []

    async def wait_until(self, *_: object) -> None:
        """Wait in vain."""
        raise AssertionError("timed out: the end of all runs")


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


async def find(service: Service) -> list[str]:
    """Check a service."""
    brain = SoakBrain(SEED)
    brain.requests = 2
    return await find_damage(cast(World, service), [service.talk], brain)


def _lose_answer(service: Service) -> None:
    del service.messages[1]


def _ask_below_question(service: Service) -> None:
    service.messages.append({**service.messages[0], "id": "q2", "parent_id": "q"})


def _keep_question_open(service: Service) -> None:
    service.pages["/api/v1/asks"]["asks"].append({"id": "ask_1"})


def _keep_message(service: Service) -> None:
    service.pages[f"{SESSION}/inbox"]["messages"].append({"id": "m", "kind": "queue"})


def _cut_answer(service: Service) -> None:
    service.messages[1]["parts"] = service.messages[1]["parts"][:-1]


def _have_old_tools(service: Service) -> None:
    service.pages["/api/v1/tools"]["tools"][0]["description"] = "Edition 0."


def _lose_result(service: Service) -> None:
    service.drop("tool-end")


def _lose_effect(service: Service) -> None:
    get_ledger(service.folder).path.write_text("")


def _count_wrong(service: Service) -> None:
    made = {"call_id": "call_1", "path": ["run_1"]}
    service.journal += [
        {**made, "number": 15, "type": "tool-input-end", "name": "clerk", "args": {"task": "x"}},
        {**made, "number": 16, "type": "tool-end", "status": "ok", "result": {"data": {"what": "x"}}},
    ]
    service.pages["/api/v1/runs/run_1"]["last_number"] = 16


def _read_twice(service: Service) -> None:
    service.talk.steered.append("steer x")
    for name in ("s1", "s2"):
        service.messages.append({**service.messages[0], "id": name, "parts": [_text("steer x")]})


DAMAGE: dict[str, tuple[Callable[[Service], object], str]] = {
    "an effect twice": (lambda here: here.add_effect(EFFECT), f"{EFFECT} ran 2 times for 1 calls"),
    "an effect that no journal knows": (lambda here: here.add_effect("note x"), "note x ran 1 times for 0"),
    "a result without an effect": (_lose_effect, "is told as ok and ran 0 times"),
    "a lost answer": (_lose_answer, "question q has 0 answers, not 1"),
    "an answer twice": (
        lambda here: here.messages.append({**here.messages[1], "id": "b"}),
        "question q has 2 answers, not 1",
    ),
    "a run without an answer": (_lose_answer, "run run_1 has no answer in a session"),
    "a short answer": (_cut_answer, "the answer to a plan of 2 turns says"),
    "a lost question": (lambda here: here.talk.accepted.append("job x"), "'job x'], shown"),
    "a question below a question": (_ask_below_question, "user q2 follows user q"),
    "a question that follows nothing": (lambda here: here.messages.pop(0), "assistant a follows None q"),
    "a run without an end": (lambda here: here.drop("run-end"), "run_1: 0 ends"),
    "a call without a result": (_lose_result, "has 0 results"),
    "an open run": (lambda here: here.run.update(state="running"), "run_1: it is left running"),
    "a run that nobody cancelled": (lambda here: here.run.update(reason="cancelled"), "ended as cancelled"),
    "an open question": (_keep_question_open, "questions that nobody waits for are open"),
    "a message that waits": (_keep_message, "'kind': 'queue'} waits"),
    "a lost steering message": (lambda here: here.talk.steered.append("steer x"), "steer x was read 0 times"),
    "a steering message twice": (_read_twice, "steer x was read 2 times"),
    "a result of the wrong type": (_count_wrong, "the clerk counted x as {'what': 'x'}"),
    "a schedule without its tick": (lambda here: here.add_schedule(), f"schedule {JOB} has the ticks []"),
    "a tick twice": (lambda here: here.add_schedule("run_1", "run_2"), f"schedule {JOB} has the ticks"),
    "a tick with another run": (lambda here: here.add_schedule("run_2"), "'run_2'"),
    "money that is held for ever": (lambda here: setattr(here, "held", 1), "1 reservations are left"),
    "a request that is not booked": (lambda here: setattr(here, "booked", 1), "1 requests are booked for 2"),
    "a request that is booked twice": (
        lambda here: setattr(here, "booked", 3),
        "3 requests are booked for 2",
    ),
    "old tools": (_have_old_tools, "note is Edition 0., not Edition 1."),
}


async def test_a_service_that_is_well_has_no_damage(tmp_path: Path) -> None:
    assert await find(Service(tmp_path)) == []


@pytest.mark.parametrize("kind", DAMAGE)
async def test_damage_of_each_kind_is_reported(tmp_path: Path, kind: str) -> None:
    service = Service(tmp_path)
    damage, report = DAMAGE[kind]
    damage(service)
    assert [line for line in await find(service) if report in line]


async def test_a_soak_that_does_not_end_reports_what_is_open(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.run.update(state="waiting")
    _keep_question_open(service)
    with pytest.raises(AssertionError, match="timed out: the end of all runs"):
        await wait_for_end(cast(World, service))
    run, ask = await describe_open(cast(World, service))
    assert "'run_1'" in run
    assert "run-end" in run
    assert "'ask_1'" in ask


def test_a_log_is_reported_with_its_errors_first(tmp_path: Path) -> None:
    machine = Machine(["serve"], tmp_path)
    calls = [f"time=1 level=info logger=dovetail.audit message=call{number}" for number in range(30)]
    lines = [
        "time=1 level=warning logger=dovetail.runs message=late",
        "time=1 level=error logger=dovetail.runs message=failed",
        "    Traceback (most recent call last):",
        *calls,
        "time=1 level=info logger=dovetail.access message=GET",
    ]
    machine.text = "\n".join(lines)
    head, *shown = (line.strip() for line in read_log(machine).splitlines())
    assert head == "['serve'], process 0: 1 errors, 1 warnings"
    assert shown[:4] == [lines[1], lines[2].strip(), lines[0], "its end:"]
    assert shown[4:] == calls[-12:]
