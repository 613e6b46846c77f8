"""The points of the matrix: how a job gets there, and how it continues.

Each point holds the system at the exact moment with a gate: of the model, of a tool, or of the database.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from dovetail.testing import Gate
from resume.model import make_call, read_id
from resume.story import CHILD, JOB, STEER, Story
from resume.workspace import ToolGate

DAY = 24 * 3600


class Point(ABC):
    """A moment in a job; one object for each cell."""

    name: str
    next_turn: int | None = None
    """The turn that a recovered run asks the model for by itself, without an answer to a question."""

    @abstractmethod
    def prepare(self, story: Story) -> None:
        """Set the plan and the gates."""

    async def start(self, story: Story) -> None:
        """Send the job."""
        await story.begin()
        await story.ask_for_job()

    @abstractmethod
    async def reach(self, story: Story) -> None:
        """Wait until the system is at the point."""

    async def answer_many(self, story: Story, approvals: list[bool]) -> None:
        """Let many clients answer the question of the point at once."""
        await story.answer(await story.find_ask(self.key), *approvals)

    def release(self, story: Story) -> None:
        """Open the gates."""
        return None

    async def proceed(self, story: Story) -> None:
        """Let the job continue after the fault."""
        self.release(story)

    async def find_problems(self, story: Story) -> list[tuple[int, str]]:
        """Return what only this point can check, each with the number of its property."""
        return []

    key = "1"
    """The key of the call at the point."""


class BeforeCall(Point):
    """The model has written a call, and its answer has not ended."""

    name = "before a call"
    next_turn = 1
    _gate: Gate | None = None

    def prepare(self, story: Story) -> None:
        """Hold the model's answer; with many answers, the approval before the calls."""
        story.expected |= {"1": {"ok"}}
        if story.with_answers:
            story.expected |= {"2": {"ok"}}
            story.plan(make_call("spend", "1"), make_call("note", "2"))
        else:
            story.plan(make_call("note", "1"))
            self._gate = story.world.model.hold(JOB, 1, after_calls=True)

    async def reach(self, story: Story) -> None:
        """Wait until the call was seen."""
        if self._gate is None:
            await story.find_ask("1")
            return
        await self._gate.reached.async_wait()
        if not story.world.engine.has_workers:
            await story.reader.wait_for(
                lambda entry: read_id(entry.get("call_id", "")) == "call-1", "the call"
            )

    def release(self, story: Story) -> None:
        """Let the model end its answer."""
        if self._gate is not None:
            self._gate.open()


class InsideCall(Point):
    """A tool has had its effect and has not returned; another call waits for it."""

    name = "inside it"
    next_turn = 2
    _gate: ToolGate

    def prepare(self, story: Story) -> None:
        """Hold the tool."""
        calls = [make_call("spend" if story.with_answers else "note", "1"), make_call("note", "2")]
        story.plan(*calls)
        story.expected |= {"1": {"interrupted"} if story.is_killed else {"ok"}, "2": {"ok"}}
        self._gate = story.world.workspace.hold("1")

    async def reach(self, story: Story) -> None:
        """Wait for the effect."""
        if story.with_answers:
            await story.answer_surely("1", True)
        await self._gate.reached.wait()

    async def answer_many(self, story: Story, approvals: list[bool]) -> None:
        """Answer the question that has its answer."""
        await story.answer(story.answers[0].ask_id, *approvals)

    def release(self, story: Story) -> None:
        """Let the tool return."""
        self._gate.opened.set()


class AfterResult(InsideCall):
    """A tool has returned, and its result is not stored."""

    name = "after its result"

    def prepare(self, story: Story) -> None:
        """Hold the tool until the database is held."""
        story.plan(make_call("spend" if story.with_answers else "note", "1"))
        story.expected |= {"1": {"interrupted", "ok"} if story.is_killed else {"ok"}}
        self._gate = story.world.workspace.hold("1")

    async def reach(self, story: Story) -> None:
        """Hold the result on its way to the database."""
        await super().reach(story)
        tool = "spend" if story.with_answers else "note"
        await story.world.storage.hold_result(
            f"{tool} 1 is done",
            self._gate.opened.set,
            lambda: story.reader.wait_for(_is_result("call-1"), "the result"),
        )

    async def answer_many(self, story: Story, approvals: list[bool]) -> None:
        """Answer the question that has its answer; SQLite could not store another before the result."""
        answering = asyncio.create_task(InsideCall.answer_many(self, story, approvals))
        self.release(story)
        await answering

    def release(self, story: Story) -> None:
        """Let the result be stored."""
        story.world.storage.release()


class InApproval(Point):
    """A call waits for a person."""

    name = "in an approval"

    def prepare(self, story: Story) -> None:
        """Plan a call that requires approval."""
        story.plan(make_call("spend", "1"))
        story.expected |= {"1": {"ok"}}

    async def reach(self, story: Story) -> None:
        """Wait for the question."""
        await story.find_ask(self.key)

    async def proceed(self, story: Story) -> None:
        """Answer the question, unless it has its answer."""
        if not any(answer.status == 200 for answer in story.answers):
            await story.answer_surely(self.key, True)


