"""The faults of the matrix: what happens to a system that is held at a point."""

import asyncio
import signal
import time
from abc import ABC, abstractmethod

from patience import PATIENCE
from resume.engines import ENGINES
from resume.machine import Machine
from resume.points import DAY, Point
from resume.story import ANSWERS, JOB, Story
from resume.world import TAKEOVER


class Fault(ABC):
    """Something that happens at a point."""

    name: str
    kills = False
    """Whether the process that works on the job ends."""
    asks = False
    """Whether the point needs a question that can be answered."""
    is_for_peers = True
    """Whether other runtimes are tried with it, too."""
    needs_network = False
    """Whether it is about the way to a database elsewhere."""
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


class Freeze(Fault):
    """The process stands still and does not die; another one takes over within the time of the setting."""

    name = "FREEZE"
    is_for_peers = False
    kills = True

    async def strike(self, story: Story, point: Point) -> None:
        """Stop, wait for the take-over, and kill at last."""
        old = await _stand_still(story)
        await asyncio.gather(*(machine.end(signal.SIGKILL) for machine in old))


class Wake(Fault):
    """The process stands still, another one takes over, and the first one wakes up and continues to serve."""

    name = "SIGSTOP, SIGCONT"
    is_for_peers = False
    kills = True

    async def strike(self, story: Story, point: Point) -> None:
        """Stop, wait for the take-over, and wake."""
        old = await _stand_still(story)
        for machine in old:
            machine.send(signal.SIGCONT)
        story.world.awake += old
        for machine in old:
            if machine.address:
                await story.world.wait_until(
                    lambda machine=machine: _is_ready(story, machine), "a woken server that serves"
                )


class CutOff(Fault):
    """One of two processes loses the database and nothing else; the other one takes over."""

    name = "cut off"
    is_for_peers = False
    kills = True
    needs_network = True

    async def strike(self, story: Story, point: Point) -> None:
        """Cut the connections of the process silently, wait for the take-over, and connect it again."""
        world = story.world
        old, owners = list(world.working), await _find_owners(story)
        world.forget(old)
        for machine in old:
            if machine.way is not None:
                machine.way.hush()
        world.storage.release()
        await world.start_working()
        await _wait_for_take_over(story, owners)
        for machine in old:
            if machine.way is not None:
                machine.way.let_speak()
        world.awake += old


class ClockJumps(Fault):
    """The clock of the process jumps forth by a day, then back by two; that of another one is right."""

    name = "clock jumps"
    is_for_peers = False

    async def strike(self, story: Story, point: Point) -> None:
        """Jump while another process watches."""
        world = story.world
        old = list(world.working)
        if world.engine.can_share:
            await world.start_working()
        for offset in (DAY, -DAY):
            for machine in old:
                machine.clock.write_text(str(offset))
            await asyncio.sleep(world.takeover / 2)  # as long as others need to look


FAULTS: dict[str, type[Fault]] = {
    fault.name: fault
    for fault in (
        Kill,
        Terminate,
        ManyAnswers,
        DoubleResume,
        DatabaseAway,
        Replace,
        Freeze,
        Wake,
        CutOff,
        ClockJumps,
    )
}


def can_strike(engine: str, fault: str) -> bool:
    """Whether a fault is tried with an engine of ours, or with a peer."""
    if engine not in ENGINES:
        return FAULTS[fault].is_for_peers
    return ENGINES[engine].can_share or not FAULTS[fault].needs_network


async def _stand_still(story: Story) -> list[Machine]:
    """Freeze the processes that work, start another one, and wait until it has taken over."""
    world = story.world
    old, owners = list(world.working), await _find_owners(story)
    world.forget(old)
    for machine in old:
        machine.send(signal.SIGSTOP)
    world.storage.release()
    await world.start_working()
    await _wait_for_take_over(story, owners)
    return old


async def _find_owners(story: Story) -> set[str]:
    """Return the processes that work on runs; a run that only waits belongs to none."""
    query = "SELECT process_id FROM runs WHERE state = 'running' AND phase = 'working'"
    return set(await story.world.storage.fetch(query))


async def _wait_for_take_over(story: Story, owners: set[str]) -> None:
    """Wait until no run belongs to the processes that worked on them.

    Only the default of the setting is timed: with a shorter one, which tests set, a busy machine is too slow.
    """
    world = story.world
    began = time.monotonic()

    async def is_taken() -> bool:
        return not owners & await _find_owners(story)

    await world.wait_until(is_taken, "a take-over")
    seconds = time.monotonic() - began
    if world.takeover == TAKEOVER and seconds > TAKEOVER:
        story.problems.append((6, f"the runs were taken over after {seconds:.1f} s"))


async def _is_ready(story: Story, machine: Machine) -> bool:
    return (await story.world.client.get(f"{machine.address}/readyz")).status_code == 200


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
