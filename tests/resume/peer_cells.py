"""The same cells for other runtimes, each driven by a program that was written from its documentation.

The programs are in `peers/`; they share the scripted model, the ledger and the gates with our cells.
"""

import asyncio
import json
import os
import resource
import shutil
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dovetail.events.call import ToolCall
from dovetail.testing import Gate, ScriptedServer
from faults.brain import find_faults
from patience import PATIENCE
from resume.cell import Cell, Outcome
from resume.model import Model, make_call
from resume.properties import Problems, check_conversation, check_requests, skip_void
from resume.storage import ROOM
from resume.story import ANSWERS, CHILD, JOB
from resume.workspace import ToolGate, Workspace, open_workspace

PROGRAMS = Path(__file__).with_name("peers")
NO_MOMENT = "a library has no stream in which this moment could be seen"
NO_FEATURE = "the package has no such feature"
POINTS = ("before a call", "inside it", "in an approval", "in a child")


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Another runtime: the name of its program, and what it cannot do."""

    name: str
    program: str
    forks: bool = False
    argument: str = "query"  # of the tool that runs another agent
    missing: dict[str, str] = field(default_factory=dict[str, str])
    note: str = ""


PEERS = {
    peer.name: peer
    for peer in (
        Peer(
            name="langgraph + SQLite checkpointer",
            program="with_langgraph.py",
            forks=True,
            note='`durability="sync"`; a process continues with `invoke(None)`, approvals are interrupts, '
            "forks are earlier checkpoints. A node that was cut off runs again, with its tools.",
        ),
        Peer(
            name="pydantic-ai + DBOS",
            program="with_pydantic_ai.py",
            missing={"in a child": "the approval of a nested agent does not reach the caller"},
            note="`DBOSDurability`, tools are steps, approvals are deferred tool calls, and each run has a "
            "workflow id of its own. A step that was cut off runs again; messages are kept by the program, "
            "so there are no forks to compare (property 3). Many answers are acted on once, because they "
            "share a workflow id; the later ones are not rejected (property 5).",
        ),
        Peer(
            name="openai-agents sessions",
            program="with_openai_agents.py",
            argument="input",
            note="`SQLiteSession`, approvals are kept as `RunState`. A run that was cut off is not resumed "
            "as such: the program runs the agent again on what the session holds. Sessions have no forks "
            "(property 3).",
        ),
    )
}


def find_reason(peer: Peer, point: str) -> str | None:
    """Return why a point cannot be tried, if it cannot."""
    if point == "after its result":
        return NO_MOMENT
    return peer.missing.get(point) or (None if point in POINTS else NO_FEATURE)


@dataclass
class PeerWorld:
    """A peer's processes, with the model and the gates around them."""

    program: Path
    folder: Path
    workspace: Workspace
    model: Model
    model_url: str
    python: str
    started: list[asyncio.subprocess.Process] = field(default_factory=list[asyncio.subprocess.Process])

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        """Start the program."""
        environment = {
            **os.environ,
            "LEDGER": str(self.workspace.ledger),
            "GATES": self.workspace.address,
            "MODEL_URL": self.model_url,
            "STATE": str(self.folder),
            "OPENAI_API_KEY": "none",
        }
        environment.pop("PYTHONPATH", None)
        with (self.folder / "peer.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                self.python,
                str(self.program),
                *words,
                env=environment,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
        self.started.append(process)
        return process

    async def run(self, *words: str) -> dict[str, Any]:
        """Run the program to its end; return what it reports last."""
        return (await self.run_all(*words) or [{"state": "failed"}])[-1]

    async def run_all(self, *words: str) -> list[dict[str, Any]]:
        """Run the program to its end; return all that it reports."""
        return await finish_all(await self.start(*words))

    async def close(self) -> None:
        """Kill what is left."""
        for process in self.started:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def finish(process: asyncio.subprocess.Process) -> dict[str, Any]:
    """Wait until a program has ended; return what it reports last."""
    return (await finish_all(process) or [{"state": "failed"}])[-1]


async def finish_all(process: asyncio.subprocess.Process) -> list[dict[str, Any]]:
    """Wait until a program has ended; return all that it reports."""
    async with asyncio.timeout(PATIENCE):
        output, _ = await process.communicate()
    return [json.loads(line) for line in output.decode().splitlines() if line.startswith("{")]


@dataclass
class PeerStory:
    """One cell of a peer."""

    cell: Cell
    peer: Peer
    world: PeerWorld
    accepted: list[bool] = field(
        default_factory=list[bool]
    )  # the accepted answers about the call at the point
    problems: Problems = field(default_factory=Problems)
    _model_gate: Gate | None = None
    _tool_gate: ToolGate | None = None

    @property
    def has_question(self) -> bool:
        """Whether the job waits for a person at the point, with no process."""
        return self.cell.point in ("in an approval", "in a child") or self.cell.fault == "k answers at once"

    def prepare(self) -> None:
        """Set the plan and the gates."""
        model, point = self.world.model, self.cell.point
        call = make_call("spend" if self.has_question else "note", "1")
        if point == "in a child":
            model.plans[CHILD] = [[make_call("note", "c0")], [make_call("spend", "1")]]
            call = ToolCall(call_id="call-child", name="helper", arguments={self.peer.argument: CHILD})
        elif not self.has_question and point == "before a call":
            self._model_gate = model.hold(JOB, 1, after_calls=True)
        elif not self.has_question:
            self._tool_gate = self.world.workspace.hold("1")
        model.plans[JOB] = [[make_call("note", "0")], [call], [make_call("spend", "z")]]

    async def play(self) -> None:
        """Reach the point, let the fault happen, and finish the job."""
        process = await self.world.start("begin")
        await self._reach(process)
        if self.has_question:
            await self._strike_question()
        else:
            await self._strike(process)
        await self._end()

    async def _reach(self, process: asyncio.subprocess.Process) -> None:
        async with asyncio.timeout(PATIENCE):
            if self._model_gate is not None:
                await self._model_gate.reached.async_wait()
            elif self._tool_gate is not None:
                await self._tool_gate.reached.wait()
            else:
                state = await finish(process)
                if state["state"] != "asked":
                    raise AssertionError(f"no question: {state}")

    async def _strike(self, process: asyncio.subprocess.Process) -> None:
        """Let the fault happen to a process that works; then resume."""
        fault = self.cell.fault
        if fault == "database away":
            _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (ROOM, hard))
            self._open()
            if (await finish(process)).get("state") == "asked":
                return
        else:
            process.send_signal(signal.SIGTERM if fault in ("SIGTERM", "newer version") else signal.SIGKILL)
            await process.wait()
            self._open()
        if fault == "newer version":
            self._upgrade()
        count = 2 if fault == "double resume" else 1
        resumed = await asyncio.gather(*(self.world.run("resume") for _ in range(count)))
        if all(state.get("state") == "failed" for state in resumed):
            raise AssertionError("the run was not resumed")

    def _open(self) -> None:
        if self._model_gate is not None:
            self._model_gate.open()
        if self._tool_gate is not None:
            self._tool_gate.opened.set()

    async def _strike_question(self) -> None:
        """Let the fault happen while a question waits; then answer it."""
        fault = self.cell.fault
        if fault == "newer version":
            self._upgrade()
        if fault == "k answers at once":
            words = ["yes" if place % 2 == 0 else "no" for place in range(ANSWERS)]
            await self._answer_at_once(words)
        elif fault == "double resume":
            await asyncio.gather(*(self.world.run("resume") for _ in range(2)))
            await self._answer_at_once(["yes"])
        elif fault == "database away":
            gate = self.world.workspace.hold("process answer")
            process = await self.world.start("answer", "yes")
            await asyncio.wait_for(gate.reached.wait(), PATIENCE)
            _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (ROOM, hard))
            gate.opened.set()
            if (await finish(process)).get("accepted"):
                self.accepted.append(True)
            else:
                await self.world.run("resume")
                await self._answer_at_once(["yes"])
        else:
            await self._answer_at_once(["yes"])

    async def _answer_at_once(self, words: list[str]) -> None:
        """Let several processes answer in the same moment."""
        gates: list[ToolGate] = []
        processes: list[asyncio.subprocess.Process] = []
        for word in words:
            gate = self.world.workspace.hold("process answer")
            processes.append(await self.world.start("answer", word))
            await asyncio.wait_for(gate.reached.wait(), PATIENCE)
            gates.append(gate)
        for gate in gates:
            gate.opened.set()
        results = await asyncio.gather(*(finish(process) for process in processes))
        for word, result in zip(words, results, strict=True):
            if result.get("accepted"):
                self.accepted.append(word == "yes")

    def _upgrade(self) -> None:
        """Use a copy of the programs with another edition of the tools."""
        newer = self.world.folder / "newer"
        shutil.copytree(PROGRAMS, newer, ignore=shutil.ignore_patterns("__pycache__"))
        effects = newer / "effects.py"
        effects.write_text(effects.read_text().replace("EDITION = 1", "EDITION = 2"))
        self.world.program = newer / self.world.program.name

    async def _end(self) -> None:
        """Answer the last question, read what is stored, and check the properties."""
        about_point = self.accepted
        if self.has_question and len(about_point) != 1:
            self.problems.append((5, f"{len(about_point)} answers to one question were accepted"))
        results = await self.world.run_all("finish")
        accepted = [result["accepted"] for result in results if "accepted" in result]
        if accepted != [True, False]:
            self.problems.append((5, f"of two answers to the last question, these were accepted: {accepted}"))
        self._check_effects(about_point)
        asked = skip_void(self.world.model.asked)
        self.problems += [(1, problem) for problem in check_requests(asked)]
        self.problems += [(6, problem) for problem in check_conversation(self.world.model, asked)]
        self.problems += [(4, problem) for problem in self.world.model.complaints]
        stored = [result["messages"] for result in results if "messages" in result]
        faults = find_faults(_join(stored[0])) if stored else ["the history cannot be read"]
        self.problems += [(4, problem) for problem in faults]
        if self.peer.forks:
            self._check_fork()

    def _check_effects(self, answers: list[bool]) -> None:
        effects = Counter(effect.key for effect in self.world.workspace.read_effects())
        wanted = {"0": 1, "z": 1, "1": int(any(answers) if self.has_question else True)}
        if self.cell.point == "in a child":
            wanted["c0"] = 1
        for key, times in wanted.items():
            if effects[key] != times and not (key == "1" and len(answers) > 1 and effects[key] <= 1):
                self.problems.append((2, f"{key} had its effect {effects[key]} times, not {times}"))

    def _check_fork(self) -> None:
        forks = [one for one in self.world.model.asked if one.job == "fork"]
        if len(forks) != 2 or forks[0].messages != forks[1].messages:
            self.problems.append((3, "a fork before the job reads another history"))


