"""The faults of the matrix: what happens to a system that is held at a point."""

import asyncio
import signal
from abc import ABC, abstractmethod

from patience import PATIENCE
from resume.machine import Machine
from resume.points import Point
from resume.story import ANSWERS, JOB, Story


class Fault(ABC):
    """Something that happens at a point."""

    name: str
    kills = False
    """Whether the process that works on the job ends."""
    asks = False
    """Whether the point needs a question that can be answered."""
    web = 1
    """How many servers there are, where a database can be shared."""

    @abstractmethod
    async def strike(self, story: Story, point: Point) -> None:
        """Let it happen."""


class Kill(Fault):
    """The process is killed, and another one is started."""

    name = "SIGKILL"
    kills = True

    async def strike(self, story: Story, point: Point) -> None:
        """Kill and start."""
        await story.world.end_working(signal.SIGKILL)
        story.world.storage.release()
        await story.world.start_working()


class Terminate(Fault):
    """The process is asked to stop, and another one is started."""

    name = "SIGTERM"
    kills = True

    async def strike(self, story: Story, point: Point) -> None:
        """Stop and start."""
        await _stop(story)
        await story.world.start_working()


class ManyAnswers(Fault):
    """Clients of several processes answer the same question at once."""

    name = "k answers at once"
    asks = True
    web = 2

    async def strike(self, story: Story, point: Point) -> None:
        """Answer, half of them with yes."""
        approvals = [place % 2 == 0 for place in range(ANSWERS)]
        await point.answer_many(story, approvals)


class DoubleResume(Fault):
    """The process is killed, and again as soon as another one has resumed; then two resume at once."""

    name = "double resume"
    kills = True

    async def strike(self, story: Story, point: Point) -> None:
        """Kill twice."""
        world = story.world
        asks = await _list_asks(story) if point.next_turn is None else []
        await world.end_working(signal.SIGKILL)
        world.storage.release()
        gate = None if point.next_turn is None else world.model.hold(JOB, point.next_turn)
        await world.start_working()
        if gate is not None:
            await asyncio.wait_for(gate.reached.async_wait(), PATIENCE)
        elif await _list_asks(story) != asks:
            story.problems.append((6, "a resumed run asks something else"))
        await world.end_working(signal.SIGKILL)
        if gate is not None:
            gate.open()
        await world.start_working(2 if world.engine.can_share else 1)


class DatabaseAway(Fault):
    """The database is away while the system continues, and comes back."""

    name = "database away"

    async def strike(self, story: Story, point: Point) -> None:
        """Take it away, open the gates, bring it back."""
        world = story.world
        world.storage.go_away(world.machines)
        point.release(story)
        await world.wait_until(lambda: self._has_status(story, 503), "a server that is not ready")
        if point.next_turn is None:
            given = await story.answer(story.asked[point.key], True)
            if any(answer.status == 200 for answer in given):
                story.problems.append((5, "an answer was accepted without a database"))
        world.storage.come_back(world.machines)
        await world.wait_until(lambda: self._has_status(story, 200), "a server that is ready")

    async def _has_status(self, story: Story, status: int) -> bool:
        found = [await story.world.client.get(f"{web.address}/readyz") for web in story.world.web]
        return all(response.status_code == status for response in found)


class Replace(Fault):
    """A newer version with changed tools is started while the old process drains."""

    name = "newer version"
    kills = True

    async def strike(self, story: Story, point: Point) -> None:
        """Start the newer version, where both may run at once, and stop the older."""
        world = story.world
        story.edition = 2
        world.workspace.write(edition=story.edition)
        old = list(world.working)
        if world.engine.can_share:
            await world.start_working(newer=True)
            await _stop(story, old)
        else:
            await _stop(story, old)
            await world.start_working(newer=True)


FAULTS: dict[str, type[Fault]] = {
    fault.name: fault for fault in (Kill, Terminate, ManyAnswers, DoubleResume, DatabaseAway, Replace)
}


async def _stop(story: Story, machines: list[Machine] | None = None) -> None:
    """Ask the processes to stop; what they could not store in that moment can be stored while they do."""
    world = story.world
    ending = machines or list(world.working)
    world.forget(ending)
    for machine in ending:
        machine.send(signal.SIGTERM)
    world.storage.release()
    await asyncio.gather(*(machine.wait_until_ended() for machine in ending))


async def _list_asks(story: Story) -> list[str]:
    asks = (await story.world.get("/api/v1/asks"))["asks"]
    return sorted(ask["ask_id"] for ask in asks)