class InChild(InApproval):
    """A sub-agent that has finished a turn waits for a person."""

    name = "in a child"
    key = "c1"

    def prepare(self, story: Story) -> None:
        """Plan a sub-agent with two calls."""
        child = [[make_call("note", "c0")], [make_call("spend", "c1")]]
        story.plan(make_call("helper", CHILD), child=child)
        story.expected |= {"c0": {"ok"}, "c1": {"ok"}, CHILD: {"ok"}}


class InBackground(InApproval):
    """A task in the background that has finished a turn waits for a person, and so does the job itself."""

    name = "in a background child"
    key = "c1"

    def prepare(self, story: Story) -> None:
        """Plan a task with two calls."""
        child = [[make_call("note", "c0")], [make_call("spend", "c1")]]
        story.plan(make_call("helper", CHILD, background=True), child=child)
        story.expected |= {"c0": {"ok"}, "c1": {"ok"}, CHILD: {"ok"}}
        story.news.append("helper")

    async def reach(self, story: Story) -> None:
        """Wait for both questions."""
        await story.find_ask("z")
        await super().reach(story)

    async def proceed(self, story: Story) -> None:
        """Answer the question, and wait until the task has ended."""
        await super().proceed(story)
        children = f"/api/v1/sessions/{story.session_id}/children"

        async def find_ended() -> Any:
            tasks = (await story.world.get(children))["children"]
            assert len(tasks) == 1, f"one call has started {len(tasks)} tasks"
            return tasks[0] if tasks[0]["state"] == "ended" else None

        child = await story.world.wait_until(find_ended, "the end of the task")
        story.other_runs.append(child["run_id"])


class AfterTaskStart(InBackground):
    """A task in the background is stored and asks its model; the call that started it may have no result."""

    name = "after a task is stored"
    next_turn = 2
    _gates: Sequence[Gate] = ()

    def prepare(self, story: Story) -> None:
        """Hold the first word of the task, and of its caller's next turn, unless its question is needed."""
        super().prepare(story)
        if not story.with_answers:
            self._gates = [story.world.model.hold(job, turn) for job, turn in ((CHILD, 0), (JOB, 2))]
            story.expected["c0"] = {"ok", "interrupted"}  # a second kill may strike inside of it

    async def reach(self, story: Story) -> None:
        """Wait for the first request of the task."""
        if not self._gates:
            await super().reach(story)
        else:
            await self._gates[0].reached.async_wait()

    def release(self, story: Story) -> None:
        """Let the task and its caller speak."""
        for gate in self._gates:
            gate.open()

    async def proceed(self, story: Story) -> None:
        """Let the task continue to its question, and answer it."""
        self.release(story)
        await super().proceed(story)


class InSteering(InApproval):
    """A message for the run was accepted while a call waits for a person, and the model has not read it."""

    name = "in a steering message"

    def prepare(self, story: Story) -> None:
        """Plan a call that requires approval, and a message."""
        super().prepare(story)
        story.news.append(STEER)

    async def reach(self, story: Story) -> None:
        """Wait for the question, and send the message."""
        await super().reach(story)
        body = {"message": STEER, "mode": "steer"}
        response = await story.world.request("POST", f"/api/v1/runs/{story.run_id}/messages", json=body)
        assert response.status_code == 202, response.text


class InTick(InApproval):
    """The run of a schedule's tick waits for a person; all processes look at the schedules."""

    name = "in a schedule tick"
    _schedule = ""

    async def start(self, story: Story) -> None:
        """Add a schedule that is due once a day, and let the last midnight be its next tick."""
        body = {"agent": "master", "schedule": "0 0 * * * UTC", "message": JOB}
        response = await story.world.request("POST", "/api/v1/schedules", json=body)
        assert response.status_code == 201, response.text
        self._schedule = f"/api/v1/schedules/{response.json()['id']}"
        midnight = time.time() // DAY * DAY
        await story.world.storage.execute(f"UPDATE schedules SET next_at = {midnight}")

        async def find_run() -> Any:
            return (await story.world.get(self._schedule))["last"]

        last = await story.world.wait_until(find_run, "the run of a tick")
        story.session_id = last["session_id"]
        story.follow(last["run_id"])

    async def find_problems(self, story: Story) -> list[tuple[int, str]]:
        """Return a problem if the tick has started more or less than one run."""
        ticks = (await story.world.get(self._schedule))["ticks"]
        runs = [tick["run_id"] for tick in ticks if tick["run_id"]]
        return [] if runs == [story.run_id] else [(2, f"the tick of a schedule has started {runs}")]


POINTS: dict[str, type[Point]] = {
    point.name: point
    for point in (
        BeforeCall,
        InsideCall,
        AfterResult,
        InApproval,
        InChild,
        InBackground,
        AfterTaskStart,
        InSteering,
        InTick,
    )
}


def _is_result(call_id: str) -> Callable[[dict[str, Any]], bool]:
    return lambda entry: entry["type"] == "tool-end" and read_id(entry["call_id"]) == call_id