def _join(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join calls that are messages of their own to the answer that they belong to."""
    joined: list[dict[str, Any]] = []
    for message in messages:
        if joined and message["role"] == joined[-1]["role"] == "assistant":
            calls = [*(joined[-1].get("tool_calls") or ()), *(message.get("tool_calls") or ())]
            joined[-1] = {**joined[-1], "tool_calls": calls}
        else:
            joined.append(message)
    return joined


async def run_peer_cell(cell: Cell, folder: Path, python: str) -> Outcome:
    """Run a cell of a peer in an empty folder."""
    began, peer, model = time.monotonic(), PEERS[cell.engine], Model()
    problems: Problems
    async with open_workspace(folder) as workspace, ScriptedServer() as server:
        server.script = model
        world = PeerWorld(PROGRAMS / peer.program, folder, workspace, model, server.url, python)
        story = PeerStory(cell, peer, world)
        try:
            story.prepare()
            await story.play()
            problems = story.problems
        except (AssertionError, TimeoutError) as error:
            problems = [*story.problems, (0, f"{type(error).__name__}: {error}")]
        finally:
            workspace.open_all()
            await world.close()
    log = (folder / "peer.log").read_text()[-3000:] if problems else ""
    return Outcome(cell=cell, problems=problems, seconds=time.monotonic() - began, log=log)
